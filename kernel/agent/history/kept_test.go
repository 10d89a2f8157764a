package history_test

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"org-agent/kernel/agent/history"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// randomChange changes the conversation in one of the ways that change later excerpts: it answers again,
// prefers an answer, replaces a question, writes to the running turn, forks, or summarises.
func (k *conversation) randomChange(random *rand.Rand) {
	k.t.Helper()
	ctx := k.t.Context()
	some := func() int { return 1 + random.IntN(max(k.turns, 1)) }
	switch random.IntN(7) {
	case 0: // answered once more, with another number of steps
		n := some()
		turn := fmt.Sprintf("turn-q%d", n)
		if _, err := k.j.Turns.Retry(ctx, turn, "", nil); err != nil {
			return // it has not ended
		}
		k.say(n, fmt.Sprintf("b%d-%d", n, random.IntN(1<<30)), turn, random)
	case 1:
		_, _ = k.j.Turns.Prefer(ctx, fmt.Sprintf("a%d", some()), random.IntN(2) == 0) // it may have none
	case 2:
		k.turns++
		event := fmt.Sprintf("q%d", k.turns)
		turn, _, err := k.j.Turns.Accept(ctx, protocol.Event{ID: event, Session: "main", Sensor: protocol.SensorChatMessage,
			Text: "instead", Level: 1, Instead: fmt.Sprintf("q%d", 1+random.IntN(max(k.turns-1, 1)))}, "turn-"+event)
		if err != nil {
			k.turns--
			return // the question it was to stand for is not there
		}
		k.last = turn.ID
		k.say(k.turns, fmt.Sprintf("a%d", k.turns), turn.ID, random)
	case 3: // said while the turn runs
		k.ask("a question that is steered")
		id := fmt.Sprintf("s%d", random.IntN(1<<30))
		k.must(k.j.Turns.PutSteer(ctx, journal.Steer{ID: id, Turn: k.last, Text: "by the way " + id}))
		if random.IntN(3) > 0 {
			k.must(k.j.Turns.UseSteers(ctx, id))
		}
		k.say(k.turns, fmt.Sprintf("a%d", k.turns), k.last, random)
		if random.IntN(2) == 0 { // it becomes a message of its own after all
			_, _, err := k.j.Turns.Accept(ctx, protocol.Event{ID: id, Session: "main", Sensor: protocol.SensorChatMessage, Text: "by the way " + id, Level: 1}, "turn-"+id)
			k.must(err)
			_, err = k.j.Turns.SetTurn(ctx, journal.TurnChange{ID: "turn-" + id, State: protocol.TurnCancelled})
			k.must(err)
			k.must(k.j.Turns.UseSteers(ctx, id))
		}
	case 4:
		compactions, err := k.j.Transcripts.Compactions(ctx, "main")
		k.must(err)
		if len(compactions) > 0 && random.IntN(2) == 0 { // a person takes it back
			_, err := k.j.Transcripts.PutCompaction(ctx, "main", journal.Compaction{By: journal.CompactionByUndo}, compactions[0].Seq)
			k.must(err)
		}
	default:
		k.ask("a plain question")
		k.say(k.turns, fmt.Sprintf("a%d", k.turns), k.last, random)
	}
}

// say answers turn n after some steps. The answer has the id.
func (k *conversation) say(n int, id, turn string, random *rand.Rand) {
	k.t.Helper()
	ctx := k.t.Context()
	if random.IntN(3) == 0 {
		k.append(journal.KindShownQuestion, turn, id, fmt.Sprintf(`{"text":"asked %d with what it was reminded of: %s"}`, n, strings.Repeat("kept ", random.IntN(200))))
	}
	for range random.IntN(3) {
		k.append(journal.KindToolStep, turn, id, fmt.Sprintf(`{"action":"(:type :request)","verdict":"performed","text":%q}`, strings.Repeat("result ", random.IntN(900))))
	}
	k.must(k.j.Acts.PutAct(ctx, journal.Act{ID: id, Session: "main", Turn: turn, Event: fmt.Sprintf("q%d", n), Kind: journal.ActAnswer, Raw: "answer " + id, Final: true}))
	_, err := k.j.Turns.SetTurn(ctx, journal.TurnChange{ID: turn, State: protocol.TurnAnswered})
	k.must(err)
}

func (k *conversation) append(kind journal.Kind, turn, id, data string) {
	k.t.Helper()
	_, err := k.j.Records.Append(k.t.Context(), journal.Entry{Kind: kind, Session: "main", Turn: turn, ID: id, Data: []byte(data)})
	k.must(err)
}

// TestKept: after any changes, an excerpt with the cache is the same as one without it.
func TestKept(t *testing.T) {
	for seed := range uint64(3) {
		random := rand.New(rand.NewPCG(seed, 7))
		k := newConversation(t)
		kept := k.past
		for step := range 40 {
			k.past = kept
			k.randomChange(random)
			k.ask("now?")
			room := []int{500, 2000, 6000, 100_000}[random.IntN(4)]
			turn := k.last
			if random.IntN(8) == 0 {
				turn = fmt.Sprintf("turn-q%d", 1+random.IntN(k.turns)) // an earlier one is asked again
			}
			got, err := kept.Show(t.Context(), "main", turn, history.Room{Tokens: room})
			k.must(err)
			k.forget()
			want, err := k.past.Show(t.Context(), "main", turn, history.Room{Tokens: room})
			k.must(err)
			if !reflect.DeepEqual(history.Shown(got), history.Shown(want)) {
				t.Fatalf("seed %d, step %d, a room of %d: shown with what is kept\n%s%+v\nand read again\n%s%+v",
					seed, step, room, text(got.Messages), got, text(want.Messages), want)
			}
			if turn == k.last {
				k.must(kept.RecordExcerpt(t.Context(), "main", &got))
			}
		}
	}
}

// TestUndoOfVeryMany: summaries are taken back one after the other, however many there are, and
// the first one only in the end.
func TestUndoOfVeryMany(t *testing.T) {
	k := newConversation(t)
	c := &history.Compactor{Past: k.past, Logger: slog.New(slog.DiscardHandler)}
	const made = 70 // more than are looked at for one that applies
	var latest journal.Compaction
	for i := range made {
		by := journal.CompactionBySummary
		if i%3 == 2 {
			by = journal.CompactionByPruning
		}
		compaction, err := k.j.Transcripts.PutCompaction(t.Context(), "main", journal.Compaction{Base: latest.Seq, By: by, Turns: i + 1, Through: int64(i + 1)}, latest.Seq)
		k.must(err)
		latest = compaction
	}
	before := made + 1
	undone := 0
	for ; before > 0; undone++ {
		told, err := c.Undo(t.Context(), "main")
		if err != nil {
			t.Fatalf("after %d: %v", undone, err)
		}
		if told.Turns >= before || before-told.Turns > 3 {
			t.Fatalf("taken back %d times, it goes up to turn %d after %d", undone+1, told.Turns, before)
		}
		before = told.Turns
	}
	if undone < made*2/3-1 || undone > made*2/3+2 {
		t.Errorf("taken back %d times", undone)
	}
	if _, err := c.Undo(t.Context(), "main"); protocol.ErrorCode(err) != protocol.CodeNotFound {
		t.Errorf("when there is none any more: %v", err)
	}
}
