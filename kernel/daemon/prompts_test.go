package daemon_test

import (
	"slices"
	"strings"
	"testing"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// promptSkill is a SKILL.md.
func promptSkill(name, more, body string) string {
	return "---\nname: " + name + "\ndescription: What " + name + " is for.\n" + more + "---\n" + body
}

// promptStates are the prompt skills as the wire lists them: "NAME STATE".
func promptStates(t testing.TB, e *rpctest.Editor) string {
	t.Helper()
	var list protocol.SkillListResult
	if err := e.Call(within(t), protocol.MethodSkillList, protocol.Empty{}, &list); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, s := range list.Skills {
		if s.Kind == "prompt" && !s.Shipped {
			lines = append(lines, s.Skill+" "+string(s.State)+" "+strings.Join(s.Reasons, "; "))
		}
	}
	slices.Sort(lines)
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// A skill is there when it is saved, and what decides about it is looked at again when it
// changes: the file, the settings, a note of its name.
func TestPromptSkillsFollowTheirFiles(t *testing.T) {
	in := newInstance(t, llmtest.Exchange{Echo: true, Times: -1})
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	wait := func(want string) {
		t.Helper()
		until(t, want, func() bool { return strings.HasPrefix(promptStates(t, e), want) })
	}
	in.write(t, "skills/garden/SKILL.md", promptSkill("garden", "", "Water it."))
	wait("garden effective")
	in.write(t, "config.org", "* Settings\n:PROPERTIES:\n:SKILLS_DISABLED: garden\n:END:\n")
	wait("garden disabled SKILLS_DISABLED")
	in.write(t, "config.org", "* Garden\n:PROPERTIES:\n:SIZE: large\n:END:\n")
	wait("garden effective")
	in.write(t, "skills/garden/SKILL.md", promptSkill("garden", "metadata: {requires: {config: [garden.size, garden.tools]}}\n", "Water it."))
	wait("garden ineligible config.org has no value for garden.tools")
	in.write(t, "skills/garden/SKILL.md", promptSkill("garden", "", "Water it."))
	in.write(t, "skills/garden.org", lisp(`(defun never (c) (declare (ignore c)) nil) (defskill :garden :trigger #'never)`))
	wait("garden shadowed the note ")
	var check protocol.SkillCheckResult
	text := "---\nname: x\n---\n"
	if err := e.Call(within(t), protocol.MethodSkillCheck, protocol.SkillParams{File: "/a/garden/SKILL.md", Text: &text}, &check); err != nil {
		t.Fatal(err)
	}
	if len(check.Diagnostics) < 2 || check.Diagnostics[0].Line != 2 || !strings.Contains(check.Diagnostics[0].Message, `"garden"`) {
		t.Errorf("check: %+v", check)
	}
}
