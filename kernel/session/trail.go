package session

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"org-agent/kernel/org"
	"org-agent/kernel/protocol"
)

// Limits of what an answer shows of its trail. The journal has all of it.
const (
	thoughtsLimit = 16 << 10 // bytes of thoughts
	callsLimit    = 16 << 10 // bytes of calls and results
	resultLimit   = 2 << 10  // bytes of one result
)

// trail is the way to an answer and its cost, which stand in the answer beside
// its text.
type trail struct {
	mu       sync.Mutex
	thoughts strings.Builder // as many as are shown
	thought  int             // code points of all of them
	calls    strings.Builder
	left     int // calls that are not shown
	steers   []string
	stopped  string                // why the answer is what was found until then, a sentence or two; "" of a whole one
	progress protocol.TurnProgress // zero before a model was asked
	counted  bool                  // somebody counted tokens
	input    int
	output   int
	cost     *float64
}

// Call is one thing that a model had done, or that was not done, on the way to an
// answer.
type Call struct {
	Line    string // the call, on one line
	Verdict string // performed, refused, denied, failed
	Result  string
	Took    time.Duration
}

// Thought adds to what the model thinks. Clients are told how much that is; the
// answer has it in a folded drawer.
func (t *Turn) Thought(text string) {
	if text == "" {
		return
	}
	t.trail.mu.Lock()
	t.trail.thoughts.WriteString(portion(text, thoughtsLimit-t.trail.thoughts.Len()))
	t.trail.thought += utf8.RuneCountInString(text)
	chars := t.trail.thought
	t.trail.mu.Unlock()
	t.session.viewers.broadcast(protocol.MethodTurnThought, protocol.TurnThought{
		Session: t.session.name(), Turn: t.Record.ID, Event: t.Record.Event, Chars: chars, Text: text,
	})
}

// Called adds a call to the folded drawer of the answer.
func (t *Turn) Called(call Call) {
	t.trail.mu.Lock()
	defer t.trail.mu.Unlock()
	calls := &t.trail.calls
	if calls.Len() >= callsLimit {
		t.trail.left++
		return
	}
	if calls.Len() > 0 {
		calls.WriteString("\n\n")
	}
	fmt.Fprintf(calls, "%s\n%s in %.2f s", shortened(call.Line, resultLimit), call.Verdict, call.Took.Seconds())
	if result := strings.TrimSpace(call.Result); result != "" {
		calls.WriteString(":\n" + shortened(result, resultLimit))
	}
}

// Spent sets the tokens and the cost of the turn so far, for the drawer of the answer.
func (t *Turn) Spent(input, output int, cost *float64) {
	t.trail.mu.Lock()
	defer t.trail.mu.Unlock()
	t.trail.counted, t.trail.input, t.trail.output, t.trail.cost = true, input, output, cost
}

// Stopped makes the answer say why the turn was stopped early.
func (t *Turn) Stopped(why string) {
	t.trail.mu.Lock()
	defer t.trail.mu.Unlock()
	t.trail.stopped = why
}

// Progress tells clients how far the turn has come.
func (t *Turn) Progress(p protocol.TurnProgress) {
	p.Session = t.session.name()
	t.trail.mu.Lock()
	t.trail.progress = p
	t.trail.mu.Unlock()
	t.session.viewers.broadcast(protocol.MethodTurnProgress, p)
}

// progress is how far the turn has come; nil before a model was asked.
func (t *Turn) progress() *protocol.TurnProgress {
	t.trail.mu.Lock()
	defer t.trail.mu.Unlock()
	if p := t.trail.progress; p.Round > 0 {
		return &p
	}
	return nil
}

// annotate adds the trail to an answer's subtree.
func (t *Turn) annotate(subtree string) string {
	t.trail.mu.Lock()
	defer t.trail.mu.Unlock()
	var properties []org.Property
	if t.trail.counted {
		properties = append(properties, org.Property{Key: "TOKENS", Value: fmt.Sprintf("%d/%d", t.trail.input, t.trail.output)})
		if t.trail.cost != nil {
			properties = append(properties, org.Property{Key: "COST", Value: dollars(*t.trail.cost)})
		}
		properties = append(properties, org.Property{Key: "SECONDS", Value: fmt.Sprintf("%.1f", time.Since(t.Record.Started).Seconds())})
	}
	thoughts := t.trail.thoughts.String()
	if more := t.trail.thought - utf8.RuneCountInString(thoughts); more > 0 {
		thoughts += fmt.Sprintf("…\n(and %d characters more, which the journal has)", more)
	}
	calls := t.trail.calls.String()
	if t.trail.left > 0 {
		calls += fmt.Sprintf("\n\n(and %d calls more, which the journal has)", t.trail.left)
	}
	var items []org.Remark
	for _, text := range t.trail.steers {
		items = append(items, org.Remark{By: "You, meanwhile", Text: text})
	}
	if t.trail.stopped != "" {
		items = append(items, org.Remark{By: "Stopped", Text: t.trail.stopped})
	}
	return org.Annotate(subtree, properties, []org.Drawer{{Name: "THOUGHTS", Text: thoughts}, {Name: "CALLS", Text: calls}}, items)
}

// dollars is an amount with as many digits as say something.
func dollars(amount float64) string {
	text := strconv.FormatFloat(amount, 'f', 6, 64)
	return "$" + strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// shortened is the beginning of a text that is longer than limit bytes, and how
// much is missing.
func shortened(text string, limit int) string {
	begin := portion(text, limit)
	if len(begin) == len(text) {
		return text
	}
	return fmt.Sprintf("%s…\n(and %d bytes more)", begin, len(text)-len(begin))
}

// portion is at most limit bytes of the beginning of a text, in whole characters.
func portion(text string, limit int) string {
	limit = max(limit, 0)
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}
