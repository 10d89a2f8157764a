package daemon_test

import (
	"strings"
	"testing"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// A remote host that was only found gets no words before a person has agreed,
// neither of a new message nor of an old one that is answered again.
func TestFoundHostWaitsForAgreement(t *testing.T) {
	const host = "model.invalid"
	in := newInstance(t, llmtest.Exchange{Status: 400, Body: `{"error":{"message":"no"}}`})
	k := in.start(t)
	e := in.editor(t, rpctest.Config{})
	old := ask(t, e, "q1", "hi")
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	delete(in.variables, "ORG_AGENT_LLM_BASE_URL")
	delete(in.variables, "ORG_AGENT_LLM_API_KEY")
	in.variables["OPENAI_BASE_URL"], in.variables["OPENAI_API_KEY"] = "http://"+host+"/v1", canary

	k = in.start(t)
	e = in.editor(t, rpctest.Config{File: in.mainFile()})
	if _, err := e.Send(within(t), "q2", "hi"); protocol.ErrorCode(err) != protocol.CodeConsent {
		t.Errorf("the message came to %v", err)
	}
	if err := e.Call(within(t), protocol.MethodTurnRetry, protocol.TurnRetryParams{Turn: old.turn}, nil); err != nil {
		t.Fatal(err)
	}
	finished, err := e.WaitTurn(within(t), old.turn)
	if err != nil || finished.State != protocol.TurnFailed || !strings.Contains(finished.Notice, "agree") {
		t.Errorf("the old message came to %+v, %v", finished, err)
	}
	err = e.Call(within(t), protocol.MethodEvent, protocol.Object{
		{Key: "sensor", Value: protocol.Keyword("chat-message")}, {Key: "text", Value: "hi"}, {Key: "consent", Value: host}}, nil)
	if err != nil {
		t.Error(err)
	}
	if _, err := e.Send(within(t), "q2", "hi"); err != nil {
		t.Error("after agreeing:", err)
	}
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	in.start(t)
	e = in.editor(t, rpctest.Config{File: in.mainFile()})
	if _, err := e.Send(within(t), "q3", "hi"); err != nil {
		t.Error("the next kernel:", err)
	}
}
