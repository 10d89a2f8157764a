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
)

// Rules are the rules that a person wrote under "Rules" in policy.org. They do not change.
type Rules struct {
	rules  []rule
	faults []Fault
}

// Fault is an error in a line of policy.org.
type Fault struct {
	File    string
	Line    int
	Message string
}

// Error returns the fault with its place.
func (f Fault) Error() string { return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message) }

// Faults returns the errors of the file. While there are any, everything that a rule could decide
// is refused.
func (r *Rules) Faults() []Fault { return slices.Clone(r.faults) }

// rule is one row of the table.
type rule struct {
	kind    string // reads, writes, runs, fetches, tool or action
	tool    string
	key     action.Key // the name "" means all actions of the target
	words   argvPattern
	path    pathPattern
	address addressPattern
	verdict Kind
	why     string
	line    int
}

// ruleColumns are the columns of the table.
var ruleColumns = []string{"rule", "matches", "verdict", "why", "since"}

// maximumFaults is how many faults of a file are reported.
const maximumFaults = 20

// tableReader reads the table of one file.
type tableReader struct {
	file, home, user string
	rules            *Rules
	headed           bool
}

// ParseRules parses the text of a policy.org. File is its path. Relative names in it start at home,
// and ~ is user.
func ParseRules(text, file, home, user string) *Rules {
	t := &tableReader{file: file, home: home, user: user, rules: &Rules{}}
	doc := org.Parse(text)
	found := false
	for i, h := range doc.Headings {
		if h.Hidden() || !strings.EqualFold(strings.TrimSpace(h.Title), "Rules") {
			continue
		}
		if found {
			t.fault(h.Line, "there is a second heading %q: keep all rules in one table", h.Title)
			continue
		}
		found = true
		end := len(text)
		if i+1 < len(doc.Headings) {
			end = doc.Headings[i+1].Start
		}
		t.section(doc, h, text[:end])
	}
	return t.rules
}

func (t *tableReader) fault(line int, format string, arguments ...any) {
	if len(t.rules.faults) < maximumFaults {
		t.rules.faults = append(t.rules.faults, Fault{File: t.file, Line: line, Message: fmt.Sprintf(format, arguments...)})
	}
}

var widthCookie = regexp.MustCompile(`^<[lrc]?\d*>$`)

// section parses the rows between a heading and the end of text. It skips blocks, which contain
// examples.
func (t *tableReader) section(doc *org.Document, h *org.Heading, text string) {
	blocks := doc.Blocks()
	number, offset := h.Line, h.LineEnd
	for line := range strings.Lines(text[h.LineEnd:]) {
		number++
		start := offset
		offset += len(line)
		for len(blocks) > 0 && blocks[0].End <= start {
			blocks = blocks[1:]
		}
		row := strings.TrimSpace(line)
		if len(blocks) > 0 && blocks[0].Start <= start || !strings.HasPrefix(row, "|") || strings.HasPrefix(row, "|-") {
			continue
		}
		cells := cellsOf(row)
		if !slices.ContainsFunc(cells, func(cell string) bool { return cell != "" && !widthCookie.MatchString(cell) }) {
			continue
		}
		if !t.headed {
			t.headed = true
			if !slices.Equal(cells, ruleColumns) {
				t.fault(number, "the table of rules begins with | rule | matches | verdict | why | since |")
			}
			continue
		}
		r, err := t.row(cells)
		if err != nil {
			t.fault(number, "%v", err)
			continue
		}
		r.line = number
		t.rules.rules = append(t.rules.rules, r)
	}
}

// cellsOf splits a row into cells. \vert is a bar, as everywhere in Org.
func cellsOf(row string) []string {
	cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(row, "|"), "|"), "|")
	for i, cell := range cells {
		cells[i] = strings.TrimSpace(cell)
		if strings.Contains(cell, `\vert`) {
			cells[i] = strings.ReplaceAll(strings.ReplaceAll(cells[i], `\vert{}`, "|"), `\vert`, "|")
		}
	}
	return cells
}

// row parses one rule.
func (t *tableReader) row(cells []string) (rule, error) {
	if len(cells) != len(ruleColumns) {
		return rule{}, fmt.Errorf("the row has %d cells, not the five | rule | matches | verdict | why | since | (a bar in a cell is written \\vert{})", len(cells))
	}
	r := rule{kind: strings.ToLower(cells[0]), why: cells[3]}
	verdicts := []string{"refuse", "ask", "allow"}
	verdict := slices.Index(verdicts, strings.ToLower(cells[2]))
	if verdict < 0 {
		return rule{}, fmt.Errorf("the verdict is allow, ask or refuse, not %q%s", cells[2], suggestion(cells[2], verdicts))
	}
	r.verdict = Kind(verdict)
	matches := plain(cells[1])
	var err error
	switch r.kind {
	case string(protocol.ReachReads), string(protocol.ReachWrites):
		r.path, err = newPathPattern(matches, t.home, t.user)
	case string(protocol.ReachRuns):
		r.words, err = newArgvPattern(matches, r.verdict)
	case string(protocol.ReachFetches):
		r.address, err = newAddressPattern(matches)
	default:
		err = r.about(cells[0], matches)
	}
	if err != nil {
		return rule{}, err
	}
	return r, nil
}

// about parses the first cell of a row about a tool or an action. Such a row matches all of its
// calls.
func (r *rule) about(cell, matches string) error {
	kind, name, _ := strings.Cut(r.kind, " ")
	name = strings.TrimSpace(name)
	switch {
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
		kinds := []string{"reads", "writes", "runs", "fetches", "tool NAME", "action :TARGET :NAME"}
		return fmt.Errorf("a rule is one of %s, not %q%s", strings.Join(kinds, ", "), cell, suggestion(cell, kinds[:4]))
	}
	if r.kind = kind; matches != "" && matches != "*" {
		return fmt.Errorf("a rule for a tool or an action matches all its calls: leave that cell empty, or write rules for what is read, written, run or fetched")
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
func (r rule) reason(what string) string {
	reason := what + ": policy.org:" + strconv.Itoa(r.line) + " says " + r.verdict.String()
	if r.why != "" {
		reason += ", " + r.why
	}
	return reason
}
