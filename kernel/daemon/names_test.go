package daemon_test

import (
	"testing"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// TestNamesTakeNoModel: what a conversation is called, and the words by which it is known,
// cost nothing: the model is asked for the answers and not once more, also by a kernel that
// finds the conversations there.
func TestNamesTakeNoModel(t *testing.T) {
	in, model := newInstanceAndModel(t, llmtest.Exchange{Reply: insertion("* Yes"), Times: -1})
	for round, want := range []int{2, 3} {
		k := in.start(t)
		e := in.editor(t, rpctest.Config{})
		call := func(method string, params, result any) {
			t.Helper()
			if err := e.Call(within(t), method, params, result); err != nil {
				t.Fatal(err)
			}
		}
		if round == 0 {
			ask(t, e, "q1", "What blooms in *March*?\nAnd why?")
			ask(t, e, "q2", "And then?")
			call(protocol.MethodSessionFork, protocol.SessionForkParams{ID: "q2"}, nil)
			call(protocol.MethodSessionRename, protocol.SessionRenameParams{Session: "main", To: "garden"}, nil)
		} else {
			ask(t, e, "q3", "Anew")
		}
		var listed protocol.SessionListResult
		call(protocol.MethodSessionList, protocol.Empty{}, &listed)
		words := map[string]string{}
		for _, s := range listed.Sessions {
			words[s.Name] = s.Words
		}
		if first := "What blooms in *March*? And why?"; words["garden"] != first || words["main fork"] != first {
			t.Errorf("the conversations are %q", words)
		}
		call(protocol.MethodSessionSearch, protocol.SessionSearchParams{Query: "blooms"}, nil)
		if err := k.end(); err != nil {
			t.Fatal(err)
		}
		if got := len(model.Requests()); got != want {
			t.Errorf("for %d answers the model was asked %d times", want, got)
		}
	}
}
