//go:build !race

// These tests have one goroutine, and with the race detector they take several times as long.

package history_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"org-agent/kernel/agent/history"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/llm/dialect"
)

// pointer is what stands for a text that is left out, with the id by which a model gets it.
var pointer = regexp.MustCompile(`earlier_result (?:has all of it|has them|has the call) as "([^"]+)"`)

// leftOutTurns and leftOutSteps say how many turns and steps are not shown.
var (
	leftOutTurns = regexp.MustCompile(`^The first (\d+) turns? of this conversation are not shown; search_messages finds what was said in them\.`)
	leftOutSteps = regexp.MustCompile(`\[The first (\d+) steps of this turn are left out here; earlier_result has their results as "now-1" to "now-(\d+)"`)
)

// longTurn is a turn that goes on for many steps, behind other turns. Each text in it is one of its own.
type longTurn struct {
	*conversation
	dialect  llm.Dialect
	r        *rapid.T
	room     int
	fitting  history.Fitting
	shown    history.Excerpt
	steps    []journal.ToolStep
	question string
	sizes    map[string]int // how much was shown of each result, at the last request
	texts    int
}

// text returns a text that no other is, with up to so many characters.
func (l *longTurn) text(most int) string {
	l.texts++
	share := rapid.SampledFrom([]int{0, 1, 2, 4}).Draw(l.r, "share")
	return fmt.Sprintf("<%d>%s</%d>", l.texts, strings.Repeat("some words. ", most*share/48), l.texts)
}

// step returns a step: a call, several at once, one that writes much, or what the person says meanwhile.
func (l *longTurn) step() journal.ToolStep {
	sizes := []int{100, 1500, 9000, 20_000}
	size := func() int { return rapid.SampledFrom(sizes).Draw(l.r, "most") }
	read := func(path string) string {
		return fmt.Sprintf(`(:type :request :target :tool :payload (:action :call :tool "read" :args (:path %q)))`, path)
	}
	switch rapid.IntRange(0, 9).Draw(l.r, "kind") {
	case 0:
		return journal.ToolStep{Steer: l.text(200)}
	case 1:
		return journal.ToolStep{Action: fmt.Sprintf(`(:type :request :target :tool :payload (:action :batch :calls ((:tool "read" :args (:path %q)) (:tool "grep"))))`, l.text(20)), Verdict: "performed",
			Text: "two", Calls: []journal.StepCall{{Tool: "read", Text: l.text(size())}, {Tool: "grep", Text: l.text(size()), Failed: true}}}
	case 2:
		return journal.ToolStep{Action: fmt.Sprintf(`(:type :request :target :tool :payload (:action :call :tool "write" :args (:text %q)))`, l.text(size())), Verdict: "performed", Text: l.text(40)}
	case 3:
		return journal.ToolStep{Action: read(l.text(20)), Verdict: "refused", Text: l.text(100), Note: "Do something else."}
	}
	return journal.ToolStep{Action: read(l.text(20)), Verdict: "performed", Text: l.text(size())}
}

// begin begins the turn.
func (l *longTurn) begin() {
	l.t.Helper()
	l.question = "now: " + l.text(400)
	l.ask(l.question)
	l.fitting, l.steps, l.sizes = history.Fitting{}, nil, map[string]int{}
	var err error
	l.shown, err = l.past.Show(l.t.Context(), "main", l.last, history.Room{Tokens: l.room - history.Tokens(l.dialect, llm.Message{Text: l.question})})
	l.must(err)
	l.must(l.past.RecordExcerpt(l.t.Context(), "main", &l.shown))
}

// request makes the next request of the turn and checks it.
func (l *longTurn) request() {
	l.t.Helper()
	question := llm.Message{Role: llm.RoleUser, Text: l.question}
	exchange, err := l.fitting.Fit(l.t.Context(), l.past, &l.shown, l.steps, l.room-history.Tokens(l.dialect, question))
	l.must(err)
	l.must(l.past.RecordExcerpt(l.t.Context(), "main", &l.shown))
	messages := append(append(append([]llm.Message{}, l.shown.Messages...), question), exchange...)
	messages[0].Text = l.shown.Preface + messages[0].Text
	if total := history.Total(l.dialect, messages); total > l.room+10 {
		l.r.Fatalf("%d tokens in a room of %d, of %d steps", total, l.room, len(l.steps))
	}
	l.pairs(messages)
	l.said(messages)
	l.shrinks(messages)
	l.resolves(messages)
}

