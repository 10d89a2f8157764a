package journal

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"org-agent/kernel/protocol"
)

// large is a journal of a million rows in a thousand sessions (of ten thousand
// with -short): a turn has its event, three changes, a model's request and
// reply, a proposal, a verdict, an act and a receipt.
var large = sync.OnceValues(func() (string, error) {
	directory, err := filepath.Abs(benchDirectory)
	if err != nil {
		return "", err
	}
	path := filepath.Join(directory, "journal.db")
	j, err := Open(context.Background(), path)
	if err != nil {
		return "", err
	}
	turns := 100_000
	if testing.Short() {
		turns = 1_000
	}
	ctx, vocabulary := context.Background(), rand.New(rand.NewPCG(1, 2))
	err = j.database.transact(ctx, "fill", func(ctx context.Context, tx *writer) error {
		for i := range turns {
			if err := fillTurn(ctx, tx, i, messageWords(vocabulary)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return path, j.Close()
})

// benchDirectory is where the large journal is made; TestMain sets and removes it.
var benchDirectory string

// messageWords is a message of sixty words; that of rank n is n times rarer than the
// first, as in what people write.
func messageWords(from *rand.Rand) string {
	zipf := rand.NewZipf(from, 1.1, 2, 50_000)
	words := make([]string, 60)
	for i := range words {
		words[i] = fmt.Sprint("w", zipf.Uint64())
	}
	return strings.Join(words, " ")
}

func fillTurn(ctx context.Context, tx *writer, i int, words string) error {
	session := fmt.Sprint("session ", i%1000)
	event := Message(fmt.Sprint("q", i), session, words)
	turn, _, err := accept(ctx, tx, event, fmt.Sprint("t", i))
	if err != nil {
		return err
	}
	for _, kind := range []Kind{KindTurn, KindModelRequest, KindTurn, KindModelReply, KindProposal, KindVerdict, KindReceipt, KindTurn} {
		if _, err := record(ctx, tx, Entry{Kind: kind, Session: session, Turn: turn.ID}, words); err != nil {
			return err
		}
	}
	act := Act{ID: fmt.Sprint("a", i), Session: session, Turn: turn.ID, Kind: ActAnswer, Raw: words, Text: words, Plain: words}
	row, err := record(ctx, tx, Entry{Kind: KindAct, Session: session, Turn: turn.ID, ID: act.ID}, act)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO act (seq, id, session, turn, kind, saved) VALUES (?, ?, ?, ?, 'answer', 1)", row.Seq, act.ID, session, turn.ID)
	if err != nil {
		return err
	}
	if err := indexText(ctx, tx, row.Seq, words, sessionWord(int64(i%1000)+1)); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE turn SET state = 'answered', started = 1, finished = 1, saved = 1 WHERE seq = ?", turn.Seq)
	return err
}

func openLarge(b *testing.B) *Journal {
	b.Helper()
	path, err := large()
	Must(b, err)
	return Reopen(b, path)
}

// benchNumber makes ids that differ from run to run of a benchmark.
var benchNumber = func() func() int {
	var lock sync.Mutex
	n := 0
	return func() int {
		lock.Lock()
		defer lock.Unlock()
		n++
		return n
	}
}()

func BenchmarkOpen(b *testing.B) {
	path, err := large()
	Must(b, err)
	for b.Loop() {
		j, err := Open(b.Context(), path)
		Must(b, err)
		Must(b, j.Close())
	}
}

func BenchmarkAccept(b *testing.B) {
	j := openLarge(b)
	for b.Loop() {
		n := benchNumber()
		_, _, err := j.Turns.Accept(b.Context(), Message(fmt.Sprint("new", n), "main", "a question"), fmt.Sprint("tnew", n))
		Must(b, err)
	}
}

// BenchmarkAccept200 is two hundred messages sent at once; an operation is all
// of them.
func BenchmarkAccept200(b *testing.B) {
	j := openLarge(b)
	for b.Loop() {
		var group sync.WaitGroup
		for range 200 {
			group.Go(func() {
				n := benchNumber()
				if _, _, err := j.Turns.Accept(b.Context(), Message(fmt.Sprint("new", n), "main", "a question"), fmt.Sprint("tnew", n)); err != nil {
					b.Error(err)
				}
			})
		}
		group.Wait()
	}
}

func BenchmarkAppend(b *testing.B) {
	j := openLarge(b)
	entry := Entry{Kind: KindVerdict, Session: "session 7", Turn: "t7", Data: []byte(`{"verdict":"allowed"}`)}
	for b.Loop() {
		_, err := j.Records.Append(b.Context(), entry)
		Must(b, err)
	}
}

func BenchmarkSetTurn(b *testing.B) {
	j := openLarge(b)
	n := benchNumber()
	turn, _, err := j.Turns.Accept(b.Context(), Message(fmt.Sprint("new", n), "main", "a question"), fmt.Sprint("tnew", n))
	Must(b, err)
	for b.Loop() {
		_, err := j.Turns.SetTurn(b.Context(), TurnChange{ID: turn.ID, State: protocol.TurnRunning})
		Must(b, err)
	}
}

func BenchmarkHistory50(b *testing.B) {
	j := openLarge(b)
	for b.Loop() {
		history, err := j.Transcripts.History(b.Context(), "session 7", "", 50)
		if err != nil || len(history) == 0 {
			b.Fatal(len(history), err)
		}
	}
}

func BenchmarkLatestEntries(b *testing.B) {
	j := openLarge(b)
	for b.Loop() {
		rows, err := j.Records.Entries(b.Context(), Query{Kinds: []Kind{KindLog, KindVerdict, KindApproval}, Limit: 50, Latest: true})
		if err != nil || len(rows) != 50 {
			b.Fatal(len(rows), err)
		}
	}
}

func BenchmarkUnfinished(b *testing.B) {
	j := openLarge(b)
	for b.Loop() {
		_, err := j.Turns.Unfinished(b.Context())
		Must(b, err)
	}
}

func BenchmarkSessions(b *testing.B) {
	j := openLarge(b)
	for b.Loop() {
		_, err := j.Sessions.List(b.Context())
		Must(b, err)
	}
}
