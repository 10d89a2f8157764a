package policy

import (
	"errors"
	"os"
	"strings"
	"time"

	"org-agent/kernel/org"
	"org-agent/kernel/text"
)

// rulesIntroduction is the text that the kernel writes above its first rule.
const rulesIntroduction = `* Rules

What the agent may do without asking you, and what it may not do at all. A row is written here when you
answer a question with "always"; you may add, change and delete rows, and what you save counts at once.

`

// whyLimit is how many bytes of what was allowed a row has in its column "why".
const whyLimit = 160

// Allow adds a row that allows the one action with this hash. why is what the action does, in one
// line. There is at most one such row for an action. The file is replaced in one step and only if it
// has not changed since it was read. It is an error, and the file stays as it is, if the rules cannot
// be read, if the file is read-only, or if Emacs has unsaved changes of it.
func (f *RuleFile) Allow(hash, why string, now time.Time) error {
	return f.add(now, ruleCells{rule: "action", matches: hash, why: why})
}

// ruleCells are the cells of a row that allows something.
type ruleCells struct{ rule, matches, why string }

// add adds rows that allow something, without those that are there.
func (f *RuleFile) add(now time.Time, rows ...ruleCells) error {
	return f.change(func(rules *Rules, source string) (string, error) {
		for _, row := range rows {
			name := Row{Rule: row.rule, Matches: row.matches}.Name()
			there := false
			for _, r := range rules.Rows() {
				there = there || r.Name() == name && r.Verdict == Allow
			}
			if there {
				continue
			}
			cells := []string{row.rule, row.matches, Allow.String(), text.Clip(text.Line(row.why), whyLimit), now.Format("[2006-01-02 Mon]")}
			for i := range cells {
				cells[i] = strings.ReplaceAll(cells[i], "|", `\vert{}`)
			}
			source = org.ReadSettingsTable(source, "Rules").Append(ruleColumns, cells, rulesIntroduction)
		}
		return source, nil
	})
}

// ErrRowChanged is the error of [RuleFile.Remove] if the row is not there any more.
var ErrRowChanged = errors.New("policy.org has changed, and this row is not where it was: look at it again")

// Remove removes the row in this line if it still has this [Row.Name].
func (f *RuleFile) Remove(line int, name string) error {
	return f.change(func(rules *Rules, source string) (string, error) {
		for _, r := range rules.Rows() {
			if r.Line != line || r.Name() != name {
				continue
			}
			table := org.ReadSettingsTable(source, "Rules")
			for _, row := range table.Rows {
				if row.Line == line {
					return table.Remove(row), nil
				}
			}
		}
		return "", ErrRowChanged
	})
}

// change replaces the text of the file by the result of edit.
func (f *RuleFile) change(edit func(rules *Rules, source string) (string, error)) error {
	if f == nil {
		return errors.New("there is no policy.org")
	}
	return f.file().Change(func(source string) (string, error) {
		user, _ := os.UserHomeDir() // "" if there is none
		rules := ParseRules(source, f.Path, f.Home, user)
		if len(rules.faults) > 0 {
			return "", rules.faults[0]
		}
		return edit(rules, source)
	})
}
