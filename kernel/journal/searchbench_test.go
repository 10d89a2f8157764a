package journal

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// searchMessages is how many messages BenchmarkSearch looks through; a million take
// minutes to be written.
var searchMessages = flag.Int("messages", 20_000, "messages that BenchmarkSearch looks through")

// BenchmarkSearch tells the 95th of a hundred durations of each kind of query.
func BenchmarkSearch(b *testing.B) {
	j, err := Open(b.Context(), filepath.Join(b.TempDir(), "journal.db"))
	must(b, err)
	defer func() { must(b, j.Close()) }()
	start := time.Now()
	vocabulary := rand.New(rand.NewPCG(1, 2))
	for done := 0; done < *searchMessages; done += 10_000 {
		must(b, j.transact(b.Context(), "fill", func(ctx context.Context, tx *writer) error {
			for i := done; i < done+10_000; i += 2 {
				if err := fillSearched(ctx, tx, i, vocabulary); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	b.Logf("%d messages were written in %v", *searchMessages, time.Since(start))
	for _, query := range []struct{ name, text, session string }{
		{"common", "w0", ""}, {"commonest five", "w0 w1 w2 w3 w4", ""}, {"rare", "w40000", ""}, {"common and rare", "w0 w3000", ""},
		{"phrase", `"w0 w1"`, ""}, {"long phrase", `"w5 w9 w2"`, ""}, {"beginning", "w1*", ""}, {"letter", "w*", ""}, {"beginnings", "w1* w2* w3*", ""},
		{"in a session", "w0 w1", "session 7"}, {"phrase in a session", `"w0 w1"`, "session 7"}, {"not there", "nowhere", ""}, {"disjoint", "w20000 w30000", ""},
	} {
		b.Run(query.name, func(b *testing.B) {
			var took []time.Duration
			for len(took) < 100 {
				began := time.Now()
				_, _, err := j.Search(b.Context(), query.text, query.session, 20)
				must(b, err)
				took = append(took, time.Since(began))
			}
			for b.Loop() {
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[94].Microseconds())/1000, "p95-ms")
			b.ReportMetric(float64(took[50].Microseconds())/1000, "p50-ms")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// fillSearched writes a question and its answer.
func fillSearched(ctx context.Context, tx *writer, i int, vocabulary *rand.Rand) error {
	session := fmt.Sprint("session ", i/2%1000)
	turn, _, err := accept(ctx, tx, message(fmt.Sprint("q", i), session, messageWords(vocabulary)), fmt.Sprint("t", i))
	if err != nil {
		return err
	}
	var first int64
	if err := tx.QueryRowContext(ctx, "SELECT first FROM session WHERE name = ?", session).Scan(&first); err != nil {
		return err
	}
	words := messageWords(vocabulary)
	return putAct(ctx, tx, Act{ID: fmt.Sprint("a", i), Session: session, Turn: turn.ID, Event: turn.Event, Kind: ActAnswer, Raw: words, Text: words, Plain: words}, placeWord(first))
}
