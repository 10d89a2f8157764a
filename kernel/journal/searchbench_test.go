package journal

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What BenchmarkSearch looks through: a million messages take minutes to be written, and
// can be kept for the next time.
var (
	searchMessages = flag.Int("messages", 20_000, "messages that BenchmarkSearch looks through")
	searchKept     = flag.String("messages-in", "", "the `journal` that they are kept in; written if it is not there")
	searchText     = flag.String("messages-text", "", "a `directory` for what another program looks through: all messages in \"messages\", a line each, and each query in a file of its name")
)

// searched are the queries of BenchmarkSearch. Words are written as [talker.word] has them.
var searched = []struct{ name, text, session string }{
	{"common", word0, ""},
	{"commonest five", strings.Join([]string{word0, word1, word2, word3, word4}, " "), ""},
	{"rare", wordOf(40_000), ""},
	{"common and rare", word0 + " " + wordOf(3000), ""},
	{"middling", wordOf(150) + " " + wordOf(320), ""},
	{"middling three", wordOf(150) + " " + wordOf(320) + " " + wordOf(77), ""},
	{"phrase", `"` + word0 + " " + word1 + `"`, ""},
	{"long phrase", `"` + strings.Join([]string{wordOf(5), wordOf(9), word2}, " ") + `"`, ""},
	{"longer phrase", `"` + strings.Join([]string{word0, word3, word1, word2, word4}, " ") + `"`, ""},
	{"phrase never said", `"` + strings.Join([]string{word4, word3, word4, word3, word4, word3, word4, word3}, " ") + `"`, ""},
	{"phrase with a rare word", `"` + word0 + " " + wordOf(3000) + `"`, ""},
	{"letter", word0[:1] + "*", ""},
	{"beginning of 2", word0 + "*", ""},
	{"beginning of 4", wordOf(25) + "*", ""},
	{"beginning of 5", wordOf(25) + wordOf(3)[:1] + "*", ""},
	{"beginnings", word0 + "* " + word1 + "* " + word2 + "*", ""},
	{"beginnings of 4", wordOf(25) + "* " + wordOf(47) + "*", ""},
	{"phrase with a beginning", `"` + word0 + " " + word1[:1] + `*"`, ""},
	{"in a session", word0 + " " + word1, "session 7"},
	{"phrase in a session", `"` + word0 + " " + word1 + `"`, "session 7"},
	{"rare in a session", wordOf(3000), "session 7"},
	{"Chinese", "\u4e00\u4e01", ""},
	{"rare Chinese", "\u4ff0\u4e05\u4fff", ""},
	{"not there", "nowhere", ""},
	{"disjoint", wordOf(20_000) + " " + wordOf(30_000), ""},
	{"ten disjoint", strings.Join([]string{wordOf(200), wordOf(201), wordOf(202), wordOf(203), wordOf(204), wordOf(205), wordOf(206), wordOf(207), wordOf(208), wordOf(209)}, " "), ""},
}

