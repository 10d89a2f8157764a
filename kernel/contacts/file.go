package contacts

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"org-agent/kernel/org"
	"org-agent/kernel/orgquery"
)

// The properties of a contact beside its addresses. CHANNEL names the ids of a person on a channel, CHANNEL_USERNAME and
// CHANNEL_CHAT the rest of the first, and CHANNEL_GROUP a group.
const (
	aliasesProperty  = "ALIASES"
	activeProperty   = "LAST_ACTIVE"
	usernameProperty = "_USERNAME"
	chatProperty     = "_CHAT"
	groupProperty    = "_GROUP"
)

// introduction is what the kernel writes above its first contact.
const introduction = `# Who talks to the agent, and where. Rename headings, add :ALIASES: such as mum "the boss", move things about:
# the agent adds people and addresses, and changes nothing but LAST_ACTIVE.

`

// page is contacts.org, read.
type page struct {
	file     *orgquery.File
	entries  []orgquery.Entry // of the contacts, in their order
	contacts []Contact
	withheld []Contact // those that no model sees
}

// read reads the text of contacts.org. A heading with an address is a contact.
func (b *Book) read(source string) page {
	p := page{file: orgquery.Read(orgquery.Source{Path: b.config.File.Path, Text: source})}
	shown := map[int]bool{}
	for _, e := range p.file.Entries {
		if c := b.contact(e.Heading); len(c.Addresses) > 0 || len(c.Aliases) > 0 {
			p.entries, p.contacts = append(p.entries, e), append(p.contacts, c)
			shown[e.Start] = true
		}
	}
	for _, h := range p.file.Headings() {
		if c := b.contact(h); !shown[h.Start] && len(c.Addresses) > 0 {
			p.withheld = append(p.withheld, c)
		}
	}
	return p
}

// contact reads a heading.
func (b *Book) contact(h *org.Heading) Contact {
	c := Contact{ID: h.ID(), Name: h.Title}
	value := func(name string) []string {
		text, _ := h.Property(name)
		return values(text)
	}
	c.Aliases = value(aliasesProperty)
	if text, ok := h.Property(activeProperty); ok {
		c.Active = b.moment(text)
	}
	for _, channel := range b.config.Channels() {
		property := strings.ToUpper(channel)
		usernames, chats := value(property+usernameProperty), value(property+chatProperty)
		for i, id := range value(property) {
			a := Address{Channel: channel, Person: id}
			if i == 0 && len(usernames) > 0 {
				a.Username = strings.TrimPrefix(usernames[0], "@")
			}
			if i == 0 && len(chats) > 0 {
				a.Chat = chats[0]
			}
			c.Addresses = append(c.Addresses, a)
		}
		for _, id := range value(property + groupProperty) {
			c.Addresses = append(c.Addresses, Address{Channel: channel, Chat: id, Group: true})
		}
	}
	return c
}

// moment reads an inactive timestamp with a time.
func (b *Book) moment(stamp string) time.Time {
	at, err := time.ParseInLocation(stampLayout, withoutWeekday(stamp), b.config.Now().Location())
	if err != nil {
		return time.Time{}
	}
	return at
}

const stampLayout = "[2006-01-02 15:04]"

// withoutWeekday removes the name of the day, which is in any language, from a timestamp.
func withoutWeekday(stamp string) string {
	var kept []string
	for _, word := range strings.Fields(stamp) {
		if !strings.ContainsFunc(word, unicode.IsLetter) {
			kept = append(kept, word)
		}
	}
	return strings.Join(kept, " ")
}

// stamp is the inverse of moment.
func (b *Book) stamp(at time.Time) string {
	return at.In(b.config.Now().Location()).Format("[2006-01-02 Mon 15:04]")
}

// values splits the value of a property at blanks that are not between quotation marks, as Org does for properties with
// several values. A mark without its end is a character like any other.
func values(text string) []string {
	var all []string
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		if inside, rest, closed := strings.Cut(text[1:], `"`); text[0] == '"' && closed && (rest == "" || rest[0] == ' ' || rest[0] == '\t') {
			all, text = append(all, inside), rest
			continue
		}
		end := strings.IndexAny(text, " \t")
		if end < 0 {
			end = len(text)
		}
		all, text = append(all, text[:end]), text[end:]
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

// quoted is the inverse of values for one value. ok is false for one that cannot be written.
func quoted(value string) (written string, ok bool) {
	switch {
	case value == "" || strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c == 0x7f || c == 0x2028 || c == 0x2029 }):
		return "", false
	case !strings.ContainsAny(value, " \t\u00a0\"") && strings.TrimSpace(value) == value:
		return value, true
	case strings.Contains(value, `"`):
		return "", false
	}
	return `"` + value + `"`, true
}

