package daemon_test

import (
	"fmt"
	"strings"
	"testing"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// looking has the command "look", which says what it was given.
const looking = `(defun seen (c)
  (let ((p (getf c :payload)))
    (list :type :response
          :text (format nil "* Seen~%~a|~a|~a" (getf p :command) (getf p :text) (getf (getf p :buffer) :text)))))
(defskill :looker :commands (("look" "Looks at the buffer." :wants (:buffer))) :neuro #'seen)`

// sendCommand gives a command as an Emacs does whose buffer has no heading for it, and waits for its turn.
func sendCommand(t *testing.T, e *rpctest.Editor, params protocol.Object) protocol.TurnFinished {
	t.Helper()
	return sendWith(t, e, append(protocol.Object{{Key: "sensor", Value: protocol.Keyword("user-command")}}, params...))
}

// A command goes to its skill with what the person has before them; the conversation shows
// the command and not the buffer.
func TestCommands(t *testing.T) {
	in, model := newInstanceAndModel(t, llmtest.Exchange{Echo: true, Times: -1})
	in.write(t, "skills/looker.org", lisp(looking))
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	buffer := protocol.Object{{Key: "name", Value: "a.org"}, {Key: "text", Value: "secret words"}}
	got := sendCommand(t, e, protocol.Object{{Key: "command", Value: "look"}, {Key: "text", Value: "at it"},
		{Key: "said", Value: "/look at it\nOn the buffer a.org"}, {Key: "buffer", Value: buffer}})
	if got.State != protocol.TurnAnswered {
		t.Errorf("the turn ended %+v", got)
	}
	sendCommand(t, e, protocol.Object{{Key: "command", Value: "look"}})
	ask(t, e, "q3", "/LOOK here\nand there")
	ask(t, e, "q4", "/home/me is full")
	wantBare(t, e, "* /look at it\nOn the buffer a.org\n** Seen\nlook|at it|secret words\n* /look\n** Seen\nlook||NIL\n"+
		"* /LOOK here\nand there\n** Seen\nlook|here\nand there|NIL\n* /home/me is full\n** /home/me is full\n* ")
	events := 0
	for _, request := range model.Requests() {
		for _, m := range request.Messages() {
			if strings.Contains(m.Content, "secret words") && m.Content != "* Seen\nlook|at it|secret words" {
				t.Errorf("the model was shown %q", m.Content)
			}
			if strings.HasPrefix(m.Content, "/look at it\nOn the buffer") {
				events++
			}
		}
	}
	if events != 1 {
		t.Errorf("the history has the command %d times", events)
	}
	var list protocol.SkillListResult
	if err := e.Call(within(t), protocol.MethodSkillList, protocol.Empty{}, &list); err != nil || !strings.Contains(fmt.Sprintf("%+v", list.Commands), "{Name:look Description:Looks at the buffer. Skill:looker Wants:[buffer]}") {
		t.Errorf("%+v, %v", list.Commands, err)
	}
}

// What is no command: a near name is not sent to the model, a command that is gone fails.
func TestUnknownCommands(t *testing.T) {
	in, model := newInstanceAndModel(t, llmtest.Exchange{Echo: true, Times: -1})
	in.write(t, "skills/looker.org", lisp(strings.Replace(looking, `"look"`, `"observe"`, 1)))
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	_, err := e.Send(within(t), "q1", "/obzerve my secret")
	if protocol.ErrorCode(err) != protocol.CodeNotFound || !strings.Contains(err.Error(), "did you mean /observe?") {
		t.Errorf("a near name: %v", err)
	}
	if got := sendCommand(t, e, protocol.Object{{Key: "command", Value: "obserfe"}}); got.State != protocol.TurnFailed || !strings.Contains(got.Notice, "did you mean /observe?") {
		t.Errorf("a near command: %+v", got)
	}
	if got := sendCommand(t, e, protocol.Object{{Key: "command", Value: "nothing"}}); got.State != protocol.TurnFailed || !strings.Contains(got.Notice, "no live skill has the command /nothing") {
		t.Errorf("no command: %+v", got)
	}
	if n := len(model.Requests()); n != 0 {
		t.Errorf("the model was asked %d times", n)
	}
}
