package tool

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"org-agent/kernel/agenda"
	"org-agent/kernel/org"
	"org-agent/kernel/orgquery"
	"org-agent/kernel/protocol"
	"org-agent/kernel/withheld"
)

//go:embed agenda.md
var agendaManual string

type agendaArguments struct {
	From  string   `doc:"the first day, as today, +1d, 2026-11-30; today if not given"`
	Days  int      `doc:"how many days; 1 if not given, 62 at most"`
	Open  bool     `doc:"also all that is to be done, with a date or without"`
	Files []string `doc:"only of these files and directories"`
}

const (
	agendaDays  = 62
	agendaItems = 400 // that are told
	agendaOpen  = 200 // of the list of what is to be done
)

func agendaTool(n Notes) Tool {
	return New(Definition[agendaArguments]{
		Name: "agenda", Manual: agendaManual, Effect: protocol.ToolReads, Offered: n.there,
		Reach: func(ctx context.Context, by *Caller, a *agendaArguments) ([]protocol.Reach, error) {
			if _, err := a.span(n.today()); err != nil {
				return nil, err
			}
			return n.reach(ctx, by, &a.Files)
		},
		Perform: func(ctx context.Context, by *Caller, a agendaArguments) (string, error) {
			span, err := a.span(n.today())
			if err != nil {
				return "", err
			}
			l, err := n.look(ctx, by, a.Files)
			if err != nil {
				return "", err
			}
			lines, err := n.lines(ctx, by, l, span)
			if err != nil {
				return "", err
			}
			return n.toldAgenda(lines, l, span, a.Open), nil
		},
	})
}

// span is what the arguments ask for.
func (a agendaArguments) span(today org.Day) (agenda.Span, error) {
	from, err := orgquery.ParseDay(cmp.Or(a.From, "today"), today)
	if err != nil {
		return agenda.Span{}, protocol.ToolErrorf(protocol.ToolArguments, "the argument :from: %w", err)
	}
	if a.Days < 0 || a.Days > agendaDays {
		return agenda.Span{}, protocol.ToolErrorf(protocol.ToolArguments, "the argument :days is 1 to %d", agendaDays)
	}
	return agenda.Span{From: from, To: from + org.Day(max(a.Days, 1)) - 1, Today: today}, nil
}

// agendaLine is one thing on a day, from wherever it is told.
type agendaLine struct {
	day, time, note, text, id string
	at                        string // FILE:LINE
}

// lines are what stands on the days: of the agenda files as Emacs's own agenda has it, of all
// others, and where Emacs does not answer, as the files have it.
func (n Notes) lines(ctx context.Context, by *Caller, l *look, span agenda.Span) ([]agendaLine, error) {
	span.Warning = l.emacs.Warning
	var all []agendaLine
	asked := l.live
	for _, f := range l.files {
		if asked && slices.Contains(l.emacs.Agenda, f.Path) {
			lines, err := n.linesOfEmacs(ctx, by, f, span)
			if err == nil {
				all = append(all, lines...)
				continue
			}
			if ctx.Err() != nil {
				return nil, err
			}
			l.said = append(l.said, fmt.Sprintf("[Emacs: %v. What stands in %s is told as the file has it.]", err, n.short(f.Path)))
			asked = errors.As(err, new(*protocol.ToolError)) && protocol.ToolErrorOf(err).Code == protocol.ToolRefused
		}
		for _, i := range agenda.Items([]*orgquery.File{f}, span) {
			shown := *i.Entry.Heading
			shown.Tags = i.Entry.AllTags
			all = append(all, agendaLine{
				day: i.Day.String(), time: timeSpan(i.Time, i.End), note: i.Note(), text: agendaText(shown),
				at: fmt.Sprintf("%s:%d", n.short(f.Path), i.Entry.Line), id: i.Entry.OwnID(),
			})
		}
	}
	slices.SortStableFunc(all, func(a, b agendaLine) int {
		return cmp.Or(cmp.Compare(a.day, b.day), cmp.Compare(cmp.Or(a.time, "99"), cmp.Or(b.time, "99")))
	})
	return all, nil
}

