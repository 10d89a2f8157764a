package policy

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"org-agent/kernel/action"
	"org-agent/kernel/org"
	"org-agent/kernel/protocol"
	"org-agent/kernel/suggest"
	"org-agent/kernel/tablefile"
)

// Rules are the rules that a person wrote under "Rules" in policy.org. They do not change.
type Rules struct {
	rules  []rule
	faults []Fault
}

// Fault is an error in a line of policy.org.
type Fault = tablefile.Fault

// Faults returns the errors of the file. While there are any, everything that a rule could decide
// is refused.
func (r *Rules) Faults() []Fault { return slices.Clone(r.faults) }

// rule is one row of the table.
type rule struct {
	Row
	kind    string // reads, writes, runs, fetches, sends, tool or action
	tool    string
	key     action.Key // the name "" means all actions of the target
	hash    string     // of the one action that the rule is about, "" for a rule about more
	inside  string     // the real directory in which the command runs, "" for any
	words   argvPattern
	path    pathPattern
	address addressPattern
	chat    chatPattern
}

// Row is a row of the table as a person sees it. The cells have no markup of Org around them.
type Row struct {
	Line          int
	Rule, Matches string
	Verdict       Kind
	Why, Since    string
}

// Name identifies a rule by what it is about, wherever its row stands. The journal counts with it how
// often the rule allowed something.
func (r Row) Name() string { return strings.TrimSpace(r.Rule + " " + r.Matches) }

// Rows returns the rows that can be read, in their order.
func (r *Rules) Rows() []Row {
	rows := make([]Row, len(r.rules))
	for i, rule := range r.rules {
		rows[i] = rule.Row
	}
	return rows
}

// ruleColumns are the columns of the table.
var ruleColumns = []string{"rule", "matches", "verdict", "why", "since"}

// maximumFaults is how many faults of a file are reported.
const maximumFaults = 20

// tableReader reads the table of one file.
type tableReader struct {
	file, home, user string
	rules            *Rules
}

// ParseRules parses the text of a policy.org. File is its path. Relative names in it start at home,
// and ~ is user.
func ParseRules(text, file, home, user string) *Rules {
	t := &tableReader{file: file, home: home, user: user, rules: &Rules{}}
	table := org.ReadSettingsTable(text, "Rules")
	for i, row := range table.Rows {
		if i == 0 {
			if !slices.Equal(row.Cells, ruleColumns) {
				t.fault(row.Line, "the table of rules begins with | rule | matches | verdict | why | since |")
			}
			continue
		}
		r, err := t.row(row.Cells)
		if err != nil {
			t.fault(row.Line, "%v", err)
			continue
		}
		r.Line = row.Line
		t.rules.rules = append(t.rules.rules, r)
	}
	if table.Again != 0 {
		t.fault(table.Again, "there is a second heading %q: keep all rules in one table", "Rules")
	}
	t.checkElsewhere(table)
	return t.rules
}

// checkElsewhere reports rules that are not in the table, because nobody would notice that they do not
// count, not even those that refuse. One report is enough for a table.
func (t *tableReader) checkElsewhere(table *org.SettingsTable) {
	reported := -2
	for _, row := range table.Elsewhere() {
		if table.Again != 0 && row.Line > table.Again {
			return
		}
		if _, err := t.row(row.Cells); err != nil && !meantAsRule(row.Cells) {
			continue
		}
		if row.Line > reported+2 { // there may be a line between two rows
			t.fault(row.Line, "a rule counts only in the table under the heading %q: move it there, or delete it", "Rules")
		}
		reported = row.Line
	}
}

// meantAsRule reports whether a row, which could not be a rule as it stands, has the cells of one or of the table's head
// in some number and order: what it is about beside its verdict.
func meantAsRule(cells []string) bool {
	has := func(of ...string) bool {
		return slices.ContainsFunc(cells, func(cell string) bool { return slices.Contains(of, strings.ToLower(unmarked(cell))) })
	}
	kind := has("reads", "writes", "runs", "fetches", "sends") || slices.ContainsFunc(cells, func(cell string) bool {
		name, of, _ := strings.Cut(strings.ToLower(unmarked(cell)), " ")
		return of != "" && (name == "tool" || name == "action" || name == "runs")
	})
	return kind && has("allow", "ask", "refuse") || has("rule") && has("verdict")
}

// unmarked returns the text of a cell without the emphasis around it.
func unmarked(cell string) string { return strings.Trim(cell, "*/_+=~ ") }

func (t *tableReader) fault(line int, format string, arguments ...any) {
	if len(t.rules.faults) < maximumFaults {
		t.rules.faults = append(t.rules.faults, Fault{File: t.file, Line: line, Message: fmt.Sprintf(format, arguments...)})
	}
}

// barOf replaces \vert, which is a bar everywhere in Org. A bar itself ends a cell.
var barOf = strings.NewReplacer(`\vert{}`, "|", `\vert`, "|")

