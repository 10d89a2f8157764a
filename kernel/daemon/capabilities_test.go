package daemon_test

import (
	"os"
	"strings"
	"testing"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// A client that only this test knows attaches and works: it is asked for what it announced and for
// nothing else. It performs what the Emacs beside it does not, is sent an answer whole, and
// keeps no file, which the kernel writes.
func TestAnotherEditor(t *testing.T) {
	in := newInstance(t,
		llmtest.Exchange{Reply: `(:type :request :target :emacs :action :message :text "psst")`},
		llmtest.Exchange{Reply: insertion("Done. There is more to say of it than one word.")})
	in.write(t, "skills/mine.org", deciding(`(defun think (c) (ask-neuro (words c)))
(defskill :mine :priority 90 :trigger #'chosen :neuro #'think)`))
	in.start(t)
	emacs := in.editor(t, rpctest.Config{Session: "other", Actions: []string{"open"}})
	var performed []string
	e := in.editor(t, rpctest.Config{
		Name: "a browser", Capabilities: &protocol.Capabilities{Performs: []string{"message"}},
		Perform: func(a protocol.Act) (protocol.Receipt, error) {
			performed = append(performed, a.Payload.Text("text"))
			return protocol.Receipt{Done: true}, nil
		},
	})
	if _, keeper := e.Loaded(); keeper {
		t.Error("it keeps the file, which it cannot")
	}
	got := ask(t, e, "q1", "hi")
	if got.state != "answered" || !strings.Contains(e.Text(), "more to say") {
		t.Errorf("the turn ended %+v\n%s", got, e.Text())
	}
	if strings.Join(performed, "|") != "psst" || len(emacs.Notices()) > 0 {
		t.Errorf("it performed %q, and the Emacs %q", performed, emacs.Notices())
	}
	if deltas := e.Deltas(); len(deltas) > 0 {
		t.Errorf("it was sent %d deltas", len(deltas))
	}
	until(t, "the file", func() bool {
		text, err := os.ReadFile(in.mainFile())
		return err == nil && strings.Contains(string(text), "more to say")
	})
}
