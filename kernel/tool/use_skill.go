package tool

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"org-agent/kernel/protocol"
	"org-agent/kernel/skillmd"
	"org-agent/kernel/text"
)

//go:embed use_skill.md
var useSkillManual string

// How much one turn may read of skills. [skillmd.ReplyBytes] limits a single reply.
const (
	turnSkills = 5
	turnBytes  = 256 << 10
)

type useSkillArguments struct {
	Name    string `doc:"the skill's name" required:"true"`
	Section string `doc:"a heading: return only the text below it"`
	File    string `doc:"a file of the skill, as a path below the skill's directory"`
}

func useSkill(skills func() *skillmd.Set) Tool {
	return New(Definition[useSkillArguments]{
		Name: "use_skill", Manual: useSkillManual, Own: true, Effect: protocol.ToolReads,
		Offered: func() bool { return len(skills().Offered()) > 0 },
		Perform: func(ctx context.Context, by *Caller, a useSkillArguments) (string, error) {
			set := skills()
			k := set.Named(a.Name)
			if k == nil || k.Matter.OnlyUser && by.RequestedSkill != k.Name {
				return "", unknownSkill(set, a.Name)
			}
			if !by.use(k.Name, turnSkills) {
				return "", fmt.Errorf("%d skills were used in this turn, which is all it may: answer with what you have", turnSkills)
			}
			read, err := k.Read(a.File, a.Section)
			if err != nil {
				return "", err
			}
			return withinTurn(by, read)
		},
	})
}

func unknownSkill(set *skillmd.Set, name string) error {
	if near := set.Nearest(name); near != "" {
		return fmt.Errorf("there is no skill %q; did you mean %q?", name, near)
	}
	return fmt.Errorf("there is no skill %q; list_skills says which there are", name)
}

// withinTurn returns as much of source as the turn may still read.
func withinTurn(by *Caller, source string) (string, error) {
	part := text.Prefix(source, by.take(len(source), turnBytes))
	if part == source {
		return source, nil
	}
	if part == "" {
		return "", errors.New("this turn has had 256 KiB of skills, which is all it may: answer with what you have")
	}
	return part + "[Cut here: this turn has had 256 KiB of skills, which is all it may.]", nil
}
