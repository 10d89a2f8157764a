package policy

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"org-agent/kernel/org"
	"org-agent/kernel/protocol"
	"org-agent/kernel/suggest"
)

// Rules are what a person wrote under "Rules" in policy.org. They do not change.
type Rules struct {
	rules  []rule
	faults []Fault
}

// Fault is what is wrong with a line of policy.org.
type Fault struct {
	File    string
	Line    int
	Message string
}

// Error is the fault with its place.
func (f Fault) Error() string { return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message) }

// Faults are what is wrong with the file. While there are any nothing counts that a rule could
// decide.
func (r *Rules) Faults() []Fault { return slices.Clone(r.faults) }

// rule is a row of the table.
type rule struct {
	kind    string // reads, writes, runs, fetches, or tool
	tool    string
	words   argvPattern
	path    pathPattern
	address addressPattern
	verdict Kind
	why     string
	line    int
}

// ruleColumns are the columns of the table.
var ruleColumns = []string{"rule", "matches", "verdict", "why", "since"}

// maximumFaults is how many faults of a file are told.
const maximumFaults = 20

// tableReader reads the table of one file.
type tableReader struct {
	file, home, user string
	rules            *Rules
	headed           bool
}

// ParseRules reads the text of a policy.org. File is its name, home and user the directories
// that its names begin with.
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

// section reads the rows between a heading and the end of text; what is in blocks is an example.
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

// cellsOf splits a row; \vert stands for a bar, as everywhere in Org.
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

// row reads a rule.
func (t *tableReader) row(cells []string) (rule, error) {
	if len(cells) != len(ruleColumns) {
		return rule{}, fmt.Errorf("the row has %d cells, not the five | rule | matches | verdict | why | since | (a bar in a cell is written \\vert{})", len(cells))
	}
	r := rule{kind: strings.ToLower(cells[0]), why: cells[3]}
	verdicts := []string{"refuse", "ask", "allow"}
	verdict := slices.Index(verdicts, strings.ToLower(cells[2]))
	if verdict < 0 {
		return rule{}, fmt.Errorf("the verdict is allow, ask or refuse, not %q%s", cells[2], meant(cells[2], verdicts))
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
		name, found := strings.CutPrefix(r.kind, "tool ")
		if !found || strings.TrimSpace(name) == "" {
			kinds := []string{"reads", "writes", "runs", "fetches", "tool NAME"}
			return rule{}, fmt.Errorf("a rule is one of %s, not %q%s", strings.Join(kinds, ", "), cells[0], meant(cells[0], kinds[:4]))
		}
		if matches != "" && matches != "*" {
			return rule{}, fmt.Errorf("a rule for a tool matches all its calls: leave that cell empty, or write rules for what it reads, writes, runs or fetches")
		}
		r.kind, r.tool = "tool", strings.TrimSpace(name)
	}
	if err != nil {
		return rule{}, err
	}
	return r, nil
}

func meant(word string, of []string) string {
	if near := suggest.Of(strings.ToLower(word), of); near != "" {
		return fmt.Sprintf(": did you mean %s?", near)
	}
	return ""
}

// plain is a cell without the signs that make it verbatim or code in Org.
func plain(cell string) string {
	for _, sign := range []string{"=", "~"} {
		if len(cell) > 2 && strings.HasPrefix(cell, sign) && strings.HasSuffix(cell, sign) {
			return cell[1 : len(cell)-1]
		}
	}
	return cell
}

// reason is what is said of something that the rule decided.
func (r rule) reason(what string) string {
	reason := what + ": policy.org:" + strconv.Itoa(r.line) + " says " + r.verdict.String()
	if r.why != "" {
		reason += ", " + r.why
	}
	return reason
}
