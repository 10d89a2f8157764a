package llm_test

import (
	"math"
	"testing"

	"org-agent/kernel/llm"
	"pgregory.net/rapid"
)

// Each token is paid once, whatever a server counts.
func TestPriceOfAnyUsage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(0, 1_000_000)
		u := llm.Usage{Input: count.Draw(t, "in"), Output: count.Draw(t, "out"), Cached: count.Draw(t, "cached"), Written: count.Draw(t, "written")}
		dollars := rapid.Float64Range(0, 100)
		one := dollars.Draw(t, "price")
		same := llm.Price{Input: one, Output: one, Cached: &one, Written: &one}
		if got, want := same.Of(u), one*float64(u.Input+u.Output)/1e6; math.Abs(got-want) > 1e-9*(1+want) {
			t.Fatalf("%+v costs %g, want %g", u, got, want)
		}
		cheap := one / 10
		if (llm.Price{Input: one, Output: one, Cached: &cheap}).Of(u) > same.Of(u)+1e-9 {
			t.Fatal("cheaper parts make it dearer")
		}
	})
}
