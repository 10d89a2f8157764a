package daemon_test

import (
	"net/http"
	"os"
	"slices"
	"strings"
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

// A model is tried with one short request, and written into config.org if it answers: then it
// answers the next message. Its key is where it was and stands nowhere else.
func TestSetup(t *testing.T) {
	in := newInstance(t)
	model := llmtest.Start(t, llmtest.Exchange{Match: "^Say ok", Reply: "ok", Times: -1}, llmtest.Exchange{Reply: insertion("From the new one"), Times: -1})
	g := guard(t, model, map[string]int{canary + "-bad": http.StatusUnauthorized})
	in.variables["GOOD"], in.variables["BAD"] = canary, canary+"-bad"
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	var found protocol.SetupFindResult
	if err := e.Call(within(t), protocol.MethodSetupFind, nil, &found); err != nil || found.File != in.paths.Config || found.Model != "test-model" {
		t.Errorf("found %+v, %v", found, err)
	}
	before, err := os.ReadFile(in.paths.Config)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"env:BAD": "the key was not accepted", "env:NONE": "NONE, which is not set", canary: "do not write a key into a file"} {
		err := e.Call(within(t), protocol.MethodSetupAdd, protocol.SetupAddParams{Name: "mine", BaseURL: g.URL + "/v1", Model: "m1", Key: key}, nil)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), canary) {
			t.Errorf("with %s: %v", want, err)
		}
	}
	if now, _ := os.ReadFile(in.paths.Config); string(now) != string(before) {
		t.Error("config.org has changed without an answer")
	}
	var listed protocol.SetupModelsResult
	if err := e.Call(within(t), protocol.MethodSetupModels, protocol.SetupModelsParams{BaseURL: g.URL + "/v1", Key: "env:GOOD"}, &listed); err != nil || len(listed.Models) == 0 {
		t.Errorf("listed are %+v, %v", listed, err)
	}
	var added protocol.SetupAddResult
	if err := e.Call(within(t), protocol.MethodSetupAdd, protocol.SetupAddParams{Name: "mine", BaseURL: g.URL + "/v1", Model: "m1", Key: "env:GOOD"}, &added); err != nil {
		t.Fatal(err)
	}
	if added.Answers != "m1" || added.Decides != "" || added.Line == 0 {
		t.Errorf("added: %+v", added)
	}
	if got := ask(t, e, "q1", "hi"); got.state != "answered" {
		t.Errorf("the turn ended %+v", got)
	}
	wantBare(t, e, "* hi\n** From the new one\n* ")
	log, err := os.ReadFile(in.paths.Log)
	if now, _ := os.ReadFile(in.paths.Config); err != nil || strings.Contains(string(now)+string(log), canary) || !slices.Contains(e.ChangedFiles(), in.paths.Config) {
		t.Errorf("the key stands in config.org or in the log, or editors do not know: %v", err)
	}
	in.write(t, "config.org", "* Settings\n:PROPERTIES:\n:LLM: builtin\n:END:\n")
	if err := e.Call(within(t), protocol.MethodSetupAdd, protocol.SetupAddParams{Name: "mine", BaseURL: g.URL + "/v1", Model: "m1", Key: "env:GOOD"}, &added); err != nil || !strings.Contains(added.Decides, "LLM in config.org is builtin") {
		t.Errorf("added: %+v, %v", added, err)
	}
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
