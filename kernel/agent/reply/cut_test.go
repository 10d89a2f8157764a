package reply_test

import (
	"strings"
	"testing"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/skill"
)

// TestCutRequest: a count far below the estimate means that the server has left out a part of the request, unless the
// server says that the request fits. The person is told once, and the estimate is not corrected by such a count.
func TestCutRequest(t *testing.T) {
	question := strings.Repeat("word ", 4000) // about 5,000 tokens
	for name, c := range map[string]struct {
		usage  *llm.Usage
		served int
		images []llm.Image
		want   string // part of the notice; "" for none
	}{
		"cut":                        {&llm.Usage{Input: 2000}, 0, nil, "set WINDOW in config.org to what it has"},
		"cut, with a window":         {&llm.Usage{Input: 2000}, 4096, nil, "asked was shown 2000 tokens of about 5007: its server has left out the oldest messages"},
		"the window is told":         {&llm.Usage{Input: 2000}, 4096, nil, "set WINDOW in config.org to the 4096 tokens that it has"},
		"it fits":                    {&llm.Usage{Input: 2000}, 8192, nil, ""},
		"nearly all":                 {&llm.Usage{Input: 3100}, 4096, nil, ""},
		"too few to tell":            {&llm.Usage{Input: 900}, 4096, nil, ""},
		"a part comes from a cache":  {&llm.Usage{Input: 2000, Cached: 10}, 4096, nil, ""},
		"a part goes into one":       {&llm.Usage{Input: 2000, Written: 10}, 4096, nil, ""},
		"nothing is counted":         {nil, 4096, nil, ""},
		"an image counts as a guess": {&llm.Usage{Input: 2000}, 4096, []llm.Image{{Media: "image/png", Data: []byte("x")}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			reply := llmtest.Turn{llmtest.Text("Yes"), llmtest.FinishWith(llm.FinishStop, c.usage)}
			s := newStage(t, reply, reply)
			s.served, s.images = c.served, c.images
			for range 2 {
				if _, err := s.turn.Asker().Ask(t.Context(), skill.Ask{Text: question}); err != nil {
					t.Fatal(err)
				}
				if learns := s.spent.Estimate > 0; learns != (c.want == "") {
					t.Errorf("the estimate that counts is %d", s.spent.Estimate)
				}
			}
			var told []string
			for _, line := range s.lines {
				if strings.HasPrefix(line, "told ") {
					told = append(told, line)
				}
			}
			if c.want == "" && len(told) > 0 || c.want != "" && (len(told) != 1 || !strings.Contains(told[0], c.want)) {
				t.Errorf("told is %q", told)
			}
		})
	}
}
