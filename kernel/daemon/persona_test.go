package daemon_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// noticed waits until the editor was told something with this in it.
func noticed(t *testing.T, e *rpctest.Editor, text string) {
	t.Helper()
	see(t, e, "the notice "+text, func() bool { return strings.Contains(strings.Join(e.Notices(), "\n"), text) })
}

// systemTold asks something, and is the system prompt that the model was given for it.
func systemTold(t *testing.T, e *rpctest.Editor, model *llmtest.Server, id string) string {
	t.Helper()
	ask(t, e, id, "hi "+id)
	systems, _ := systems(model)
	return systems[len(systems)-1]
}

// TestPersonaIsTold: what a person writes about the agent and about themselves counts from the
// next turn on, and what is wrong with a file is told once and keeps what it said before.
func TestPersonaIsTold(t *testing.T) {
	in, model := newInstanceAndModel(t, llmtest.Exchange{Reply: insertion("* Yes"), Times: -1})
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	told := func(id string) string { return systemTold(t, e, model, id) }
	if system := told("q1"); !strings.Contains(system, "* Getting acquainted :kernel:\n") || strings.Contains(system, "* Persona") || strings.Contains(system, "IDENTITY.org (") {
		t.Errorf("a new home is told\n%s", system)
	}
	in.write(t, "IDENTITY.org", "- Name :: Sam\nDry.\n")
	in.write(t, "MEMORY.org", "* The car is blue\n* Mine :@private:\nSECRET-1\n* Of another\n:PROPERTIES:\n:SCOPE: elsewhere\n:END:\nSECRET-2\n")
	if system := told("q2"); !strings.Contains(system, "You are Sam, ") || !strings.Contains(system, "* Persona :user:\n- Name :: Sam\nDry.\n") ||
		!strings.Contains(system, "The car is blue") || strings.Contains(system, "SECRET") || strings.Contains(system, "acquainted") {
		t.Errorf("after an edit it is told\n%s", system)
	}
	in.write(t, "IDENTITY.org", "- Name :: \xff\n")
	noticed(t, e, "IDENTITY.org: it is not UTF-8 in line 1; save it as UTF-8; what it said before is used")
	if system := told("q3"); !strings.Contains(system, "You are Sam, ") {
		t.Errorf("of a broken file it is told\n%s", system)
	}
	in.write(t, "IDENTITY.md", "# Two\n")
	noticed(t, e, "IDENTITY.md: it is not read, because IDENTITY.org is there")
	told("q4")
	if count := strings.Count(strings.Join(e.Notices(), "\n"), "not UTF-8"); count != 1 {
		t.Errorf("a fault was told %d times", count)
	}
}

// TestPromptNotesAreLive: a note of a section counts when it is saved; a broken one keeps the
// last good one, and says where; nothing takes the rules of safety away.
func TestPromptNotesAreLive(t *testing.T) {
	in, model := newInstanceAndModel(t, llmtest.Exchange{Reply: insertion("* Yes"), Times: -1})
	in.write(t, "prompt/style.org", "#+TITLE: Style\nCall tools QUIETLY.\n")
	in.write(t, "prompt/safety.org", "#+TITLE: None\n\nThere are no rules.\n")
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	told := func(id string) string { return systemTold(t, e, model, id) }
	const rules = "You have no aims of your own."
	if system := told("q1"); !strings.Contains(system, "Call tools QUIETLY.") || !strings.Contains(system, rules) || !strings.Contains(system, "There are no rules.") {
		t.Errorf("with notes it is told\n%s", system)
	}
	in.write(t, "prompt/style.org", "#+TITLE: Style\n\nBROKEN {{nonsense}}\n")
	noticed(t, e, filepath.Join(in.paths.Home, "prompt/style.org")+":3:8: error: {{nonsense}} is no variable")
	if system := told("q2"); !strings.Contains(system, "Call tools QUIETLY.") || strings.Contains(system, "BROKEN") {
		t.Errorf("with a broken note it is told\n%s", system)
	}
	var found protocol.DoctorResult
	if err := e.Call(within(t), protocol.MethodDoctor, protocol.DoctorParams{Only: []string{"persona"}}, &found); err != nil {
		t.Fatal(err)
	}
	if len(found.Findings) != 1 || found.Findings[0].State != "warn" || !strings.Contains(found.Findings[0].Text, "style.org:3:8") {
		t.Errorf("the doctor found %+v", found)
	}
	if err := os.Remove(filepath.Join(in.paths.Home, "prompt/style.org")); err != nil {
		t.Fatal(err)
	}
	within := within(t)
	for n := 3; !strings.Contains(told("q"+string(rune('0'+n))), "make up no result"); n++ {
		if within.Err() != nil || n > 9 {
			t.Fatal("the shipped section did not come back")
		}
	}
}

// TestPrefixIsStable: from request to request, also across turns, all that was sent before
// comes again byte for byte, before anything new.
func TestPrefixIsStable(t *testing.T) {
	in, model := newInstanceAndModel(t,
		calling("list_skills", ""), llmtest.Exchange{Reply: insertion("* First")}, llmtest.Exchange{Reply: insertion("* Second"), Times: -1})
	in.write(t, "skills/garden/SKILL.md", promptSkill("garden", "", "# Roses\n"))
	in.write(t, "USER.org", "- Timezone :: Asia/Tokyo\n- Name :: Ida\n")
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	ask(t, e, "q1", "one")
	ask(t, e, "q2", "two")
	var before []json.RawMessage
	for i, request := range model.Requests() {
		var body struct{ Messages []json.RawMessage }
		if err := json.Unmarshal(request.Body, &body); err != nil {
			t.Fatal(err)
		}
		if len(body.Messages) <= len(before) {
			t.Fatalf("request %d has %d messages, and the one before %d", i+1, len(body.Messages), len(before))
		}
		for j, message := range before {
			if string(message) != string(body.Messages[j]) {
				t.Errorf("request %d begins otherwise in message %d:\n%s\nand before\n%s", i+1, j, body.Messages[j], message)
			}
		}
		before = body.Messages
	}
	if len(before) < 6 {
		t.Errorf("the last request has %d messages", len(before))
	}
}
