package daemon_test

import (
	"fmt"
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

// However many skills there are and however much is wrong with them, the list fits a frame
// and says how many it leaves out; a model is told of some, and finds the others.
func TestVeryManyPromptSkills(t *testing.T) {
	in, model := newInstanceAndModel(t, calling("list_skills", `:query "number 1999."`), llmtest.Exchange{Reply: insertion("* Done"), Times: -1})
	for i := range 2000 {
		name := fmt.Sprintf("s%d", i)
		in.write(t, "skills/"+name+"/SKILL.md", "---\nname: "+name+"\ndescription: "+strings.Repeat("word ", 180)+fmt.Sprintf("number %d.", i)+"\n---\nText.")
	}
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	var list protocol.SkillListResult
	if err := e.Call(within(t), protocol.MethodSkillList, protocol.Empty{}, &list); err != nil {
		t.Fatal(err)
	}
	if list.Left == 0 || len(list.Skills) < 1000 || len(list.Commands) > 1100 {
		t.Errorf("%d skills, %d left, %d commands", len(list.Skills), list.Left, len(list.Commands))
	}
	ask(t, e, "q1", "hi")
	prompts, lasts := systems(model)
	if len(prompts[0]) > 26<<10 || !strings.Contains(prompts[0], " more, which =list_skills= finds") {
		t.Errorf("the system prompt has %d bytes and ends …%s", len(prompts[0]), prompts[0][len(prompts[0])-300:])
	}
	if !strings.Contains(lasts[1], "- s1999: word") || len(lasts[1]) > 3000 {
		t.Errorf("the skill was not found: %.500s", lasts[1])
	}
}
