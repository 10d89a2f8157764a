package daemon_test

import (
	"strings"
	"testing"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/memory"
	"org-agent/kernel/rpc/rpctest"
)

// TestDisclosure: each of the person's files says how much of it a prompt has: its text, that it
// is there, or nothing; a word that is none of these is told, and the file is shown as without it.
func TestDisclosure(t *testing.T) {
	in, model := newInstanceAndModel(t, llmtest.Exchange{Reply: insertion("* Yes"), Times: -1})
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	told := func(disclosure string) string {
		t.Helper()
		for _, role := range memory.Roles() {
			in.write(t, role+".org", "#+TITLE: It\n#+DISCLOSURE: "+disclosure+"\n- Name :: Sam\nWORDS-OF-"+role+"\n")
		}
		ask(t, e, "q-"+disclosure, "hi")
		systems, _ := systems(model)
		return systems[len(systems)-1]
	}
	for disclosure, want := range map[string]struct{ text, path bool }{
		"whole": {true, true}, "Listed": {false, true}, "left-out": {false, false}, "sometimes": {true, true},
	} {
		system := told(disclosure)
		for _, role := range memory.Roles() {
			path := strings.Contains(system, role+".org (")
			text := strings.Contains(system, "WORDS-OF-"+role)
			if path != want.path || text != (want.text && role != "HEARTBEAT") { // that is for its own kind of turn
				t.Errorf("%s, %s: its path is told: %t, its text: %t\n%s", disclosure, role, path, text, system)
			}
		}
		if !strings.Contains(system, "You are Sam, ") {
			t.Errorf("%s: the name is lost", disclosure)
		}
	}
	noticed(t, e, `#+DISCLOSURE: "sometimes" is none of whole, listed and left-out; it is shown whole`)
}
