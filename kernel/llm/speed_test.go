package llm_test

import (
	"testing"
	"time"

	"org-agent/kernel/llm"
)

func TestSpeed(t *testing.T) {
	used := &llm.Usage{Output: 100, Reasoning: 60}
	for name, c := range map[string]struct {
		usage       *llm.Usage
		thoughts    bool
		first, took time.Duration
		mean        time.Duration
		rate        float64
	}{
		"shown thoughts count":          {used, true, time.Second, 3 * time.Second, time.Second, 50},
		"hidden ones came before":       {used, false, time.Second, 3 * time.Second, time.Second, 20},
		"nothing came":                  {used, true, 0, 3 * time.Second, 0, 0},
		"all came at once":              {used, true, time.Second, time.Second + 99*time.Millisecond, time.Second, 0},
		"nobody counted":                {nil, true, time.Second, 3 * time.Second, time.Second, 0},
		"more thought than was written": {&llm.Usage{Output: 5, Reasoning: 9}, false, time.Second, 2 * time.Second, time.Second, 0},
	} {
		if s := llm.SpeedOf(c.usage, c.thoughts, c.first, c.took); s.Mean() != c.mean || s.Rate() != c.rate {
			t.Errorf("%s: %v, %g", name, s.Mean(), s.Rate())
		}
	}
	sum := llm.SpeedOf(used, true, time.Second, 3*time.Second).Add(llm.SpeedOf(used, true, 2*time.Second, 4*time.Second)).Add(llm.SpeedOf(nil, true, 3*time.Second, 9*time.Second))
	if sum.Mean() != 2*time.Second || sum.Rate() != 50 {
		t.Errorf("the sum is %v, %g", sum.Mean(), sum.Rate())
	}
}
