package history

import (
	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
)

// Fit is what a turn that has done much is shown: of the earlier turns as much as was found
// for it, and its own rounds, whole, as long as both fit the room. Then its own results but
// the last three are shortened and left out, then the first turns are left out, and last the
// other results: a turn goes on as long as it can.
func Fit(past []llm.Message, rounds []journal.ToolStep, room int) (shown, exchange []llm.Message) {
	last := len(rounds)
	for _, step := range []struct {
		level level
		but   int // so many of the last rounds stay whole
		drop  bool
	}{{whole, last, false}, {shortened, protected, false}, {omitted, protected, false}, {omitted, protected, true}, {omitted, 1, true}, {shortened, 0, true}} {
		exchange = exchange[:0:0]
		for i, round := range rounds {
			level := step.level
			if i >= last-step.but {
				level = whole
			}
			exchange = append(exchange, roundAt(round, level)...)
		}
		own := Total(exchange)
		for step.drop && len(past) > 0 && own+Total(past) > room {
			past = past[nextTurn(past):]
		}
		if own+Total(past) <= room {
			break
		}
	}
	return past, exchange
}

// nextTurn is where the second of the turns begins.
func nextTurn(messages []llm.Message) int {
	for i := 1; i < len(messages); i++ {
		if m := messages[i]; m.Role == llm.RoleUser && !m.Result {
			return i
		}
	}
	return len(messages)
}