// BenchmarkSearch tells how long the kinds of queries take until there is an answer: the
// 95th of a hundred, and the processor's time of each. 100-hits-ms is how long it takes to go
// on until there are a hundred or all was looked at.
func BenchmarkSearch(b *testing.B) {
	j := openSearched(b)
	for _, query := range searched {
		b.Run(query.name, func(b *testing.B) {
			var took []time.Duration
			found, more := 0, false
			before := processorTime(b)
			for len(took) < 100 {
				began := time.Now()
				all, err := j.Search.Find(b.Context(), Search{Query: query.text, Session: query.session})
				Must(b, err)
				took = append(took, time.Since(began))
				found, more = 0, all.Before > 0
				if len(took) >= 10 && time.Since(began) > time.Second {
					break
				}
			}
			spent := processorTime(b) - before
			whole := time.Now()
			for on := (Search{Query: query.text, Session: query.session}); more; more = on.Before > 0 {
				all, err := j.Search.Find(b.Context(), on)
				Must(b, err)
				on.Before = all.Before
				if found += len(all.Hits); found > 100 {
					break
				}
			}
			took100 := time.Since(whole)
			for b.Loop() {
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*95/100-1].Microseconds())/1000, "p95-ms")
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(spent.Microseconds())/float64(len(took))/1000, "cpu-ms")
			b.ReportMetric(float64(took100.Microseconds())/1000, "100-hits-ms")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// processorTime is what this process has used so far.
func processorTime(tb testing.TB) time.Duration {
	var usage syscall.Rusage
	Must(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// openSearched opens the journal with the messages, and writes it if need be.
func openSearched(b *testing.B) *Journal {
	b.Helper()
	path := *searchKept
	if path == "" {
		path = filepath.Join(b.TempDir(), "journal.db")
	}
	writeSearched(b)
	_, err := os.Stat(path)
	written := err == nil
	j, err := Open(b.Context(), path)
	Must(b, err)
	b.Cleanup(func() { Must(b, j.Close()) })
	if written {
		return j
	}
	start, said := time.Now(), newTalker()
	for done := 0; done < *searchMessages; done += 10_000 {
		Must(b, j.database.transact(b.Context(), "fill", func(ctx context.Context, tx *writer) error {
			for i := done; i < done+10_000; i += 2 {
				if err := fillSearched(ctx, tx, i, said); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	b.Logf("%d messages were written in %v", *searchMessages, time.Since(start))
	return j
}

// writeSearched writes messages and queries as text, if that is wanted.
func writeSearched(b *testing.B) {
	b.Helper()
	if *searchText == "" {
		return
	}
	var text strings.Builder
	said := newTalker()
	for range *searchMessages {
		text.WriteString(said.message())
		text.WriteByte('\n')
	}
	Must(b, os.WriteFile(filepath.Join(*searchText, "messages"), []byte(text.String()), 0o600))
	for _, query := range searched {
		Must(b, os.WriteFile(filepath.Join(*searchText, query.name), []byte(strings.Trim(query.text, `"`)), 0o600))
	}
}

// fillSearched writes a question and its answer.
func fillSearched(ctx context.Context, tx *writer, i int, said *talker) error {
	session := fmt.Sprint("session ", i/2%1000)
	turn, _, err := accept(ctx, tx, Message(fmt.Sprint("q", i), session, said.message()), fmt.Sprint("t", i))
	if err != nil {
		return err
	}
	var first int64
	if err := tx.QueryRowContext(ctx, "SELECT first FROM session WHERE name = ?", session).Scan(&first); err != nil {
		return err
	}
	words := said.message()
	return putAct(ctx, tx, Act{ID: fmt.Sprint("a", i), Session: session, Turn: turn.ID, Event: turn.Event, Kind: ActAnswer, Raw: words, Text: words, Plain: words}, sessionWord(first))
}

// talker says messages of sixty words, some in Chinese; a word of rank n is n times rarer
// than the first, as in what people write.
type talker struct{ words, characters *rand.Zipf }

func newTalker() *talker {
	from := rand.New(rand.NewPCG(1, 2))
	return &talker{rand.NewZipf(from, 1.1, 2, 150_000), rand.NewZipf(from, 1.2, 20, 8000)}
}

func (t *talker) message() string {
	var b strings.Builder
	if t.words.Uint64()%40 == 39 {
		for range 80 {
			b.WriteRune(0x4e00 + rune(t.characters.Uint64()))
		}
		return b.String()
	}
	for range 60 {
		b.WriteString(wordOf(int(t.words.Uint64())))
		b.WriteByte(' ')
	}
	return b.String()
}

// wordOf is the word of that rank: of one syllable, or more the rarer it is, so that many
// words begin alike.
func wordOf(rank int) string {
	const syllables = "bacedifogulamenopurasetivowuyazebocu"
	const count = len(syllables) / 2
	word := ""
	for rank++; rank > 0; rank /= count {
		rank--
		at := rank % count * 2
		word = syllables[at:at+2] + word
	}
	return word
}

var word0, word1, word2, word3, word4 = wordOf(0), wordOf(1), wordOf(2), wordOf(3), wordOf(4)
