package plist_test

import (
	"testing"

	"org-agent/kernel/plist"
)

func TestThoughtsAreToldApart(t *testing.T) {
	const answer = `(:type :response :text "<think>no</think>")`
	tests := []struct{ text, want string }{
		{"<think>\nIs it *so*?\n</think>\n" + answer, "Is it *so*?"},
		{"<THINKING>a</thinking>" + answer, "a"},
		{"<Reasoning>a <b> (:type :log)</reasoning> prose", "a <b> (:type :log)"},
		{"never opened </think>" + answer, "never opened"},
		{"<think>never closed", "never closed"},
		{"<think></think>" + answer, ""},
		{answer, ""},
		{"prose", ""},
		{"", ""},
	}
	for _, test := range tests {
		if got := plist.Recover(test.text, plist.RecoverOptions{Finished: true}).Thought; got != test.want {
			t.Errorf("%q: thought %q, want %q", test.text, got, test.want)
		}
	}
	var s plist.Stream
	for _, piece := range []string{"<th", "ink>Is ", "it</think", ">" + answer} {
		s.Write(piece)
	}
	if got := s.Thought(); got != "Is it" {
		t.Errorf("the stream's thought is %q", got)
	}
}
