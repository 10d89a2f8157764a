package daemon_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"org-agent/kernel/act"
	"org-agent/kernel/daemon"
	"org-agent/kernel/kind"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
	"org-agent/kernel/skillmd"
	"org-agent/kernel/tool"
	"org-agent/skills"
)

// TestPromptNamesOnlyTools: with the tools, the skills and the forms that there are, whichever of
// them are taken away, in every mode and for every kind of turn, the prompt lists the tools that
// are offered and names no other anywhere.
func TestPromptNamesOnlyTools(t *testing.T) {
	library, faults := prompt.Load("")
	if faults != nil {
		t.Fatal(faults)
	}
	all, err := tool.BuiltIn(tool.Deps{Skills: func() *skillmd.Set { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]string{}
	for _, one := range all.All() {
		lines[one.Name()] = one.Line()
	}
	known := slices.Concat(all.Names(), library.ToolsNamed())
	registry := skill.New(skill.Config{Shipped: skills.Notes(), Specs: kind.New(daemon.Kinds(act.Deps{})...).Specs})
	registry.Load(t.Context())
	augments := registry.Current().Augments(t.Context())
	forms := kind.New(act.Kinds(act.Deps{})...).Specs().Forms(protocol.Route{Channel: "emacs"})
	names := regexp.MustCompile(`[a-z]+(?:_[a-z]+)+`)
	rapid.Check(t, func(t *rapid.T) {
		facts := prompt.Facts{Mode: rapid.SampledFrom(prompt.Modes()).Draw(t, "mode"), Kind: rapid.SampledFrom(prompt.Kinds()).Draw(t, "kind"),
			Augments: augments, Skills: "- garden: about roses", MoreSkills: 2, Unwritten: "~/.org-agent"}
		var offered []string
		for _, name := range all.Names() {
			if rapid.Bool().Draw(t, name) {
				offered = append(offered, name)
				facts.Tools = append(facts.Tools, prompt.Tool{Name: name, Line: lines[name]})
			}
		}
		for _, form := range forms {
			if rapid.Bool().Draw(t, form.Text) && (form.Target != "tool" || len(offered) > 0) {
				facts.Formats = append(facts.Formats, "- "+form.String())
			}
		}
		composed := library.Compose(facts)
		if faults := composed.Lint(known, offered); faults != nil {
			t.Fatal(faults)
		}
		for _, name := range names.FindAllString(composed.Text, -1) {
			if slices.Contains(known, name) && !slices.Contains(offered, name) {
				t.Fatalf("%s is not offered, and named in\n%s", name, composed.Text)
			}
		}
		for _, name := range all.Names() {
			if listed := strings.Contains(composed.Text, "\n- "+name+" "); listed != (slices.Contains(offered, name) && facts.Mode != prompt.None) {
				t.Fatalf("%s is listed: %v in\n%s", name, listed, composed.Text)
			}
		}
	})
}
