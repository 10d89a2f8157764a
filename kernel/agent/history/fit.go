package history

import (
	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
)

// Fit returns the messages that a turn with many steps is shown: those of the earlier turns and of
// its own steps, whole as long as both fit the room. If they do not, it shortens and then leaves out the
// turn's own results but the last three, then leaves out the first turns, and at last shortens the other
// results, so that the turn goes on as long as possible.
func Fit(dialect llm.Dialect, past []llm.Message, steps []journal.ToolStep, room int) (shown, exchange []llm.Message) {
	last := len(steps)
	for _, measure := range []struct {
		level level
		but   int // the number of last steps that stay whole
		drop  bool
	}{{whole, last, false}, {shortened, protectedTexts, false}, {omitted, protectedTexts, false}, {omitted, protectedTexts, true}, {omitted, 1, true}, {shortened, 0, true}} {
		exchange = exchange[:0:0]
		for i, step := range steps {
			level := measure.level
			if i >= last-measure.but {
				level = whole
			}
			exchange = append(exchange, stepMessages(step, runningID(i), level)...)
		}
		own := Total(dialect, exchange)
		for measure.drop && len(past) > 0 && own+Total(dialect, past) > room {
			past = past[secondTurn(past):]
		}
		if own+Total(dialect, past) <= room {
			break
		}
	}
	return past, exchange
}

// secondTurn returns the index at which the second turn begins.
func secondTurn(messages []llm.Message) int {
	for i := 1; i < len(messages); i++ {
		if messages[i].Begins() {
			return i
		}
	}
	return len(messages)
}