// row parses one rule.
func (t *tableReader) row(cells []string) (rule, error) {
	if len(cells) != len(ruleColumns) {
		return rule{}, fmt.Errorf("the row has %d cells, not the five | rule | matches | verdict | why | since | (a bar in a cell is written \\vert{})", len(cells))
	}
	cells = slices.Clone(cells)
	for i := range cells {
		cells[i] = barOf.Replace(cells[i])
	}
	matches := plain(cells[1])
	r := rule{kind: strings.ToLower(cells[0]), Row: Row{Rule: cells[0], Matches: matches, Why: cells[3], Since: cells[4]}}
	verdicts := []string{"refuse", "ask", "allow"}
	verdict := slices.Index(verdicts, strings.ToLower(cells[2]))
	if verdict < 0 {
		return rule{}, fmt.Errorf("the verdict is allow, ask or refuse, not %q%s", cells[2], suggestion(cells[2], verdicts))
	}
	r.Verdict = Kind(verdict)
	var err error
	if name, directory, within := strings.Cut(cells[0], " "); within && strings.EqualFold(name, string(protocol.ReachRuns)) {
		r.kind = string(protocol.ReachRuns)
		if r.inside, err = t.directory(directory); err != nil {
			return rule{}, err
		}
	}
	switch r.kind {
	case string(protocol.ReachReads), string(protocol.ReachWrites):
		r.path, err = newPathPattern(matches, t.home, t.user)
	case string(protocol.ReachRuns):
		r.words, err = newArgvPattern(matches, r.Verdict)
	case string(protocol.ReachFetches):
		r.address, err = newAddressPattern(matches)
	case string(protocol.ReachSends):
		r.chat, err = newChatPattern(matches)
	default:
		err = r.about(cells[0], matches)
	}
	if err != nil {
		return rule{}, err
	}
	return r, nil
}

// directory parses the end of "runs in DIRECTORY".
func (t *tableReader) directory(text string) (string, error) {
	word, name, _ := strings.Cut(strings.TrimSpace(text), " ")
	name = plain(strings.TrimSpace(name))
	if !strings.EqualFold(word, "in") || name == "" {
		return "", fmt.Errorf("a rule for commands in one directory is written as runs in DIRECTORY, not runs %s", text)
	}
	if strings.Contains(name, "*") {
		return "", fmt.Errorf("runs in names one directory, and covers all that is below it: %s has a *", name)
	}
	path, err := newPathPattern(name, t.home, t.user)
	return path.fixed, err
}

// hashPattern matches the hash of an action.
var hashPattern = regexp.MustCompile(`^[0-9a-f]{64}$`)

// about parses the first cell of a row about a tool or an action. Such a row matches all of its
// calls.
func (r *rule) about(cell, matches string) error {
	kind, name, _ := strings.Cut(r.kind, " ")
	name = strings.TrimSpace(name)
	switch {
	case kind == "action" && name == "" && hashPattern.MatchString(matches):
		r.kind, r.hash = kind, matches
		return nil
	case kind == "action" && name == "":
		return fmt.Errorf("a rule for one action has its hash, 64 digits and small letters to f; a rule for more is written as action :TARGET :NAME")
	case kind == "tool" && name != "":
		r.tool = name
	case kind == "action" && name != "":
		words := strings.Fields(name)
		if len(words) > 2 || slices.ContainsFunc(words, func(word string) bool { return len(word) < 2 || word[0] != ':' }) {
			return fmt.Errorf("a rule for an action is written as action :TARGET :NAME, or action :TARGET for all of a target, not %q", cell)
		}
		r.key.Target = words[0][1:]
		if len(words) == 2 {
			r.key.Name = words[1][1:]
		}
	default:
		kinds := []string{"reads", "writes", "runs", "fetches", "sends", "runs in DIRECTORY", "tool NAME", "action :TARGET :NAME", "action"}
		return fmt.Errorf("a rule is one of %s, not %q%s", strings.Join(kinds, ", "), cell, suggestion(cell, kinds[:5]))
	}
	if r.kind = kind; matches != "" && matches != "*" {
		return fmt.Errorf("a rule for a tool or an action matches all its calls: leave that cell empty, or write rules for what is read, written, run, fetched or sent")
	}
	return nil
}

// suggestion returns the end of a message that suggests a similar word, or "".
func suggestion(word string, words []string) string {
	if near := suggest.Of(strings.ToLower(word), words); near != "" {
		return fmt.Sprintf(": did you mean %s?", near)
	}
	return ""
}

// plain removes Org's markup for verbatim and code from a cell.
func plain(cell string) string {
	for _, sign := range []string{"=", "~"} {
		if len(cell) > 2 && strings.HasPrefix(cell, sign) && strings.HasSuffix(cell, sign) {
			return cell[1 : len(cell)-1]
		}
	}
	return cell
}

// reason returns the reason of a decision that the rule made.
func (r *rule) reason(what string) string {
	reason := what + ": policy.org:" + strconv.Itoa(r.Line) + " says " + r.Verdict.String()
	if r.Why != "" {
		reason += ", " + r.Why
	}
	return reason
}
