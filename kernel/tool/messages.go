package tool

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"org-agent/kernel/contacts"
	"org-agent/kernel/protocol"
	"org-agent/kernel/suggest"
)

// Messages is the dependency of the tools that send. Without conversations they are not offered.
type Messages struct {
	// Here puts things into the conversations of this machine.
	Here Deliverer
	// Messenger sends to chats. nil: there are none.
	Messenger Messenger
	// Contacts returns the contacts of contacts.org, and those of the person's Emacs that a query may mean. An empty query
	// asks no Emacs. nil: there are none.
	Contacts func(ctx context.Context, in Conversation, query string) ([]contacts.Contact, error)
	// HasContacts reports whether the person keeps contacts. nil: they do not.
	HasContacts func() bool
	// Owner returns where the person is reached.
	Owner func(ctx context.Context) (Target, error)
	Voice Voice
	Files Files
	NewID func() string
	// Now is the person's clock.
	Now func() time.Time
}

// Target is a conversation: a channel and the id of a chat, or emacs and the name of a session.
type Target struct{ Channel, Chat string }

// String is the target as rules of policy.org name it.
func (t Target) String() string { return t.Channel + " " + t.Chat }

// emacsChannel is the channel of the conversations on this machine.
const emacsChannel = string(protocol.ChannelEmacs)

// ownerName is the name of the person as a target.
const ownerName = "owner"

// Deliverer puts texts and links to files into the conversations of this machine.
type Deliverer interface {
	// Show puts them into the conversation of the running turn, before its answer.
	Show(ctx context.Context, in Conversation, id, text string, files []string) error
	// Post puts a text at the end of another conversation, once for its id.
	Post(ctx context.Context, id, session, text string) error
}

// Messenger sends to the chats of channels.
type Messenger interface {
	// Channels returns the channels that are connected.
	Channels() []ChannelInfo
	// Send sends a text and files, in this order, and returns what became of each part. It waits for a moment for what
	// can be sent at once. An error means that nothing was sent.
	Send(ctx context.Context, m Outbound) ([]SentPart, error)
	// React reacts to a message, or takes a reaction back.
	React(ctx context.Context, to Target, message, emoji string, remove bool) error
}

// ChannelInfo is a connected channel, and what it takes.
type ChannelInfo struct {
	Name      string
	FileLimit int64 // bytes of a file, 0 where files cannot be sent
	Reacts    bool
	Emoji     []string // the only reactions, nil for any
}

// Outbound is what is sent to a chat at once.
type Outbound struct {
	ID            string // the same ID again sends nothing
	Session, Turn string // in which it is sent
	To            Target
	Text          string
	Files         []OutboundFile
	ReplyTo       string
}

// OutboundFile is a file that is sent. One whose content has another hash by then is not sent.
type OutboundFile struct {
	Path, Name, Media string
	Size              int64
	Hash              string
	Voice             bool
}

// PartState is what became of a part of a message.
type PartState string

// The states of parts.
const (
	PartSent   PartState = "sent"
	PartQueued PartState = "queued" // it waits, and is sent as soon as that is possible
	PartFailed PartState = "failed"
)

// SentPart is what became of the text or of a file.
type SentPart struct {
	File  string // its path; "" for the text
	State PartState
	Why   string // of a failure
	ID    string // that the chat gave to it
}

func (m Messages) there() bool { return m.Here != nil }

// anyChannel reports whether a channel is connected.
func (m Messages) anyChannel() bool { return m.there() && len(m.channels()) > 0 }

func (m Messages) channels() []ChannelInfo {
	if m.Messenger == nil {
		return nil
	}
	return m.Messenger.Channels()
}

// channel returns a connected channel.
func (m Messages) channel(name string) (ChannelInfo, error) {
	all := m.channels()
	names := []string{emacsChannel}
	for _, c := range all {
		if c.Name == name {
			return c, nil
		}
		names = append(names, c.Name)
	}
	return ChannelInfo{}, protocol.ToolErrorf(protocol.ToolNotFound, "no channel %q is connected%s; there is %s", name, suggest.Question(suggest.Of(name, names), "%q"), strings.Join(names, ", "))
}

