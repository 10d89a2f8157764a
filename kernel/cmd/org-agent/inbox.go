package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// inboxCommand is "org-agent inbox".
type inboxCommand struct {
	Unread bool `help:"Only what is unread."`
	Read   bool `help:"Mark what is printed as read."`
	JSON   bool `help:"Print JSON."`
}

// Run prints what the inbox has as an Org outline, the unread first.
func (c *inboxCommand) Run(ctx context.Context, proc *process) error {
	var result protocol.InboxListResult
	if err := proc.call(ctx, protocol.MethodInboxList, protocol.InboxListParams{Unread: c.Unread}, &result); err != nil {
		return err
	}
	if err := c.print(proc, result); err != nil || !c.Read || len(result.Items) == 0 {
		return err
	}
	var printed protocol.InboxMarkParams // and nothing that has come meanwhile
	for _, item := range result.Items {
		printed.IDs = append(printed.IDs, item.ID)
	}
	return proc.call(ctx, protocol.MethodInboxMark, printed, &protocol.InboxChanged{})
}

// print prints the items, or that there are none.
func (c *inboxCommand) print(proc *process, result protocol.InboxListResult) error {
	if c.JSON {
		return proc.printJSON(result)
	}
	if len(result.Items) == 0 {
		what := "in the inbox"
		if c.Unread {
			what = "unread"
		}
		fmt.Fprintln(proc.stderr, "org-agent: nothing is", what)
		return nil
	}
	for _, item := range result.Items {
		fmt.Fprint(proc.stdout, inboxEntry(item))
	}
	if result.Left > 0 {
		fmt.Fprintf(proc.stderr, "org-agent: %s more\n", text.Count(result.Left, "item"))
	}
	return proc.stdout.writeError()
}

// inboxEntry returns an item as an Org entry. Its text is below it, so that no line of it is taken for an entry of the inbox.
func inboxEntry(item protocol.InboxItem) string {
	var b strings.Builder
	b.WriteString("* ")
	if !item.Read {
		b.WriteString("TODO ")
	}
	b.WriteString(text.PlainLine(item.Title, 200))
	fmt.Fprintf(&b, " :%s:\n", item.Kind)
	if at, err := time.Parse(time.RFC3339, item.Time); err == nil {
		fmt.Fprintf(&b, "[%s]", at.Local().Format("2006-01-02 Mon 15:04"))
	}
	if item.Session != "" {
		fmt.Fprintf(&b, " in %q", item.Session)
	}
	b.WriteByte('\n')
	for line := range strings.Lines(strings.TrimRight(item.Text, "\n") + "\n") {
		if strings.HasPrefix(line, "*") {
			b.WriteByte('*')
		}
		b.WriteString(line)
	}
	return b.String()
}