// update returns the text of the file with what was seen.
func (b *Book) update(source string, news []seenEntry) (string, error) {
	for _, n := range news {
		after, err := b.add(source, n)
		if err != nil {
			return "", err
		}
		source = after
	}
	return source, nil
}

// add returns the text with one sighting. What cannot be written in a property is left out.
func (b *Book) add(source string, n seenEntry) (string, error) {
	is := func(c Contact) bool { return slices.ContainsFunc(c.Addresses, n.is) }
	p := b.read(source)
	if slices.ContainsFunc(p.withheld, is) {
		return source, nil
	}
	at := slices.IndexFunc(p.contacts, is)
	if at < 0 {
		return b.insert(p, source, n)
	}
	c, e := p.contacts[at], p.entries[at]
	first := slices.IndexFunc(c.Addresses, n.is)
	var change orgquery.Change
	set := func(name, value string) {
		if written, ok := quoted(value); ok {
			change.Properties = append(change.Properties, orgquery.Setting{Name: name, Value: written})
		}
	}
	property := strings.ToUpper(n.channel)
	if a := c.Addresses[first]; n.person != "" && slices.IndexFunc(c.Addresses, func(of Address) bool { return of.Channel == n.channel && !of.Group }) == first {
		if _, has := e.Property(property + usernameProperty); !has && a.Username == "" && n.username != "" {
			set(property+usernameProperty, n.username)
		}
		if _, has := e.Property(property + chatProperty); !has && n.chat != "" && n.chat != n.person {
			set(property+chatProperty, n.chat)
		}
	}
	if n.at.Sub(c.Active) >= activeStep {
		change.Properties = append(change.Properties, orgquery.Setting{Name: activeProperty, Value: b.stamp(n.at)})
	}
	if len(change.Properties) == 0 {
		return source, nil
	}
	after, _, err := p.file.Apply(e, change)
	return after, err
}

// is reports whether an address is that of the sighting.
func (n seenEntry) is(a Address) bool {
	if a.Channel != n.channel || a.Group != (n.group != "") {
		return false
	}
	if n.group != "" {
		return a.Chat == n.group || strings.HasPrefix(n.group, a.Chat+"/") // a thread of it
	}
	return a.Person == n.person
}

// insert returns the text with a new contact at its end.
func (b *Book) insert(p page, source string, n seenEntry) (string, error) {
	property, id := strings.ToUpper(n.channel), n.person
	if n.group != "" {
		property, id = property+groupProperty, n.group
	}
	written, ok := quoted(id)
	if !ok {
		return source, nil // no property can have it
	}
	contact := orgquery.New{ID: b.config.NewID(), Now: b.config.Now(), Properties: []orgquery.Setting{{Name: property, Value: written}}}
	if n.person != "" {
		if username, ok := quoted(n.username); ok {
			contact.Properties = append(contact.Properties, orgquery.Setting{Name: property + usernameProperty, Value: username})
		}
		if chat, ok := quoted(n.chat); ok && n.chat != n.person {
			contact.Properties = append(contact.Properties, orgquery.Setting{Name: property + chatProperty, Value: chat})
		}
	}
	contact.Properties = append(contact.Properties, orgquery.Setting{Name: activeProperty, Value: b.stamp(n.at)})
	if source == "" {
		p = b.read(introduction)
	}
	var err error
	for _, title := range []string{n.name, n.username, n.channel + " " + name(id)} {
		if strings.TrimSpace(title) == "" {
			continue
		}
		var after string
		contact.Title = title
		if after, err = p.file.Below(nil, contact); err == nil && len(b.read(after).contacts) == len(p.contacts)+1 {
			return after, nil
		}
	}
	if err == nil {
		return source, nil // below the file's own tags, which withhold it
	}
	return "", err
}
