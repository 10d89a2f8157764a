package daemon_test

import (
	"testing"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// A model that is written into config.org while the kernel runs answers the next message, and
// clients are told its name. Nothing has to be stopped for it.
func TestModelOfASavedConfig(t *testing.T) {
	in := newInstance(t)
	model := llmtest.Start(t, llmtest.Exchange{Reply: insertion("From config.org")})
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	in.write(t, "config.org", "* Models\n** mine\n:PROPERTIES:\n:BASE_URL: "+model.URL()+"\n:MODEL: mine-1\n:API_KEY: env:ORG_AGENT_LLM_API_KEY\n:END:\n* Settings\n:PROPERTIES:\n:LLM: mine\n:END:\n")
	see(t, e, "the name of the model", func() bool { return e.Server().Model == "mine-1" })
	if got := ask(t, e, "q1", "hi"); got.state != "answered" {
		t.Errorf("the turn ended %+v", got)
	}
	wantBare(t, e, "* hi\n** From config.org\n* ")
	in.write(t, "config.org", "* Settings\n:PROPERTIES:\n:LLM: nobody\n:END:\n")
	noticed(t, e, "the models stay as they were")
}

// A client can tell whether the kernel has its environment, and learns no value of it.
func TestVariablesOfTheKernel(t *testing.T) {
	in := newInstance(t)
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	token := string(in.token(t))
	found := map[string]string{}
	for _, v := range e.Server().Variables {
		found[v.Name] = v.Digest
	}
	const name = "ORG_AGENT_LLM_API_KEY"
	if want := protocol.VariableDigest(token, name, in.variables[name]); found[name] != want || want == "" {
		t.Errorf("the digest is %q, want %q", found[name], want)
	}
	if digest, listed := found["OPENAI_API_KEY"]; !listed || digest != "" {
		t.Errorf("a variable that is not set has %q, %v", digest, listed)
	}
	if protocol.VariableDigest(token, name, "a") == protocol.VariableDigest(token, name, "b") || protocol.VariableDigest(token, name, "a") != protocol.VariableDigest(token, name, " a ") {
		t.Error("digests do not tell values apart")
	}
}
