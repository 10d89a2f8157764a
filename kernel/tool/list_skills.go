package tool

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"org-agent/kernel/protocol"
	"org-agent/kernel/skillmd"
)

//go:embed list_skills.md
var listSkillsManual string

// listedBytes is the maximum size of a list in bytes.
const listedBytes = 32 << 10

type listSkillsArguments struct {
	Query string `doc:"words that occur in the name or the description"`
}

func listSkills(skills func() *skillmd.Set) Tool {
	return New(Definition[listSkillsArguments]{
		Name: "list_skills", Manual: listSkillsManual, Own: true, Effect: protocol.ToolReads,
		Offered: func() bool { return len(skills().Offered()) > 0 },
		Perform: func(_ context.Context, by *Caller, a listSkillsArguments) (string, error) {
			var found []*skillmd.Skill
			for _, k := range skills().Offered() {
				if matches(strings.ToLower(k.Name+" "+k.Matter.Description), a.Query) {
					found = append(found, k)
				}
			}
			if len(found) == 0 {
				return "", fmt.Errorf("no skill has all of these words: %q; ask with fewer", a.Query)
			}
			list, left := skillmd.Catalog(found, listedBytes)
			if left > 0 {
				list += fmt.Sprintf("- and %d more: ask with a query\n", left)
			}
			return list, nil
		},
	})
}

func matches(text, query string) bool {
	for _, word := range strings.Fields(strings.ToLower(query)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}
