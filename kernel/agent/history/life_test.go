package history_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"org-agent/kernel/action"
	"org-agent/kernel/agent/history"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/protocol"
)

var longLife = flag.Int("turns", usualLife, "turns of the conversation in TestLongLife")

// factModel is a model whose notes are the facts in the text that it is sent, and nothing else.
type factModel struct{}

var planted = regexp.MustCompile(`FACT-[0-9]+`)

func (factModel) Stream(_ context.Context, request llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		_, part, _ := strings.Cut(request.Messages[0].Text, "The part of the conversation;")
		notes := "* Facts\n- it went on\n"
		for _, fact := range planted.FindAllString(part, -1) {
			notes += "- " + fact + "\n"
		}
		if yield(llm.Delta{Text: notes, Model: "facts"}, nil) {
			yield(llm.Delta{Finish: llm.FinishStop, Usage: &llm.Usage{Input: history.Total(plists, request.Messages), Output: 20}}, nil)
		}
	}
}

// life is a long conversation as the agent has it: each turn begins with an excerpt, its steps are fitted
// into the room, and summaries are made in the background when they are due.
type life struct {
	*conversation
	random     *rand.Rand
	room       int
	compaction *history.Compactor
	facts      []string
	before     string // what the last request was
	breaks     int    // requests that do not begin with the one before
	cuts       int    // that had to leave out turns without notes
	due        int
	failed     []string // summaries
}

// newLife returns a conversation whose summaries are made until the test ends.
func newLife(t *testing.T, window int) *life {
	k := &life{conversation: newConversation(t), random: rand.New(rand.NewPCG(64, 1)), room: llm.Window{Tokens: window}.Room() * 3 / 4}
	k.past.Outside = func(a action.Action) string {
		if a.Target() == "shell" {
			return "what a command wrote"
		}
		return ""
	}
	k.compaction = &history.Compactor{Past: k.past, Provider: factModel{}, Model: func() string { return "facts" }, SummaryModel: func() string { return "" }, Hide: func(s string) string { return s }, Logger: slog.New(slog.DiscardHandler),
		Window: func(context.Context, string, bool) llm.Window { return llm.Window{Tokens: window} }}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		k.compaction.Run(ctx)
	}()
	t.Cleanup(func() { stop(); <-ended })
	return k
}

// TestOneSummaryAtOnce: while a summary is being made, further requests for one get the same job, and the
// model is asked once. The summary does not have the messages that came meanwhile.
func TestOneSummaryAtOnce(t *testing.T) {
	k := newLife(t, 16_000)
	asked, goOn := make(chan llm.Request, 10), make(chan struct{})
	k.compaction.Provider = blockingModel{asked, goOn}
	for i := range 8 {
		k.ask(fmt.Sprint("question ", i))
		k.answer("yes")
	}
	first := k.compaction.StartJob("main", journal.CompactionByPerson)
	<-asked
	for range 100 {
		k.compaction.Start("main")
		if j := k.compaction.StartJob("main", journal.CompactionByPerson); j != first {
			t.Fatal("a second summary was begun")
		}
	}
	k.ask("said meanwhile")
	k.answer("yes")
	close(goOn)
	<-first.Done()
	if first.Err() != nil || len(asked) != 0 || !strings.Contains(first.Result().Notes, "it went on") {
		t.Errorf("%+v, %v, %d more requests", first.Result(), first.Err(), len(asked))
	}
	k.ask("and now?")
	if all := text(requestOf(k.show(k.room), "and now?")); !strings.Contains(all, "it went on") || !strings.Contains(all, "said meanwhile") {
		t.Errorf("shown is %s", all)
	}
}

// TestNotedOutside: notes of text by other authors are marked as theirs, also after further notes. Notes of
// old journals, which have no mark, are taken for theirs too.
func TestNotedOutside(t *testing.T) {
	k := newLife(t, 16_000)
	noted := func(questions int, steps ...journal.ToolStep) bool {
		t.Helper()
		for i := range questions {
			k.ask(fmt.Sprint("question ", i))
			k.answer("yes", steps...)
		}
		_, err := k.compaction.Now(t.Context(), "main")
		k.must(err)
		k.ask("and now?")
		defer k.answer("yes")
		return k.show(k.room).NotesOutside
	}
	if noted(8, journal.ToolStep{Action: "(:target :tool)", Verdict: "performed", Text: "mine"}) {
		t.Error("notes of what is the person's own are taken for somebody else's")
	}
	if !noted(8, journal.ToolStep{Action: "(:target :shell)", Verdict: "performed", Text: "theirs"}) {
		t.Error("notes of what a command wrote are taken for the person's own")
	}
	if !noted(8) {
		t.Error("what was noted later made the notes the person's own")
	}
	if old, err := history.ReadSummary([]byte(`{"facts":["one"]}`)); err != nil || old.Own {
		t.Errorf("%+v, %v", old, err)
	}
}

// blockingModel is a factModel that signals each request and waits before it answers.
type blockingModel struct {
	asked chan<- llm.Request
	goOn  <-chan struct{}
}

func (s blockingModel) Stream(ctx context.Context, request llm.Request) iter.Seq2[llm.Delta, error] {
	s.asked <- request
	<-s.goOn
	return factModel{}.Stream(ctx, request)
}

// await waits for the running summary.
func (k *life) await() {
	j := k.compaction.RunningJob("main")
	if j == nil {
		return
	}
	<-j.Done()
	if j.Err() != nil && !errors.Is(j.Err(), history.ErrNothing) {
		k.failed = append(k.failed, j.Err().Error())
	}
}

