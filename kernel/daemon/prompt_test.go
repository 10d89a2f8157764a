package daemon_test

import (
	"slices"
	"strings"
	"testing"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// What is shown of a prompt is what the model then receives, byte for byte; looking at it
// leaves no trace.
func TestPromptIsWhatIsSent(t *testing.T) {
	in, model := newInstanceAndModel(t, llmtest.Exchange{Reply: insertion("* An änswer"), Times: -1})
	in.clock = stopped
	in.write(t, "skills/garden/SKILL.md", promptSkill("garden", "", "# Roses\nWater.\n"))
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	ask(t, e, "q1", "Earlier?")
	sendWith(t, e, message("q2", "With a file?", item("a.org", "text of a\n")))
	// A turn's receipts may come behind its end.
	rows := func() int {
		return len(slices.DeleteFunc(in.rows(t, journal.Query{}), func(e journal.Entry) bool { return e.Kind == journal.KindReceipt }))
	}
	for i, params := range []protocol.Object{
		message("", "Which is it?"),
		message("", "* Which\n(is) \"it\"?\\", item("b.org", "text of b"), image("p.png", pixel)),
		message("", "/garden roses"),
	} {
		before := rows()
		var shown protocol.PromptResult
		if err := e.Call(within(t), protocol.MethodPromptGet, params, &shown); err != nil {
			t.Fatal(err)
		}
		if after := rows(); after != before || len(model.Requests()) != 2+i {
			t.Fatalf("looking left %d rows and %d requests", after-before, len(model.Requests()))
		}
		sendWith(t, e, append(params, protocol.Field{Key: "id", Value: "s" + string(rune('0'+i))}))
		sent := model.Requests()[2+i].Whole()
		if len(sent) != len(shown.Parts) {
			t.Fatalf("%d parts were shown and %d messages sent", len(shown.Parts), len(sent))
		}
		bytes := 0
		for j, part := range shown.Parts {
			if part.Role != sent[j].Role || part.Text != sent[j].Content || len(part.Images) != len(sent[j].Images) {
				t.Errorf("message %d was shown as %+v and sent as %+v", j, part, sent[j])
			}
			bytes += part.Bytes
		}
		if shown.Skill != "chat" || shown.Model != "test-model" || shown.Bytes != bytes || shown.Tokens < bytes/8 {
			t.Errorf("the whole is %s, %s, %d bytes, %d tokens, and the parts have %d", shown.Skill, shown.Model, shown.Bytes, shown.Tokens, bytes)
		}
	}
}

// Without a message a stand-in is shown; a skill that needs no model says so; what is no
// command is told as when it is sent.
func TestPromptWithoutMessageOrModel(t *testing.T) {
	in, model := newInstanceAndModel(t)
	in.write(t, "skills/looker.org", lisp(looking))
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	var shown protocol.PromptResult
	if err := e.Call(within(t), protocol.MethodPromptGet, protocol.Object{{Key: "session", Value: "never seen"}}, &shown); err != nil {
		t.Fatal(err)
	}
	if last := shown.Parts[len(shown.Parts)-1]; len(shown.Parts) != 2 || llm.Unstamped(last.Text) != "…" || last.Text == "…" || last.Name != "question" {
		t.Errorf("the parts are %+v", shown.Parts)
	}
	var command protocol.PromptResult
	if err := e.Call(within(t), protocol.MethodPromptGet, message("", "/look at it"), &command); err != nil || len(command.Parts) != 0 || !strings.Contains(command.Note, "the skill looker answers by itself") {
		t.Errorf("a command is shown as %+v, %v", command, err)
	}
	err := e.Call(within(t), protocol.MethodPromptGet, message("", "/loook at it"), &protocol.PromptResult{})
	if protocol.ErrorCode(err) != protocol.CodeNotFound {
		t.Errorf("what is no command: %v", err)
	}
	if len(model.Requests()) != 0 {
		t.Errorf("the model was asked %d times", len(model.Requests()))
	}
}

// A note that goes on when it is not answered, asks again or injects: nothing of it
// happens when its prompt is looked at.
func TestPromptOfStubbornNote(t *testing.T) {
	in, model := newInstanceAndModel(t, llmtest.Exchange{Reply: insertion("* Seen"), Times: -1})
	in.write(t, "skills/stubborn.org", lisp(`(defun ask-on (c)
  (handler-case (inject-stimulus '(:type :event :payload (:sensor :chat-message :text "injected"))) (error () nil))
  (let ((text (getf (getf c :payload) :text)))
    (handler-case (ask-neuro (format nil "first ~a" text))
      (error () (handler-case (ask-neuro "second") (error () "not a plist, not sent"))))))
(defskill :stubborn :priority 90 :trigger (lambda (c) (eq (getf (getf c :payload) :sensor) :chat-message)) :neuro #'ask-on)`))
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	before := len(in.rows(t, journal.Query{}))
	var shown protocol.PromptResult
	if err := e.Call(within(t), protocol.MethodPromptGet, message("", "hi"), &shown); err != nil {
		t.Fatal(err)
	}
	if last := shown.Parts[len(shown.Parts)-1]; llm.Unstamped(last.Text) != "first hi" || shown.Skill != "stubborn" {
		t.Errorf("shown is %+v", shown)
	}
	if after := len(in.rows(t, journal.Query{})); len(model.Requests()) != 0 || after != before {
		t.Errorf("looking had an effect: %d requests, %d rows", len(model.Requests()), after-before)
	}
}
