package skill_test

import (
	"os"
	"strings"
	"testing"

	"org-agent/kernel/skill"
)

// TestExampleWithServer checks that the note of README.org that asks a server is live and passes its tests,
// asks its person for that one server, and asks no other when its tool is called.
func TestExampleWithServer(t *testing.T) {
	text, err := os.ReadFile("README.org")
	if err != nil {
		t.Fatal(err)
	}
	_, note, found := strings.Cut(string(text), "#+begin_src org\n,#+TITLE: Rates\n")
	note, _, ended := strings.Cut(note, "\n#+end_src\n")
	if !found || !ended {
		t.Fatal("README.org has no note Rates")
	}
	h := newGrantHome(t)
	h.put("home/skills/rates.org", strings.ReplaceAll("\n,#+TITLE: Rates\n"+note, "\n,", "\n"))
	h.registry.Load(t.Context())
	status := h.registry.Statuses()[0]
	if status.State != skill.Live || len(status.Diagnostics) != 1 || !strings.Contains(status.Diagnostics[0].Message, "not granted: net:api.frankfurter.dev (never granted)") {
		t.Fatalf("%+v", status)
	}
	n, err := skill.LoadNote(t.Context(), h.note("rates.org"), []byte(h.get("home/skills/rates.org")), skill.Options{Grants: h.grants()})
	if err != nil {
		t.Fatal(err)
	}
	results, err := n.Test(t.Context())
	if err != nil || len(results) != 1 || len(results[0].Faults) > 0 || results[0].Criterion != "It reads the rate" {
		t.Errorf("%+v, %v", results, err)
	}
	shown, err := h.registry.Requests(h.note("rates.org"))
	if err != nil || len(shown.Capabilities) != 1 || shown.Capabilities[0].Meaning != "ask the server api.frankfurter.dev over the network, and send it what the note reads and is told" {
		t.Errorf("%+v, %v", shown, err)
	}
}