// pairs checks that each call has its results directly behind it, and what is shown its order.
func (l *longTurn) pairs(messages []llm.Message) {
	l.t.Helper()
	rendered := l.dialect.Render(llm.Request{Messages: messages}).Messages
	for i, m := range rendered {
		if len(m.Calls) == 0 {
			continue
		}
		if i+1 == len(rendered) || len(rendered[i+1].Results()) != len(m.Calls) {
			l.r.Fatalf("the %d calls in message %d have no results behind them", len(m.Calls), i)
		}
		for j, result := range rendered[i+1].Results() {
			if result.Call.Function.ID != m.Calls[j].Function.ID {
				l.r.Fatalf("result %d of message %d is of another call", j, i)
			}
		}
	}
	last := 0
	var whole strings.Builder
	for _, m := range rendered {
		whole.WriteString(l.dialect.Text(m) + "\n")
	}
	for _, number := range regexp.MustCompile(`<(\d+)>`).FindAllStringSubmatch(whole.String(), -1) {
		if n := must(strconv.Atoi(number[1])); n < last {
			l.r.Fatalf("<%d> stands behind <%d>", n, last)
		} else {
			last = n
		}
	}
	if !strings.Contains(whole.String(), l.question) {
		l.r.Fatalf("the question is not whole")
	}
}

// said checks that what is left out is said, and that nothing that the person said in this turn is.
func (l *longTurn) said(messages []llm.Message) {
	l.t.Helper()
	gone := 0
	if found := leftOutTurns.FindStringSubmatch(messages[0].Text); found != nil {
		gone = must(strconv.Atoi(found[1]))
	}
	if gone+l.shown.Turns != l.turns-1 {
		l.r.Fatalf("%d turns are shown and %d are said to be left out, of %d", l.shown.Turns, gone, l.turns-1)
	}
	text, steps, steers := "", 0, 0
	for _, m := range messages[len(l.shown.Messages)+1:] {
		if len(m.Calls) > 0 {
			steps++
		}
		text += m.Text
	}
	if found := leftOutSteps.FindStringSubmatch(text); found != nil {
		steps += must(strconv.Atoi(found[1]))
		for _, s := range l.steps[:must(strconv.Atoi(found[1]))] {
			if s.Steer != "" {
				steps-- // which is shown
			}
		}
	}
	for _, s := range l.steps {
		if s.Steer != "" {
			steers++
			if !strings.Contains(text, s.Steer) {
				l.r.Fatalf("what the person said is not shown: %s", s.Steer)
			}
		}
	}
	if steps+steers != len(l.steps) {
		l.r.Fatalf("%d of %d steps are shown or said to be left out", steps+steers, len(l.steps))
	}
}

// shrinks checks that nothing is shown longer than before. Before the turn leaves out turns, it shows no old
// result whole.
func (l *longTurn) shrinks(messages []llm.Message) {
	l.t.Helper()
	now := map[string]int{}
	note := func(id, text string) {
		now[id] = len(text)
		if before, ok := l.sizes[id]; l.sizes["requests"] > 0 && (ok && len(text) > before || !ok && !strings.HasPrefix(id, "now-")) {
			l.r.Fatalf("of %s %d bytes are shown, and %d were before", id, len(text), before)
		}
	}
	for _, m := range messages {
		for _, result := range m.Results() {
			note(result.Call.ID, result.Text)
			for _, part := range result.Parts {
				note(part.ID, part.Text)
			}
		}
	}
	now["requests"] = l.sizes["requests"] + 1
	l.sizes = now
}

// resolves checks that the ids of what is left out get all of it, in the same turn.
func (l *longTurn) resolves(messages []llm.Message) {
	l.t.Helper()
	results := history.Results{Session: "main", Running: func() []journal.ToolStep { return l.steps }, Earlier: l.j.Transcripts}
	for _, m := range messages {
		for _, found := range pointer.FindAllStringSubmatch(plists.Text(m), -1) {
			whole, err := results.Whole(l.t.Context(), found[1])
			if err != nil || len(whole) < 300 {
				l.r.Fatalf("%q gets %d bytes, %v", found[1], len(whole), err)
			}
		}
	}
}

