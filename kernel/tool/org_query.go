package tool

import (
	"context"
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"org-agent/kernel/org"
	"org-agent/kernel/orgquery"
	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

//go:embed org_query.md
var orgQueryManual string

type orgQueryArguments struct {
	Words      string   `doc:"words that must all occur in the title or the text"`
	Title      string   `doc:"a regular expression of RE2 for the title"`
	Todo       []string `doc:"any of these keywords, or open, done, none"`
	Tags       []string `doc:"all of these tags; -TAG: the tag is absent"`
	Priority   []string `doc:"any of these, such as A; an entry without one counts as B" seldom:"true"`
	Properties []string `doc:"NAME, NAME=VALUE, NAME~PATTERN or -NAME"`
	Scheduled  string   `doc:"such as today, ..+1w, 2026-11-01..2026-11-30, any or none"`
	Deadline   string   `doc:"as :scheduled"`
	Closed     string   `doc:"as :scheduled" seldom:"true"`
	Timestamp  string   `doc:"active timestamps in title and text, written like :scheduled" seldom:"true"`
	Files      []string `doc:"search only these files and directories"`
	Sort       string   `doc:"the order of the results" words:"file deadline scheduled priority todo title" seldom:"true"`
	Body       bool     `doc:"include the text of each entry"`
	Limit      int      `doc:"the most entries, up to 500 (default: 50)"`
}

const (
	queryEntries     = 50
	queryEntriesMost = 500
	queryBody        = 4000     // bytes of one entry's text
	queryBytes       = 50 << 10 // bytes of the answer
)

func orgQuery(n Notes) Tool {
	return New(Definition[orgQueryArguments]{
		Name: "org_query", Manual: orgQueryManual, Effect: protocol.ToolReads, Offered: n.there,
		Reach: func(ctx context.Context, by *Caller, a *orgQueryArguments) ([]protocol.Reach, error) {
			if _, err := a.query(n.today()); err != nil {
				return nil, err
			}
			return n.reach(ctx, by, &a.Files)
		},
		Preview: func(ctx context.Context, by *Caller, a orgQueryArguments) (Preview, error) {
			return n.preview(ctx, by, "Search the headings of ", a.Files)
		},
		Perform: func(ctx context.Context, by *Caller, a orgQueryArguments) (string, error) {
			q, err := a.query(n.today())
			if err != nil {
				return "", err
			}
			l, err := n.readNotes(ctx, by, a.Files)
			if err != nil {
				return "", err
			}
			var found []orgquery.Entry
			for _, f := range l.files {
				for _, e := range f.Entries {
					if q.Matches(e) {
						found = append(found, e)
					}
				}
			}
			orgquery.Sort(found, a.Sort)
			return n.renderEntries(found, a, l), nil
		},
	})
}

// query returns the query of the arguments.
func (a orgQueryArguments) query(today org.Day) (*orgquery.Query, error) {
	q := &orgquery.Query{Words: strings.Fields(a.Words), Todo: a.Todo, Tags: a.Tags, Priorities: a.Priority}
	bad := func(name string, err error) error {
		return protocol.ToolErrorf(protocol.ToolArguments, "the argument :%s: %w", name, err)
	}
	var err error
	if a.Title != "" {
		if len(a.Title) > grepPattern {
			return nil, protocol.ToolErrorf(protocol.ToolArguments, "the pattern has more than %d bytes: look for less", grepPattern)
		}
		if q.Heading, err = regexp.Compile(a.Title); err != nil {
			return nil, bad("title", err)
		}
	}
	for _, text := range a.Properties {
		p, err := orgquery.ParseProperty(text)
		if err != nil {
			return nil, bad("properties", err)
		}
		q.Properties = append(q.Properties, p)
	}
	for _, d := range []struct {
		name, text string
		into       **orgquery.Days
	}{{"scheduled", a.Scheduled, &q.Scheduled}, {"deadline", a.Deadline, &q.Deadline}, {"closed", a.Closed, &q.Closed}, {"timestamp", a.Timestamp, &q.Timestamp}} {
		if d.text == "" {
			continue
		}
		days, err := orgquery.ParseDays(d.text, today)
		if err != nil {
			return nil, bad(d.name, err)
		}
		*d.into = &days
	}
	return q, nil
}

// renderEntries returns the answer with the entries that were found.
func (n Notes) renderEntries(found []orgquery.Entry, a orgQueryArguments, l *reading) string {
	limit := queryEntries
	if a.Limit > 0 {
		limit = min(a.Limit, queryEntriesMost)
	}
	entries := "entries match"
	if len(found) == 1 {
		entries = "entry matches"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s %s:\n", len(found), entries, l.from())
	shown := 0
	for _, e := range found {
		if shown == limit || b.Len() > queryBytes {
			break
		}
		b.WriteString(n.renderEntry(e, a.Body))
		shown++
	}
	if shown < len(found) {
		fmt.Fprintf(&b, "[%d more: ask for less, or with :limit]\n", len(found)-shown)
	}
	for _, line := range l.notes {
		b.WriteString(line + "\n")
	}
	return b.String()
}

// renderEntry returns one entry: its heading, its properties, and its text.
func (n Notes) renderEntry(e orgquery.Entry, body bool) string {
	var b strings.Builder
	shown := *e.Heading
	shown.Tags = nil
	fmt.Fprintf(&b, "%s:%d: %s", n.short(e.File), e.Line, org.Headline(shown)[shown.Level+1:])
	if len(e.AllTags) > 0 {
		fmt.Fprintf(&b, "  :%s:", strings.Join(e.AllTags, ":"))
	}
	b.WriteString("\n")
	var known []string
	for _, k := range []struct{ name, value string }{
		{"below", strings.Join(e.Above, " / ")}, {"id", e.OwnID()},
		{"scheduled", e.Planning.Scheduled}, {"deadline", e.Planning.Deadline}, {"closed", e.Planning.Closed},
	} {
		if k.value != "" {
			known = append(known, k.name+" "+k.value)
		}
	}
	if !body {
		for _, t := range org.Timestamps(e.Text) {
			if t.Active && len(known) < 8 {
				known = append(known, t.Text)
			}
		}
	}
	if len(known) > 0 {
		b.WriteString("    " + strings.Join(known, "; ") + "\n")
	}
	if !body {
		return b.String()
	}
	for _, p := range e.Properties {
		if !strings.EqualFold(p.Key, "ID") {
			fmt.Fprintf(&b, "    :%s: %s\n", p.Key, p.Value)
		}
	}
	whole := strings.ToValidUTF8(strings.Trim(e.Text, "\n"), "")
	cut := text.Prefix(whole, queryBody)
	for line := range strings.Lines(cut) {
		b.WriteString("    | " + strings.TrimRight(line, "\n") + "\n")
	}
	if len(cut) < len(whole) {
		fmt.Fprintf(&b, "    [%d more bytes: read the file from line %d]\n", len(whole)-len(cut), e.Line)
	}
	return b.String()
}
