package tool

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"unicode/utf8"

	"org-agent/kernel/protocol"
	"org-agent/kernel/skillmd"
)

//go:embed use_skill.md
var useSkillManual string

// What a turn may have of skills. A reply is bounded by [skillmd.ReplyBytes].
const (
	turnSkills = 5
	turnBytes  = 256 << 10
)

type useSkillArguments struct {
	Name    string `doc:"the skill's name" required:"true"`
	Section string `doc:"a heading: only what stands below it"`
	File    string `doc:"a file of the skill, by its path beneath the skill's directory"`
}

func useSkill(skills func() *skillmd.Set) Tool {
	return New(Definition[useSkillArguments]{
		Name: "use_skill", Manual: useSkillManual, Own: true, Effect: protocol.ToolReads,
		Offered: func() bool { return len(skills().Offered()) > 0 },
		Perform: func(ctx context.Context, by *Caller, a useSkillArguments) (string, error) {
			set := skills()
			k := set.Named(a.Name)
			if k == nil || k.OnlyUser && by.Asked != k.Name {
				return "", unknownSkill(set, a.Name)
			}
			if !by.use(k.Name, turnSkills) {
				return "", fmt.Errorf("%d skills were used in this turn, which is all it may: answer with what you have", turnSkills)
			}
			text, err := k.Read(a.File, a.Section)
			if err != nil {
				return "", err
			}
			return portion(by, text)
		},
	})
}

func unknownSkill(set *skillmd.Set, name string) error {
	if near := set.Nearest(name); near != "" {
		return fmt.Errorf("there is no skill %q; did you mean %q?", name, near)
	}
	return fmt.Errorf("there is no skill %q; list_skills says which there are", name)
}

// portion is as much of the text as the turn may still have.
func portion(by *Caller, text string) (string, error) {
	got := by.take(len(text), turnBytes)
	if got == len(text) {
		return text, nil
	}
	for got > 0 && !utf8.RuneStart(text[got]) {
		got--
	}
	if got == 0 {
		return "", errors.New("this turn has had 256 KiB of skills, which is all it may: answer with what you have")
	}
	return text[:got] + "[Cut here: this turn has had 256 KiB of skills, which is all it may.]", nil
}
