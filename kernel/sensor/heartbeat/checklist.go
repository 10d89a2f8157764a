package heartbeat

import (
	"regexp"
	"strings"
	"time"

	"org-agent/kernel/agenda"
	"org-agent/kernel/org"
	"org-agent/kernel/orgquery"
)

// checklist is what stands in HEARTBEAT.org.
type checklist struct {
	open int      // what is to be looked at each time
	due  []string // the titles of headings with a timestamp that has come
}

var (
	checked = regexp.MustCompile(`^\s*(?:[-+*]|\d+[.)])\s+\[[Xx]\]`)
	silent  = regexp.MustCompile(`^\s*(?:#(?:\s|\+|$).*|-{5,}\s*)?$`) // blank lines, comments, keywords and rules
)

// readChecklist reads the text of a checklist as it counts on a day. What is done, commented or planned for later does not
// count, nor do headings that only have others below them.
func readChecklist(text string, now time.Time) (c checklist) {
	if strings.TrimSpace(text) == "" {
		return c
	}
	f := orgquery.Read(orgquery.Source{Path: "HEARTBEAT.org", Text: text})
	preamble := text
	if len(f.Entries) > 0 {
		preamble = text[:f.Entries[0].Start]
	}
	c.open += lines(preamble)
	today := org.DayOf(now)
	planned := map[int]bool{}
	for _, item := range agenda.Items([]*orgquery.File{f}, agenda.Span{From: today, To: today, Today: today}) {
		if item.Time != "" && item.Time > now.Format("15:04") || item.Kind == agenda.UpcomingDeadline || planned[item.Entry.Line] {
			continue
		}
		planned[item.Entry.Line] = true
		if !item.Entry.Done {
			c.due = append(c.due, item.Entry.Title)
		}
	}
	for i, e := range f.Entries {
		parent := i+1 < len(f.Entries) && f.Entries[i+1].Level > e.Level
		switch below := lines(e.Text); {
		case e.Done || e.Planning.Scheduled != "" || e.Planning.Deadline != "" || planned[e.Line]:
		case below > 0:
			c.open += below
		case e.Todo != "" || !parent && strings.TrimSpace(e.Text) == "" && e.Title != "":
			c.open++
		}
	}
	return c
}

// lines returns how many lines of a text say something that is not done. Drawers say nothing.
func lines(text string) (count int) {
	drawer := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case drawer:
			drawer = !strings.EqualFold(line, ":END:")
		case len(line) > 2 && line[0] == ':' && line[len(line)-1] == ':' && !strings.Contains(line, " "):
			drawer = true
		case !silent.MatchString(line) && !checked.MatchString(line):
			count++
		}
	}
	return count
}
