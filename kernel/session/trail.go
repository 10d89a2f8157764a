package session

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"org-agent/kernel/llm"
	"org-agent/kernel/org"
	"org-agent/kernel/protocol"
	plain "org-agent/kernel/text"
)

// Limits of what an answer shows of its trail. The journal has all of it.
const (
	thoughtsLimit   = 16 << 10 // bytes of thoughts
	commentaryLimit = 4 << 10  // bytes of commentary
	callsLimit      = 16 << 10 // bytes of calls and results
	resultLimit     = 2 << 10  // bytes of one result
)

// trail collects what the answer shows beside its text: thoughts, commentary, calls, steering messages and
// usage.
type trail struct {
	mu           sync.Mutex
	thoughts     strings.Builder // up to thoughtsLimit
	thoughtChars int             // code points of all of them
	commentary   strings.Builder // up to commentaryLimit
	calls        strings.Builder
	hiddenCalls  int // the number of calls beyond callsLimit
	steers       []string
	stopReason   string                // why the answer is incomplete, a sentence or two; "" of a complete one
	progress     protocol.TurnProgress // zero before the first request to a model
	hasUsage     bool                  // tokens were counted
	usage        llm.Usage
	speed        llm.Speed
}

// Call is one action that a model proposed on the way to an answer.
type Call struct {
	Line     string // the call, on one line
	Verdict  string // performed, refused, denied, failed
	Result   string
	Duration time.Duration
}

// AddThought adds a text to the thoughts of the model. Clients receive it with the total length. The
// answer has the thoughts in a folded drawer.
func (t *Turn) AddThought(text string) {
	if text = plain.Shown(text); text == "" {
		return
	}
	t.trail.mu.Lock()
	t.trail.thoughts.WriteString(prefix(text, thoughtsLimit-t.trail.thoughts.Len()))
	t.trail.thoughtChars += utf8.RuneCountInString(text)
	chars := t.trail.thoughtChars
	t.trail.mu.Unlock()
	t.session.viewers.broadcast(protocol.MethodTurnThought, protocol.TurnThought{
		Session: t.session.name(), Turn: t.Record.ID, Event: t.Record.Event, Chars: chars, Text: text,
	})
}

// AddCommentary adds what the model said beside its calls. Clients receive it at once, and the answer has it
// in a folded drawer, a paragraph for each reply.
func (t *Turn) AddCommentary(text string) {
	if text = strings.TrimSpace(plain.Shown(text)); text == "" {
		return
	}
	t.trail.mu.Lock()
	if all := &t.trail.commentary; all.Len() < commentaryLimit {
		if all.Len() > 0 {
			all.WriteString("\n\n")
		}
		all.WriteString(abbreviate(text, commentaryLimit-all.Len()))
	}
	t.trail.mu.Unlock()
	text = abbreviate(text, commentaryLimit)
	t.session.viewers.broadcast(protocol.MethodTurnCommentary, protocol.TurnCommentary{
		Session: t.session.name(), Turn: t.Record.ID, Event: t.Record.Event, Text: text,
	})
}

// AddCall adds a call to the folded drawer of the answer. The call begins its line. Its verdict and its
// result are indented below it, so that no result looks like a call.
func (t *Turn) AddCall(call Call) {
	t.trail.mu.Lock()
	defer t.trail.mu.Unlock()
	calls := &t.trail.calls
	if calls.Len() >= callsLimit {
		t.trail.hiddenCalls++
		return
	}
	if calls.Len() > 0 {
		calls.WriteString("\n\n")
	}
	fmt.Fprintf(calls, "%s\n  %s in %.2f s", strings.ReplaceAll(abbreviate(call.Line, resultLimit), "\n", " "), call.Verdict, call.Duration.Seconds())
	if result := strings.TrimSpace(call.Result); result != "" {
		calls.WriteString(":\n  " + strings.ReplaceAll(abbreviate(result, resultLimit), "\n", "\n  "))
	}
}

// SetUsage sets the tokens, the cost and the speed of the turn so far, for the drawer of the answer.
func (t *Turn) SetUsage(usage llm.Usage, speed llm.Speed) {
	t.trail.mu.Lock()
	defer t.trail.mu.Unlock()
	t.trail.hasUsage, t.trail.usage, t.trail.speed = true, usage, speed
}

// SetStopReason adds to the answer why the turn was stopped early.
func (t *Turn) SetStopReason(why string) {
	t.trail.mu.Lock()
	defer t.trail.mu.Unlock()
	t.trail.stopReason = why
}

// Progress notifies clients of the progress of the turn.
func (t *Turn) Progress(p protocol.TurnProgress) {
	p.Session = t.session.name()
	t.trail.mu.Lock()
	t.trail.progress = p
	t.trail.mu.Unlock()
	t.session.viewers.broadcast(protocol.MethodTurnProgress, p)
}

// progress returns the progress of the turn, nil before its first request to a model.
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
	if t.trail.hasUsage {
		properties = append(properties, org.Property{Key: "TOKENS", Value: fmt.Sprintf("%d/%d", t.trail.usage.Input, t.trail.usage.Output)})
		if t.trail.usage.Cost != nil {
			properties = append(properties, org.Property{Key: "COST", Value: dollars(*t.trail.usage.Cost)})
		}
		properties = append(properties, org.Property{Key: "SECONDS", Value: fmt.Sprintf("%.1f", time.Since(t.Record.Started).Seconds())})
		if speed := speedText(t.trail.speed); speed != "" {
			properties = append(properties, org.Property{Key: "SPEED", Value: speed})
		}
	}
	thoughts := t.trail.thoughts.String()
	if more := t.trail.thoughtChars - utf8.RuneCountInString(thoughts); more > 0 {
		thoughts += fmt.Sprintf("…\n(and %d characters more, which the journal has)", more)
	}
	calls := t.trail.calls.String()
	if t.trail.hiddenCalls > 0 {
		calls += fmt.Sprintf("\n\n(and %d calls more, which the journal has)", t.trail.hiddenCalls)
	}
	var items []org.Remark
	for _, text := range t.trail.steers {
		items = append(items, org.Remark{By: "You, meanwhile", Text: spoken(text)})
	}
	if t.trail.stopReason != "" {
		items = append(items, org.Remark{By: "Stopped", Text: t.trail.stopReason})
	}
	return org.Annotate(subtree, properties, []org.Drawer{{Name: "THOUGHTS", Text: thoughts}, {Name: "COMMENTARY", Text: t.trail.commentary.String()}, {Name: "CALLS", Text: calls}}, items)
}

// speedText returns how fast the replies came, "" if that is not known.
func speedText(speed llm.Speed) string {
	if speed.Replies == 0 {
		return ""
	}
	text := fmt.Sprintf("%.2f s to the first word", speed.Mean().Seconds())
	if rate := speed.Rate(); rate > 0 {
		text += fmt.Sprintf(", %.0f tokens/s", rate)
	}
	return text
}

// dollars formats an amount without trailing zeros.
func dollars(amount float64) string {
	text := strconv.FormatFloat(amount, 'f', 6, 64)
	return "$" + strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// abbreviate returns at most limit bytes of a text. If bytes are left out, it appends their number.
func abbreviate(text string, limit int) string {
	begin := prefix(text, limit)
	if len(begin) == len(text) {
		return text
	}
	return fmt.Sprintf("%s…\n(and %d bytes more)", begin, len(text)-len(begin))
}

// prefix returns at most limit bytes of the beginning of a text, in whole characters.
func prefix(text string, limit int) string {
	limit = max(limit, 0)
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}
