package tool

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"org-agent/kernel/contacts"
	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

//go:embed get_contacts.md
var getContactsManual string

type getContactsArguments struct {
	Query    string `doc:"a name, an alias, an address or the title of a group (default: all)"`
	Platform string `doc:"only those on this channel, such as telegram"`
	Limit    int    `doc:"the most contacts (default: 20)" seldom:"true"`
}

// The numbers of contacts in a result.
const (
	contactsShown = 20
	contactsMost  = 100
)

func getContacts(m Messages) Tool {
	return New(Definition[getContactsArguments]{
		Name: "get_contacts", Manual: getContactsManual, Private: true, Effect: protocol.ToolReads,
		Offered: func() bool {
			return m.Contacts != nil && (m.anyChannel() || m.there() && m.HasContacts != nil && m.HasContacts())
		},
		Perform: func(ctx context.Context, by *Caller, a getContactsArguments) (string, error) {
			if err := by.alone(); err != nil {
				return "", protocol.ToolErrorf(protocol.ToolRefused, "others listen here, so no contact is told")
			}
			all, err := m.Contacts(ctx, by.Conversation, a.Query)
			if err != nil {
				return "", err
			}
			platform := strings.ToLower(strings.TrimPrefix(strings.TrimSpace(a.Platform), ":"))
			found := contacts.Matching(all, a.Query, platform)
			if len(found) == 0 && (a.Query != "" || platform != "") {
				_, _, err := contacts.Find(all, a.Query, platform, "")
				return "", err
			}
			if len(found) == 0 {
				return "There are no contacts yet: those who write on a channel become some.", nil
			}
			limit := contactsShown
			if a.Limit > 0 {
				limit = min(a.Limit, contactsMost)
			}
			var b strings.Builder
			for i, c := range found {
				if i == limit {
					fmt.Fprintf(&b, "and %d more: ask with a query\n", len(found)-i)
					break
				}
				b.WriteString(m.contact(c))
			}
			return b.String(), nil
		},
	})
}

// contact returns the lines of a contact: who it is, and a line for each address.
func (m Messages) contact(c contacts.Contact) string {
	var b strings.Builder
	fmt.Fprintf(&b, "- %s", text.PlainLine(c.Name, nameShown))
	if len(c.Aliases) > 0 {
		fmt.Fprintf(&b, ", called %s", strings.Join(c.Aliases, ", "))
	}
	if !c.Active.IsZero() {
		fmt.Fprintf(&b, ", last active %s", c.Active.In(m.Now().Location()).Format("2006-01-02 15:04"))
	}
	if c.ID != "" {
		fmt.Fprintf(&b, " [id %s]", c.ID)
	}
	if c.Source != "" {
		fmt.Fprintf(&b, " [of the user's own %s]", c.Source)
	}
	b.WriteString("\n")
	connected := m.channels()
	for _, a := range c.Addresses {
		kind := "private"
		if a.Group {
			kind = "group"
		}
		fmt.Fprintf(&b, "  :platform %q :target %q, %s", a.Channel, a.Target(), kind)
		if a.Username != "" {
			fmt.Fprintf(&b, ", @%s", a.Username)
		}
		if !slices.ContainsFunc(connected, func(of ChannelInfo) bool { return of.Name == a.Channel }) {
			b.WriteString(", not connected")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// nameShown is how many characters of a name are shown.
const nameShown = 80