// timeSpan is a time with its end, if there is one.
func timeSpan(from, to string) string {
	if to != "" && to != from {
		return from + "-" + to
	}
	return from
}

// agendaText is a heading without its stars.
func agendaText(h org.Heading) string {
	tags := h.Tags
	h.Tags = nil
	text := org.Headline(h)[h.Level+1:]
	if len(tags) > 0 {
		text += "  :" + strings.Join(tags, ":") + ":"
	}
	return text
}

// linesOfEmacs asks Emacs for the days of one file, some at a time.
func (n Notes) linesOfEmacs(ctx context.Context, by *Caller, f *orgquery.File, span agenda.Span) ([]agendaLine, error) {
	var all []agendaLine
	for from := span.From; from <= span.To; {
		got, err := n.Emacs.Agenda(ctx, by.Conversation, protocol.EmacsAgendaParams{File: f.Path, From: from.String(), Days: int(span.To-from) + 1})
		if err != nil {
			return nil, err
		}
		for _, i := range got.Items {
			if withheld.Tagged(i.Tags) > withheld.Shown || f.Withholds(i.Line) {
				continue
			}
			h := org.Heading{Level: 1, Todo: i.Todo, Priority: i.Priority, Title: i.Title, Tags: i.Tags}
			all = append(all, agendaLine{
				day: i.Day, time: timeSpan(i.Time, i.End), note: strings.Trim(strings.Join(strings.Fields(i.Leader), " "), ":"), text: agendaText(h),
				at: fmt.Sprintf("%s:%d", n.short(f.Path), i.Line), id: i.ID,
			})
		}
		if got.Next == "" {
			break
		}
		next, ok := org.ParseDay(got.Next)
		if !ok || next <= from {
			return nil, fmt.Errorf("it would go on with %q", got.Next)
		}
		from = next
	}
	return all, nil
}

// toldAgenda is what a model is given of days.
func (n Notes) toldAgenda(lines []agendaLine, l *look, span agenda.Span, open bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Today is %s %s. %s to %s, %s:\n", span.Today.Weekday(), span.Today, span.From, span.To, l.from())
	for day := span.From; day <= span.To; day++ {
		fmt.Fprintf(&b, "%s %s\n", day.Weekday(), day)
		for i, line := range lines {
			if line.day != day.String() || i >= agendaItems {
				continue
			}
			parts := []string{}
			for _, part := range []string{line.time, line.note} {
				if part != "" {
					parts = append(parts, part)
				}
			}
			fmt.Fprintf(&b, "  %s%s  (%s%s)\n", prefixed(parts), line.text, line.at, identified(line.id))
		}
	}
	if len(lines) > agendaItems {
		fmt.Fprintf(&b, "[%d more: ask for fewer days]\n", len(lines)-agendaItems)
	}
	if open {
		n.tellOpen(&b, l)
	}
	for _, line := range l.said {
		b.WriteString(line + "\n")
	}
	return b.String()
}

func prefixed(parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ", ") + ": "
}

func identified(id string) string {
	if id == "" {
		return ""
	}
	return ", id " + id
}

// tellOpen adds all that is to be done.
func (n Notes) tellOpen(b *strings.Builder, l *look) {
	var found []orgquery.Entry
	q := orgquery.Query{Todo: []string{orgquery.Open}}
	for _, f := range l.files {
		for _, e := range f.Entries {
			if q.Matches(e) {
				found = append(found, e)
			}
		}
	}
	fmt.Fprintf(b, "To be done, %d:\n", len(found))
	for i, e := range found {
		if i == agendaOpen {
			fmt.Fprintf(b, "[%d more: org_query finds them]\n", len(found)-agendaOpen)
			break
		}
		b.WriteString("  " + strings.ReplaceAll(strings.TrimRight(n.toldEntry(e, false), "\n"), "\n", "\n  ") + "\n")
	}
}
