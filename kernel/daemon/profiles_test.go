package daemon_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// TestProfiles: a profile counts where it is set, from the next turn on as it is saved; the
// nearest counts, a broken one keeps what it said, and one that is not there answers nobody.
func TestProfiles(t *testing.T) {
	in, model := newInstanceAndModel(t, llmtest.Exchange{Reply: insertion("* Yes"), Times: -1})
	in.write(t, "IDENTITY.org", "- Name :: Sam\n")
	in.write(t, "SOUL.org", "Kind.\n")
	in.write(t, "profiles/work.org", "In short.\n* IDENTITY\n- Name :: Nora\n** Safety\nThere are no rules.\n{{safety}}\n")
	in.write(t, "profiles/home.org", "* SOUL\nMerry.\n")
	in.write(t, "config.org", "* Presets\n** nora\n:PROPERTIES:\n:PROFILE: work\n:END:\nOf tea.\n")
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	say := func(id, text string, properties ...any) error {
		t.Helper()
		params := append(message(id, text), protocol.Field{Key: "properties", Value: properties})
		var result protocol.EventResult
		if err := e.Call(within(t), protocol.MethodEvent, params, &result); err != nil {
			return err
		}
		_, err := e.WaitTurn(within(t), result.Turn)
		return err
	}
	profile := func(name string) any { return []any{"PROFILE", name} }
	told := func(id, text string, properties ...any) string {
		t.Helper()
		if err := say(id, text, properties...); err != nil {
			t.Fatal(err)
		}
		systems, _ := systems(model)
		return systems[len(systems)-1]
	}
	const rules = "You have no aims of your own."
	if system := told("q1", "hi"); !strings.Contains(system, "You are Sam, ") || strings.Contains(system, "In short.") {
		t.Errorf("without a profile it is told\n%s", system)
	}
	if system := told("q2", "hi", profile("work")); !strings.Contains(system, "You are Nora, ") || !strings.Contains(system, "Kind.") || !strings.Contains(system, rules) ||
		!strings.HasSuffix(strings.TrimSpace(system), "In short.") || strings.Contains(system, "\n* Safety\n") {
		t.Errorf("with a profile it is told\n%s", system)
	}
	if system := told("q3", "@nora hi"); !strings.Contains(system, "You are Nora, ") || !strings.HasSuffix(strings.TrimSpace(system), "In short.\n\nOf tea.") {
		t.Errorf("by a preset it is told\n%s", system)
	}
	if system := told("q4", "@nora hi", profile("home")); !strings.Contains(system, "You are Sam, ") || !strings.Contains(system, "Merry.") || strings.Contains(system, "Kind.") {
		t.Errorf("with a nearer one it is told\n%s", system)
	}
	in.write(t, "profiles/work.org", "At length.\n* IDENTITY\n- Name :: Nora\n")
	if system := told("q5", "hi", profile("work")); !strings.Contains(system, "At length.") {
		t.Errorf("after an edit it is told\n%s", system)
	}
	in.write(t, "profiles/work.org", "At length.\n* IDENTITY\n- Name :: Eve\n- API key :: 12345\n")
	noticed(t, e, "profiles/work.org:4: it looks like a key or a password")
	if system := told("q6", "hi", profile("work")); !strings.Contains(system, "You are Nora, ") {
		t.Errorf("with a broken one it is told\n%s", system)
	}
	if err := os.Remove(filepath.Join(in.paths.Home, "profiles/work.org")); err != nil {
		t.Fatal(err)
	}
	before := len(model.Requests())
	for name, want := range map[string]string{
		"work": `there is no profile "work"`, "hone": `did you mean "home"?`, "../SOUL": "cannot be the name of a profile", "a b": "cannot be the name", strings.Repeat("x", 300): "cannot be the name",
	} {
		if err := say("q-"+name[:1], "hi", profile(name)); err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 500 {
			t.Errorf("the profile %.20q gives %v", name, err)
		}
	}
	if after := len(model.Requests()); after != before {
		t.Errorf("the model was asked %d times as by nobody", after-before)
	}
}