// own returns the conversation of the turn, if something can be sent to it before the answer.
func (m Messages) own(by *Caller) (Target, bool) {
	switch route := by.Conversation.Route; route.Kind {
	case protocol.RouteEmacs:
		return Target{emacsChannel, by.Conversation.Session}, true
	case protocol.RouteChannel:
		return Target{string(route.Channel), route.Chat}, true
	}
	return Target{}, false
}

// place is where something goes, as it was judged.
type place struct {
	Target
	same bool // it is the conversation of the turn
	who  string
}

// describe names the place for a person.
func (p place) describe() string {
	switch {
	case p.same:
		return "this conversation"
	case p.Channel == emacsChannel:
		return "the conversation " + p.Chat
	case p.who != "" && p.who != p.Chat:
		return fmt.Sprintf("%s (%s)", p.who, p.Target)
	}
	return p.Target.String()
}

// place finds the conversation that a platform and a target name. judged is the one that was found before, "" if none was.
//
// Without a target it is that of the turn, unless another platform is named. Then the target is one of: owner, the id of
// the turn's own chat, a session of Emacs, the name of a contact, an id. The name of a platform may stand before an id. Case
// does not matter in platforms and in names; in ids it does.
func (m Messages) place(ctx context.Context, by *Caller, platform, target, judged string) (place, error) {
	if by.Conversation.Route.Kind == protocol.RouteSubagent {
		return place{}, protocol.ToolErrorf(protocol.ToolRefused, "a subagent sends nothing: its report goes to who started it")
	}
	own, hasOwn := m.own(by)
	here := func(t Target, who string) (place, error) {
		p := place{Target: t, same: hasOwn && t == own, who: who}
		if t.Channel != emacsChannel {
			if _, err := m.channel(t.Channel); err != nil {
				return place{}, err
			}
		} else if !protocol.ValidSession(t.Chat) {
			return place{}, protocol.ToolErrorf(protocol.ToolArguments, "%q names no conversation of Emacs", t.Chat)
		}
		return p, nil
	}
	if channel, chat, ok := strings.Cut(judged, " "); ok {
		t := Target{channel, chat}
		return here(t, m.nameOf(ctx, by, t))
	}
	platform = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(platform), ":"))
	target = strings.TrimSpace(target)
	if name, rest, prefixed := strings.Cut(target, ":"); prefixed && m.isPlatform(name) && (platform == "" || strings.EqualFold(platform, name)) {
		platform, target = strings.ToLower(name), strings.TrimSpace(rest)
	}
	switch {
	case target == "" && (platform == "" || platform == own.Channel) && hasOwn:
		return here(own, "")
	case target == "" && platform != "" && platform != own.Channel:
		return place{}, protocol.ToolErrorf(protocol.ToolArguments, "name the :target on %s: this conversation is not there, so its own is none", platform)
	case target == "" && by.Conversation.Route.Kind == protocol.RouteCLI:
		return place{}, protocol.ToolErrorf(protocol.ToolUnfit, "at a command line nothing is shown before the answer: write the text into your answer, and name files there by their paths")
	case target == "":
		return place{}, protocol.ToolErrorf(protocol.ToolArguments, "nobody is in this conversation: name the :target, such as %q, which is the user", ownerName)
	case strings.EqualFold(target, ownerName) && platform == "":
		if m.Owner == nil {
			return place{}, protocol.ToolErrorf(protocol.ToolNotFound, "it is not known where the user is reached")
		}
		t, err := m.Owner(ctx)
		if err != nil {
			return place{}, err
		}
		return here(t, "the user")
	case hasOwn && (platform == "" || platform == own.Channel) && target == own.Chat:
		return here(own, "")
	case platform == emacsChannel:
		if session, ok := protocol.BufferSession(target); ok {
			target = session
		}
		return here(Target{emacsChannel, target}, "")
	}
	if platform != "" {
		if _, err := m.channel(platform); err != nil {
			return place{}, err
		}
	}
	if by.alone() != nil || m.Contacts == nil {
		if platform == "" {
			return place{}, protocol.ToolErrorf(protocol.ToolRefused, "others listen here, so no contact is looked up: name the :platform and the id of the chat")
		}
		return here(Target{platform, target}, "")
	}
	all, err := m.Contacts(ctx, by.Conversation, "")
	if err != nil {
		return place{}, err
	}
	c, a, err := contacts.Find(all, target, platform, own.Channel)
	switch {
	case err == nil:
		return here(Target{a.Channel, a.Target()}, c.Name)
	case protocol.ToolErrorOf(err).Code == protocol.ToolNotFound && platform != "" && !strings.ContainsAny(target, " \t"):
		return here(Target{platform, target}, "") // an id that no contact has: who is asked sees it
	}
	return place{}, err
}

