package loop

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"

	"org-agent/kernel/action"
	"org-agent/kernel/journal"
)

// repeats finds a model that repeats a cycle of one to four actions with the same results. An action
// with another result is progress, and so is any other action in between. The zero value is ready.
type repeats struct {
	fingerprints [][sha256.Size]byte // of the last steps, the latest last
	warned       bool                // about the present cycle
}

// cycles has for each length of a cycle how often it is repeated before the model is warned, and before
// it is stopped. A single action is allowed more, because it may wait for something.
var cycles = [...]struct{ period, warn, stop int }{{1, 4, 6}, {2, 3, 5}, {3, 3, 4}, {4, 3, 4}}

// fingerprintLimit is enough for the longest cycle.
const fingerprintLimit = 16

// repeatFinding is the result of a search for cycles.
type repeatFinding int

const (
	repeatNone repeatFinding = iota
	repeatWarning
	repeatStop
)

// add adds a step with its action, and returns what it finds. The text what describes the cycle.
func (s *repeats) add(did action.Action, step journal.ToolStep) (found repeatFinding, what string) {
	s.fingerprints = append(s.fingerprints, fingerprint(did, step))
	if len(s.fingerprints) > fingerprintLimit {
		s.fingerprints = s.fingerprints[1:]
	}
	longest := 0
	for _, c := range cycles {
		times := s.times(c.period)
		longest = max(longest, times*c.period*min(times-1, 1))
		switch what := cycleText(c.period, times); {
		case times >= c.stop:
			return repeatStop, what
		case times == c.warn && !s.warned:
			s.warned = true
			return repeatWarning, what
		}
	}
	if longest == 0 { // the model does something else
		s.warned = false
	}
	return repeatNone, ""
}

// times returns how often in succession the last period steps were performed.
func (s *repeats) times(period int) int {
	n := len(s.fingerprints)
	same := 0
	for i := n - 1; i >= period && s.fingerprints[i] == s.fingerprints[i-period]; i-- {
		same++
	}
	return same/period + min(1, n/period)
}

func cycleText(period, times int) string {
	if period == 1 {
		return fmt.Sprintf("the same action %d times, with the same result each time", times)
	}
	return fmt.Sprintf("the same %d actions %d times, with the same results each time", period, times)
}

// fingerprint returns a hash that is the same for steps with the same action and the same result.
// Times, durations and the names of stored outputs do not count.
func fingerprint(did action.Action, step journal.ToolStep) [sha256.Size]byte {
	hash := sha256.New()
	part := func(text string) { fmt.Fprintf(hash, "%d:%s", len(text), text) }
	part(did.Canonical())
	part(step.Verdict)
	part(withoutVolatile(step.Text))
	for _, call := range step.Calls {
		part(call.Tool)
		part(withoutVolatile(call.Text))
		part(fmt.Sprint(call.Failed))
	}
	return [sha256.Size]byte(hash.Sum(nil))
}

// withoutName returns an action without the :id by which a model names it. An :id that names the object
// of the action stays.
func withoutName(kinds Kinds, a action.Action) action.Action {
	if kinds.ActsOnID(a) {
		return a
	}
	return a.WithoutID()
}

// volatile matches texts that differ each time without being progress: times, durations, generated
// names, and the places of stored outputs.
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

// withoutVolatile returns a text with a placeholder for each volatile part.
func withoutVolatile(text string) string { return volatile.ReplaceAllString(text, "~") }
