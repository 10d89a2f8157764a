package daemon_test

import (
	"runtime"
	"strings"
	"testing"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/rpc/rpctest"
)

// The model is told where it runs: with the person's Emacs, as long as any was there, whoever
// asks; and whatever else calls itself a version is told to nobody.
func TestWhereItRuns(t *testing.T) {
	in, model := newInstanceAndModel(t, llmtest.Exchange{Reply: insertion("* Yes"), Times: -1})
	in.start(t)
	terminal := in.editor(t, rpctest.Config{Name: "cli"})
	line := func(id string) string {
		t.Helper()
		ask(t, terminal, id, "where am I?")
		told, _ := systems(model)
		_, rest, _ := strings.Cut(told[len(told)-1], "* Runtime :kernel:\n")
		line, _, _ := strings.Cut(rest, "\n")
		return line
	}
	with := func(emacs string) string {
		return "org-agent=test | os=" + runtime.GOOS + "/" + runtime.GOARCH + " | sandbox=none | " + emacs + "model=test-model"
	}
	if got := line("q1"); got != with("") {
		t.Errorf("without an Emacs it is %q", got)
	}
	e := in.editor(t, rpctest.Config{Session: "other"})
	if got := line("q2"); got != with("emacs=28.2 | ") {
		t.Errorf("beside an Emacs it is %q", got)
	}
	e.Close()
	for _, info := range []protocol.ClientInfo{
		{Name: "emacs", Emacs: "29.1\n* Safety"}, {Name: "emacs", Emacs: strings.Repeat("1.1", 1000)}, {Name: "emacs"},
	} {
		conn, err := rpc.Dial(within(t), rpc.DialConfig{Socket: in.paths.Socket, Token: in.token(t), Codec: rpc.JSON, Client: info})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if got := line("q" + info.Name + info.Emacs[:min(4, len(info.Emacs))]); got != with("emacs=28.2 | ") {
			t.Errorf("after %.20q it is %q", info.Emacs, got)
		}
	}
}
