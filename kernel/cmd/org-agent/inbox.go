package main

import (
	"cmp"
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

// inboxContents are the conversations on channels, and what is kept.
type inboxContents struct {
	Chats []protocol.Chat `json:"chats,omitempty"`
	protocol.InboxListResult
}

// Run prints the conversations on channels and what the inbox has as an Org outline. Of what it has the unread comes first.
func (c *inboxCommand) Run(ctx context.Context, proc *process) error {
	conn, err := proc.connect(ctx, connection{start: true})
	if err != nil {
		return err
	}
	defer conn.Close()
	var result inboxContents
	if err := conn.Call(ctx, protocol.MethodInboxList, protocol.InboxListParams{Unread: c.Unread}, &result.InboxListResult); err != nil {
		return err
	}
	var chats protocol.ChatListResult
	if err := conn.Call(ctx, protocol.MethodChatList, protocol.Empty{}, &chats); err != nil {
		return err
	}
	for _, chat := range chats.Chats {
		if chat.Unread > 0 || !c.Unread {
			result.Chats = append(result.Chats, chat)
		}
	}
	if err := c.print(proc, result); err != nil || !c.Read {
		return err
	}
	for _, chat := range result.Chats {
		if err := conn.Call(ctx, protocol.MethodChatSeen, protocol.ChatParams{Channel: chat.Channel, Chat: chat.Chat}, &protocol.Empty{}); err != nil {
			return err
		}
	}
	if len(result.Items) == 0 {
		return nil
	}
	var printed protocol.InboxMarkParams // and nothing that has come meanwhile
	for _, item := range result.Items {
		printed.IDs = append(printed.IDs, item.ID)
	}
	return conn.Call(ctx, protocol.MethodInboxMark, printed, &protocol.InboxChanged{})
}

// print prints the conversations and the items, or that there are none.
func (c *inboxCommand) print(proc *process, result inboxContents) error {
	if c.JSON {
		return proc.printJSON(result)
	}
	if len(result.Items) == 0 && len(result.Chats) == 0 {
		what := "in the inbox"
		if c.Unread {
			what = "unread"
		}
		fmt.Fprintln(proc.stderr, "org-agent: nothing is", what)
		return nil
	}
	for _, chat := range result.Chats {
		fmt.Fprint(proc.stdout, chatEntry(chat))
	}
	for _, item := range result.Items {
		fmt.Fprint(proc.stdout, inboxEntry(item))
	}
	if result.Left > 0 {
		fmt.Fprintf(proc.stderr, "org-agent: %s more\n", text.Count(result.Left, "item"))
	}
	return proc.stdout.writeError()
}

// chatEntry returns a conversation on a channel as an Org entry: its title, how many messages are unread, and the last one.
func chatEntry(chat protocol.Chat) string {
	var b strings.Builder
	b.WriteString("* ")
	if chat.Unread > 0 {
		fmt.Fprintf(&b, "TODO (%d) ", chat.Unread)
	}
	fmt.Fprintf(&b, "%s :%s:\n", text.PlainLine(cmp.Or(chat.Title, chat.Chat), 200), chat.Channel)
	fmt.Fprintf(&b, "[%s] in %q\n", localStamp(chat.Last), chat.Session)
	who := text.PlainLine(chat.LastSender, 200)
	if who == "" {
		who = "the agent"
	}
	if chat.ByHand {
		who = "you"
	}
	fmt.Fprintf(&b, "%s: %s\n", who, text.PlainLine(chat.LastText, 200))
	return b.String()
}

// localStamp returns a moment of the wire as Org has it, in local time, "" for none.
func localStamp(stamp string) string {
	at, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		return ""
	}
	return at.Local().Format("2006-01-02 Mon 15:04")
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
	if at := localStamp(item.Time); at != "" {
		fmt.Fprintf(&b, "[%s]", at)
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