// turn plays one turn and checks each of its requests.
func (k *life) turn(i int) {
	k.t.Helper()
	question := fmt.Sprintf("question %d", i)
	if i%500 == 0 {
		k.facts = append(k.facts, fmt.Sprintf("FACT-%d", i))
		question += " is whether " + k.facts[len(k.facts)-1] + " holds"
	}
	k.ask(question)
	shown, err := k.past.Show(k.t.Context(), "main", k.last, history.Room{Tokens: k.room - history.Tokens(plists, llm.Message{Text: question})})
	k.must(err)
	cut := shown.Changed && shown.Compaction.By == journal.CompactionByCut
	if err := k.past.RecordExcerpt(k.t.Context(), "main", &shown); protocol.ErrorCode(err) != protocol.CodeConflict { // a summary has come meanwhile, and counts
		k.must(err)
	}
	if cut {
		k.cuts++
	}
	if shown.SummaryDue {
		k.due++
		k.compaction.Start("main")
		if k.random.IntN(2) == 0 { // else it comes in the midst of the next turns
			k.await()
		}
	}
	request := requestOf(shown, question)
	k.check(i, question, request)
	if now := text(request); !strings.HasPrefix(now, k.before) {
		k.breaks++
	}
	k.before = text(request)
	var steps []journal.ToolStep
	if i%7 == 0 {
		most := 6000
		if i%100 == 0 {
			most = 40_000 // more than there is room for
		}
		var fitting history.Fitting
		for range 1 + k.random.IntN(2) {
			steps = append(steps, journal.ToolStep{Seq: int64(i*10 + len(steps)), Action: `(:type :request :target :tool :action :call :tool "read")`, Verdict: "performed",
				Text: strings.Repeat("a line of it\n", k.random.IntN(most)/13)})
			exchange, err := fitting.Fit(k.t.Context(), k.past, &shown, steps, k.room-history.Tokens(plists, llm.Message{Text: question}))
			k.must(err)
			k.check(i, question, requestOf(shown, question, exchange...))
		}
		k.before = "" // what is kept of the steps has other numbers
	}
	k.answer(strings.Repeat("an answer of some length, ", 4+k.random.IntN(12)), steps...)
}

// check fails unless a server accepts the request, and it fits the room and has the question.
func (k *life) check(i int, question string, request []llm.Message) {
	k.t.Helper()
	if fault := valid(request); fault != "" {
		k.t.Fatalf("turn %d: %s", i, fault)
	}
	if total := history.Total(plists, request); total > k.room+20 { // what stands around the question
		k.t.Fatalf("turn %d is shown %d tokens in a room of %d", i, total, k.room)
	}
	asked := func(m llm.Message) bool { return m.Role == llm.RoleUser && strings.HasSuffix(m.Text, question) }
	if !slices.ContainsFunc(request, asked) {
		k.t.Fatalf("turn %d is not asked in\n%s", i, text(request))
	}
}

// TestLongLife: in a session of very many turns each request fits, and has the newest question and whole
// pairs of calls and results. Excerpts are shortened rarely, and then by enough for many turns. No fact is
// lost. Neither the work of a turn nor the memory between turns grows.
func TestLongLife(t *testing.T) {
	turns := *longLife
	k := newLife(t, 16_000)
	span := turns / 4
	type cost struct{ allocations, held uint64 }
	measure := func() cost {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return cost{m.Mallocs, m.HeapAlloc}
	}
	marks := []cost{measure()}
	for i := range turns {
		k.turn(i)
		if (i+1)%span == 0 {
			marks = append(marks, measure())
		}
	}
	k.await()
	k.ask("what was there?")
	all := text(requestOf(k.show(k.room), "what was there?"))
	for _, fact := range k.facts {
		if !strings.Contains(all, fact) {
			t.Errorf("%s is lost in\n%.3000s", fact, all)
		}
	}
	compactions := map[journal.CompactionBy]int{}
	query := journal.Query{Kinds: []journal.Kind{journal.KindCompaction}}
	for rows := k.compactions(query); len(rows) > 0; rows = k.compactions(query) {
		for _, row := range rows {
			d, err := k.j.Transcripts.Compaction(t.Context(), row.Seq)
			k.must(err)
			compactions[d.By]++
			query.After = row.Seq
		}
	}
	early, late := marks[2].allocations-marks[1].allocations, marks[4].allocations-marks[3].allocations
	t.Logf("%d turns, %d other beginnings, compactions %v, %d due, %d cuts; %d allocations a turn at the beginning and %d at the end; %d and %d kB held",
		turns, k.breaks, compactions, k.due, k.cuts, early/uint64(span), late/uint64(span), marks[1].held>>10, marks[4].held>>10)
	if made := compactions[journal.CompactionBySummary]; made < turns/200 || made > turns/15 {
		t.Errorf("%d summaries in %d turns", made, turns)
	}
	if k.breaks > turns/10 {
		t.Errorf("what is shown changed its beginning %d times in %d turns", k.breaks, turns)
	}
	if late > 3*early {
		t.Errorf("%d turns took %d allocations at the beginning and %d at the end", span, early, late)
	}
	// The cache of recent turns is bounded. Here a turn takes about 1.5 kB of it.
	if held := marks[4].held; held > marks[1].held+8<<20+min(uint64(turns)*2<<10, 2*history.CacheBytes) {
		t.Errorf("%d bytes were held after a quarter, and %d in the end", marks[1].held, held)
	}
	if len(k.failed) > 0 {
		t.Errorf("no summary: %v", k.failed)
	}
	if all, err := k.j.Transcripts.History(t.Context(), "main", "", 5); err != nil || len(all) != 5 {
		t.Errorf("the journal has %d, %v", len(all), err)
	}
}

func (k *life) compactions(query journal.Query) []journal.Entry {
	k.t.Helper()
	rows, err := k.j.Records.Entries(k.t.Context(), query)
	k.must(err)
	return rows
}
