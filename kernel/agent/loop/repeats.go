package loop

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"

	"org-agent/kernel/action"
	"org-agent/kernel/journal"
)

// repeats finds a model that goes round in a circle: the same one to four actions with the same
// results again and again. An action that gets another result is progress, and so is any other action
// in between. The zero value is ready.
type repeats struct {
	marks  [][sha256.Size]byte // of the last steps
	warned bool                // about the present circle
}

// circles say how often a circle of so many actions is gone round before the model is warned, and
// before it is stopped. A single action may be one that waits for something.
var circles = [...]struct{ period, warn, stop int }{{1, 4, 6}, {2, 3, 5}, {3, 3, 4}, {4, 3, 4}}

// marksKept is what the longest circle needs.
const marksKept = 16

// repeating is what is found.
type repeating int

const (
	goesOn repeating = iota
	isWarned
	isStopped
)

// note takes one more step with its action. The text what describes the circle.
func (s *repeats) note(did action.Action, step journal.ToolStep) (found repeating, what string) {
	s.marks = append(s.marks, markOf(did, step))
	if len(s.marks) > marksKept {
		s.marks = s.marks[1:]
	}
	longest := 0
	for _, c := range circles {
		times := s.times(c.period)
		longest = max(longest, times*c.period*min(times-1, 1))
		switch what := circle(c.period, times); {
		case times >= c.stop:
			return isStopped, what
		case times == c.warn && !s.warned:
			s.warned = true
			return isWarned, what
		}
	}
	if longest == 0 { // it does something else
		s.warned = false
	}
	return goesOn, ""
}

// times is how often the last period steps were done, one time after the other.
func (s *repeats) times(period int) int {
	n := len(s.marks)
	same := 0
	for i := n - 1; i >= period && s.marks[i] == s.marks[i-period]; i-- {
		same++
	}
	return same/period + min(1, n/period)
}

func circle(period, times int) string {
	if period == 1 {
		return fmt.Sprintf("the same action %d times, with the same result each time", times)
	}
	return fmt.Sprintf("the same %d actions %d times, with the same results each time", period, times)
}

// markOf is the same for steps with the same action and the same result. Times, durations and the
// names of kept outputs do not count.
func markOf(did action.Action, step journal.ToolStep) [sha256.Size]byte {
	hash := sha256.New()
	part := func(text string) { fmt.Fprintf(hash, "%d:%s", len(text), text) }
	part(did.Canonical())
	part(step.Verdict)
	part(steady(step.Text))
	for _, call := range step.Calls {
		part(call.Tool)
		part(steady(call.Text))
		part(fmt.Sprint(call.Failed))
	}
	return [sha256.Size]byte(hash.Sum(nil))
}

// unnamed is an action without the :id that a model gave it as a name. An :id that says what is acted
// on stays.
func unnamed(kinds Kinds, a action.Action) action.Action {
	if kinds.ActsOnID(a) {
		return a
	}
	return a.WithoutID()
}

// volatile matches what differs each time without being progress: moments, durations, made-up names,
// and where an output is kept.
var volatile = regexp.MustCompile(strings.Join([]string{
	`\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z| ?[+-]\d\d:?\d\d)?)?`, // 2026-11-22T10:00:00Z
	`\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?\b`,                                              // 10:00:00
	`\b(?:\d+(?:\.\d+)?(?:h|m|s|ms|µs|us|ns))+\b`,                                    // 1m3.5s
	`\b\d+(?:\.\d+)? (?:h|ms|s|sec|secs|seconds?|minutes?|hours?)\b`,                 // 3 seconds
	`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`,               // a UUID
	`:id \\*"[^"\\]*\\*"`, // :id "x7"
	`\[it is [^\]\n]*\]`,  // [it is x7]
	`(?i)"?\b(?:time|timestamp|date|elapsed|duration|took|uptime|pid)"?\s*[:=]\s*"?[\w.:+-]+"?`, // "elapsed": 3.2
	`(?i):(?:time|timestamp|date|elapsed|duration|took|uptime|pid)\s+\\*"?[\w.:+-]+\\*"?`,       // :elapsed 3.2
}, "|"))

// steady is a text without what is volatile in it.
func steady(text string) string { return volatile.ReplaceAllString(text, "~") }
