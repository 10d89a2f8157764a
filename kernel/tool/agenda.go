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
	"org-agent/kernel/text"
	"org-agent/kernel/withheld"
)

//go:embed agenda.md
var agendaManual string

type agendaArguments struct {
	From  string   `doc:"the first day, such as today, +1d or 2026-11-30 (default: today)"`
	Days  int      `doc:"the number of days, up to 62 (default: 1)"`
	Open  bool     `doc:"also list all open entries, dated or not"`
	Files []string `doc:"only these files and directories" seldom:"true"`
}

const (
	agendaDays  = 62
	agendaItems = 400 // maximum number of lines in an answer
	agendaOpen  = 200 // maximum number of lines in the list of open tasks
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
		Preview: func(ctx context.Context, by *Caller, a agendaArguments) (Preview, error) {
			return n.preview(ctx, by, "Read the agenda of ", a.Files)
		},
		Perform: func(ctx context.Context, by *Caller, a agendaArguments) (string, error) {
			span, err := a.span(n.today())
			if err != nil {
				return "", err
			}
			l, err := n.readNotes(ctx, by, a.Files)
			if err != nil {
				return "", err
			}
			lines, err := n.lines(ctx, by, l, span)
			if err != nil {
				return "", err
			}
			return n.renderAgenda(lines, l, span, a.Open), nil
		},
	})
}

// span returns the range of days that the arguments name.
func (a agendaArguments) span(today org.Day) (agenda.Span, error) {
	from, err := orgquery.ParseDay(cmp.Or(a.From, "today"), today)
	if err != nil {
		return agenda.Span{}, protocol.ToolErrorf(protocol.ToolArguments, "the argument :from: %w", err)
	}
	if a.Days < 0 || a.Days > agendaDays {
		return agenda.Span{}, protocol.ToolErrorf(protocol.ToolArguments, "the argument :days is a number from 1 to %d", agendaDays)
	}
	return agenda.Span{From: from, To: from + org.Day(max(a.Days, 1)) - 1, Today: today}, nil
}

// agendaLine is one item on a day.
type agendaLine struct {
	day, time, note, text, id string
	at                        string // FILE:LINE
}

// lines returns the items on the days. For the agenda files they come from Emacs, so that they
// agree with the person's own agenda. For all other files, and if Emacs does not answer, they come
// from the files.
func (n Notes) lines(ctx context.Context, by *Caller, l *reading, span agenda.Span) ([]agendaLine, error) {
	span.Warning = l.emacs.Warning
	var all []agendaLine
	live := l.live
	for _, f := range l.files {
		if live && slices.Contains(l.emacs.Agenda, f.Path) {
			lines, err := n.linesOfEmacs(ctx, by, f, span)
			if err == nil {
				all = append(all, lines...)
				continue
			}
			if ctx.Err() != nil {
				return nil, err
			}
			l.notes = append(l.notes, fmt.Sprintf("[Emacs: %v. %s is shown as the file on disk has it.]", err, n.short(f.Path)))
			live = errors.As(err, new(*protocol.ToolError)) && protocol.ToolErrorOf(err).Code == protocol.ToolRefused
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

// timeSpan returns a time with its end, if it has one.
func timeSpan(from, to string) string {
	if to != "" && to != from {
		return from + "-" + to
	}
	return from
}

// agendaText returns a heading without its stars.
func agendaText(h org.Heading) string {
	tags := h.Tags
	h.Tags = nil
	text := org.Headline(h)[h.Level+1:]
	if len(tags) > 0 {
		text += "  :" + strings.Join(tags, ":") + ":"
	}
	return text
}

// linesOfEmacs asks Emacs for the days of one file, a few days at a time.
func (n Notes) linesOfEmacs(ctx context.Context, by *Caller, f *orgquery.File, span agenda.Span) ([]agendaLine, error) {
	var all []agendaLine
	for from := span.From; from <= span.To; {
		got, err := n.Emacs.Agenda(ctx, by.Conversation, protocol.EmacsAgendaParams{File: f.Path, From: from.String(), Days: int(span.To-from) + 1})
		if err != nil {
			return nil, err
		}
		for _, i := range got.Items {
			if withheld.LevelOf(i.Tags) > withheld.Shown || f.Withholds(i.Line) {
				continue
			}
			h := org.Heading{Level: 1, Todo: i.Todo, Priority: i.Priority, Title: i.Title, Tags: i.Tags}
			all = append(all, agendaLine{
				day: i.Day, time: timeSpan(i.Time, i.End), note: strings.Trim(text.Line(i.Leader), ":"), text: agendaText(h),
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

// renderAgenda returns the answer about days.
func (n Notes) renderAgenda(lines []agendaLine, l *reading, span agenda.Span, open bool) string {
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
		n.renderOpen(&b, l)
	}
	for _, line := range l.notes {
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

// renderOpen adds all open tasks.
func (n Notes) renderOpen(b *strings.Builder, l *reading) {
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
		b.WriteString("  " + strings.ReplaceAll(strings.TrimRight(n.renderEntry(e, false), "\n"), "\n", "\n  ") + "\n")
	}
}
