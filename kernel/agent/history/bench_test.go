package history_test

import (
	"fmt"
	"strings"
	"testing"

	"org-agent/kernel/journal"
)

// BenchmarkShow measures the excerpt of 200 earlier turns, of which every fourth called a tool. "first"
// reads all turns, "later" only the new one.
func BenchmarkShow(b *testing.B) {
	k := newConversation(b)
	fill := func(turns int) {
		for i := range turns {
			k.ask(fmt.Sprintf("question %d: %s", i, strings.Repeat("which notes mention Samarkand? ", 5)))
			var steps []journal.ToolStep
			if i%4 == 0 {
				steps = append(steps, journal.ToolStep{Action: `(:type :request :target :tool :action :call :tool "search" :args (:query "x"))`,
					Verdict: "performed", Text: strings.Repeat("- a line that was \"found\"\n", 100)})
			}
			k.answer(strings.Repeat("Both are from *April*, and more. ", 20), steps...)
		}
		k.ask("now")
	}
	fill(200)
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			k.forget()
			if shown := k.show(1 << 20); shown.Turns != 200 {
				b.Fatalf("%d turns are shown", shown.Turns)
			}
		}
	})
	b.Run("later", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if shown := k.show(1 << 20); shown.Turns != 200 {
				b.Fatalf("%d turns are shown", shown.Turns)
			}
		}
	})
}