// isPlatform reports whether a word is the name of a connected channel, or of Emacs.
func (m Messages) isPlatform(word string) bool {
	return strings.EqualFold(word, emacsChannel) || slices.ContainsFunc(m.channels(), func(c ChannelInfo) bool { return strings.EqualFold(c.Name, word) })
}

// nameOf returns who has an address, "" if that is not known or not told here.
func (m Messages) nameOf(ctx context.Context, by *Caller, t Target) string {
	if m.Contacts == nil || by.alone() != nil {
		return ""
	}
	all, err := m.Contacts(ctx, by.Conversation, "")
	if err != nil {
		return ""
	}
	for _, c := range all {
		if slices.ContainsFunc(c.Addresses, func(a contacts.Address) bool {
			return a.Channel == t.Channel && (a.Target() == t.Chat || a.Chat == t.Chat)
		}) {
			return c.Name
		}
	}
	return ""
}

// reach returns what a call reaches by sending to a place. To the conversation of the turn nothing but files is sent that
// was not said there anyway; and what goes to the person alone, in an Emacs, is told to nobody else.
func (m Messages) reach(ctx context.Context, by *Caller, p place) []protocol.Reach {
	if p.same || p.Channel == emacsChannel && by.alone() == nil && m.isOwner(ctx, p.Target) {
		return []protocol.Reach{}
	}
	return []protocol.Reach{{Kind: protocol.ReachSends, Chat: p.String()}}
}

// isOwner reports whether the person is reached there.
func (m Messages) isOwner(ctx context.Context, t Target) bool {
	if m.Owner == nil {
		return false
	}
	owner, err := m.Owner(ctx)
	return err == nil && owner == t
}

// outcome says what became of the parts of a message. It is an error if nothing was sent.
func outcome(p place, parts []SentPart) (string, error) {
	var sent, queued, failed []string
	for _, part := range parts {
		name := cmp.Or(part.File, "the text")
		switch part.State {
		case PartSent:
			if part.ID != "" {
				name += " (message " + part.ID + ")"
			}
			sent = append(sent, name)
		case PartQueued:
			queued = append(queued, name)
		default:
			failed = append(failed, name+": "+strings.TrimRight(part.Why, "."))
		}
	}
	var lines []string
	if len(sent) > 0 {
		lines = append(lines, fmt.Sprintf("Delivered to %s: %s.", p.describe(), strings.Join(sent, ", ")))
	}
	if len(queued) > 0 {
		lines = append(lines, fmt.Sprintf("Not delivered yet to %s: %s; it is sent as soon as that is possible, so do not send it again.", p.describe(), strings.Join(queued, ", ")))
	}
	if len(failed) > 0 {
		lines = append(lines, "Not delivered: "+strings.Join(failed, "; ")+".")
	}
	text := strings.Join(lines, "\n")
	if len(sent)+len(queued) == 0 {
		return "", protocol.ToolErrorf(protocol.ToolFailed, "%s", text)
	}
	return text, nil
}