// TestFitsInEveryRoom: in any conversation, at each step of a turn and in any window, a request fits. Each call
// has its result behind it, the question is whole, everything stands in its order, what is left out is said with
// the way to get it, and nothing that was left out comes back.
func TestFitsInEveryRoom(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		l := &longTurn{conversation: newConversation(t), r: r, room: rapid.SampledFrom([]int{2500, 4000, 8000, 20_000}).Draw(r, "room")}
		l.dialect = rapid.SampledFrom([]llm.Dialect{dialect.NewPlist(), dialect.NewNative(true)}).Draw(r, "dialect")
		l.past = history.New(journalOf(l.j), l.dialect, questionOf)
		for range rapid.SampledFrom([]int{0, 1, 3, 6}).Draw(r, "turns") {
			l.ask("earlier: " + l.text(600))
			var steps []journal.ToolStep
			for range rapid.IntRange(0, 4).Draw(r, "steps") {
				steps = append(steps, l.step())
			}
			l.answer(l.text(2000), steps...)
		}
		for range 2 {
			l.begin()
			for range rapid.SampledFrom([]int{0, 2, 6, 14, 30}).Draw(r, "steps") {
				l.request()
				l.steps = append(l.steps, l.step())
			}
			l.request()
			l.answer(l.text(500), l.steps...)
		}
	})
}

// TestLongTurnsKeepTheirBeginning: of what the requests of long turns have, nearly all is the beginning of the
// next request too, which servers keep, although results are shortened again and again.
func TestLongTurnsKeepTheirBeginning(t *testing.T) {
	for _, d := range dialect.All() {
		t.Run(d.Name(), func(t *testing.T) {
			k := newConversation(t)
			k.past = history.New(journalOf(k.j), d, questionOf)
			const room, turns, stepsOfTurn, size = 16_000, 4, 40, 1500
			bytes, kept, before, other := 0, 0, "", 0
			for turn := range turns {
				question := llm.Message{Role: llm.RoleUser, Text: fmt.Sprintf("question %d", turn)}
				k.ask(question.Text)
				shown, err := k.past.Show(t.Context(), "main", k.last, history.Room{Tokens: room - history.Tokens(d, question)})
				k.must(err)
				k.must(k.past.RecordExcerpt(t.Context(), "main", &shown))
				var fitting history.Fitting
				var steps []journal.ToolStep
				for step := range stepsOfTurn {
					exchange, err := fitting.Fit(t.Context(), k.past, &shown, steps, room-history.Tokens(d, question))
					k.must(err)
					k.must(k.past.RecordExcerpt(t.Context(), "main", &shown))
					messages := append(append(append([]llm.Message{}, shown.Messages...), question), exchange...)
					messages[0].Text = shown.Preface + messages[0].Text
					now := ""
					for _, m := range d.Render(llm.Request{Messages: messages}).Messages {
						now += fmt.Sprintf("%s: %s\n", m.Role, d.Text(m))
					}
					shared := 0
					for shared < len(before) && shared < len(now) && before[shared] == now[shared] {
						shared++
					}
					bytes, kept = bytes+len(before), kept+shared
					if shared < len(before) {
						other++
					}
					before = now
					steps = append(steps, journal.ToolStep{Verdict: "performed", Text: strings.Repeat(fmt.Sprintf("line %d of %d. ", step, turn), size/16),
						Action: fmt.Sprintf(`(:type :request :target :tool :payload (:action :call :tool "read" :args (:path "/f%d")))`, step)})
				}
				k.answer("It is done.", steps...)
			}
			share := 100 * float64(kept) / float64(bytes)
			t.Logf("of %d kB in %d requests %.1f %% stood in the next; %d of them had another beginning", bytes>>10, turns*stepsOfTurn, share, other)
			if share < 95 {
				t.Errorf("of what the requests have only %.1f %% stands in the next", share)
			}
		})
	}
}
