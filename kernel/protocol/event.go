package protocol

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"org-agent/kernel/text"
)

// Limits of an event. A longer text is refused, not cut.
const (
	TextLimit    = 4 << 20 // bytes of an event's :text
	IDLimit      = 128     // bytes of an id
	SessionLimit = 64      // characters of a session's name
	commandLimit = 64      // bytes of a command's name
)

// MainSession is the session whose buffer is *org-agent-chat*.
const MainSession = "main"

// PayloadSkill is the field of a message's payload that names the prompt skill which the person
// requested with /NAME.
const PayloadSkill = "skill"

// PayloadDirectory is the field of a message's payload with the directory from which the person
// sent it. Tools may read the files of its project.
const PayloadDirectory = "directory"

// Fields of the payload of an event of the person's Org files. PayloadHeadings are plists, one for each
// heading that it is about. PayloadBy of a heading is who changed it: absent for the person; from a client
// the turn of the agent that did, and for skills the name of the skill. PayloadChain is how many reactions
// of the agent led to the event; the kernel sets it.
const (
	PayloadHeadings = "headings"
	PayloadBy       = "by"
	PayloadChain    = "chain"
)

// PayloadMessage is the field of a message's payload that says who wrote it in which chat. The kernel sets it for messages
// of channels. PayloadOwner is set if that is the agent's owner.
const (
	PayloadMessage = "message"
	PayloadOwner   = "owner"
)

// PayloadGroup is the field of a message's payload that is set if others read the
// conversation. The agent mentions nothing private in it.
const PayloadGroup = "group"

// Event is something that a sensor or a client reports. Payload has exactly the
// parameters that have no field here.
type Event struct {
	ID      string // the client's, else made by the kernel; the question's :ID:
	Session string
	Sensor  Sensor
	Route   Route
	// Text is the person's text as the conversation has it. For a command it is "/NAME ARGUMENTS"
	// and, below that, the text to which the command applies.
	Text string
	// Command is the name of a :user-command, and Arguments the text behind the name. Both
	// are "" for any other event.
	Command, Arguments string
	Level              int // the level of the question's heading; the journal stores 1 for 0
	// Stamp is when the event was sent, in the person's time zone. Models see it unless it
	// is zero. The event's record does not have it.
	Stamp time.Time `json:"-"`
	// Context are the items that the person sends along. A journalled event has them
	// without their texts, which are in a separate row.
	Context []ContextItem
	// Instead is the question of the same session that this edited question replaces. The
	// model sees the turns before it. It is "" for any other event.
	Instead string
	// Parent is the question or the answer of the same session whose heading is above this
	// one, "" for none.
	Parent string
	// Properties are those of the question's heading, as the person wrote them.
	Properties []Property
	// Above is the Org text with settings for the question: the beginning of the file up to its
	// first heading, and then each heading above the question with its drawer. The record of the
	// event does not have it. It has the resulting Settings.
	Above string `json:"-"`
	// Presets are the presets that the text names with an at sign. Models do not see these
	// words.
	Presets []string
	// Settings are those of the turn.
	Settings TurnSettings
	Payload  Object
	// Consent is the host to which the person agreed to send words. The event's record
	// does not have it.
	Consent string `json:"-"`
}

// ParseEvent reads the parameters of the method "event". The default session is
// main, and the default level 1. Of the route it sets only the client's channel;
// the caller makes the route. The error is an [*Error].
func ParseEvent(params Object) (Event, error) {
	e := Event{Session: MainSession, Level: 1}
	full := ""
	for _, f := range params {
		text, isText := f.Value.(string)
		if k, ok := f.Value.(Keyword); ok {
			text, isText = string(k), true
		}
		place := e.textAt(f.Key)
		if f.Key == "said" {
			place = &full
		}
		var err error
		switch {
		case place == nil:
			err = e.set(f, text)
		case !isText:
			err = Errorf(CodeInvalidParams, ":%s must be text", f.Key)
		default:
			*place = text
		}
		if err != nil {
			return e, err
		}
	}
	if err := e.setCommand(full); err != nil {
		return e, err
	}
	return e, e.check()
}

// textAt returns the field for a parameter that is text, nil for any other.
func (e *Event) textAt(key string) *string {
	switch key {
	case "id":
		return &e.ID
	case "session":
		return &e.Session
	case "sensor":
		return (*string)(&e.Sensor)
	case "channel":
		return (*string)(&e.Route.Channel)
	case "text":
		return &e.Text
	case "command":
		return &e.Command
	case "consent":
		return &e.Consent
	case "instead":
		return &e.Instead
	case "parent":
		return &e.Parent
	case "above":
		return &e.Above
	}
	return nil
}

// set sets a parameter that need not be text.
func (e *Event) set(f Field, text string) (err error) {
	switch f.Key {
	case "properties":
		e.Properties, err = parseProperties(f.Value)
	case "level":
		n, ok := f.Value.(int64)
		if !ok || n < 1 || n > 1000 {
			return Errorf(CodeInvalidParams, ":level is the question's heading level, a positive integer")
		}
		e.Level = int(n)
	case "context":
		e.Context, err = parseContext(f.Value)
	case "type":
		if Type(strings.ToLower(text)) != TypeEvent { // the type of an event is allowed
			return Errorf(CodeForbidden, "a client sends events, never actions: leave :type out")
		}
	case "approved", "verified", "policy", "origin":
		return Errorf(CodeForbidden, ":%s cannot be set from outside", f.Key)
	default:
		e.Payload = append(e.Payload, f)
	}
	return err
}

// setCommand sets the command of an event. The event's :text is the arguments, and :said is the
// full text in the conversation.
func (e *Event) setCommand(full string) error {
	if e.Command == "" && full == "" {
		return nil
	}
	if e.Sensor != SensorUserCommand || e.Command == "" {
		return Errorf(CodeInvalidParams, ":command and :said belong to a :user-command, and :said to one with a :command")
	}
	if len(e.Command) > commandLimit || strings.ContainsFunc(e.Command, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == '/' }) {
		return Errorf(CodeInvalidParams, "the :command %q is not the name of a command: use one word of at most %d bytes", text.Clip(e.Command, commandLimit), commandLimit)
	}
	e.Command = strings.ToLower(e.Command)
	e.Arguments = strings.TrimSpace(e.Text)
	e.Text = strings.TrimSpace("/" + e.Command + " " + e.Arguments)
	if full == "" {
		return nil
	}
	if !strings.HasPrefix(full, "/") || strings.ToLower(strings.Fields(full)[0]) != "/"+e.Command {
		return Errorf(CodeInvalidParams, ":said must begin with /%s", e.Command)
	}
	e.Text = full
	return nil
}

// Words returns the person's text for the model, without the presets that it names.
func (e *Event) Words() string { return WithoutMentions(e.Text, e.Presets) }

// HasHeading reports whether the event has a heading in the conversation: a person's message or
// command, the task of a subagent, or the report of one.
func (e *Event) HasHeading() bool {
	return e.Message() || e.Sensor == SensorUserCommand && e.Command != ""
}

// Message reports whether the event is a message, a task of the person's or of a subagent, or the report of
// a subagent. To skills all of them are messages.
func (e *Event) Message() bool {
	return e.Sensor == SensorChatMessage || e.Sensor == SensorTask || e.Sensor == SensorSubagent || e.Sensor == SensorReport
}

// Broadcast reports whether every skill that matches the event handles it, each in its own turn. A
// message or a command goes to the best skill alone, and an event of the kernel's own names its
// skill.
func (e *Event) Broadcast() bool {
	switch e.Sensor {
	case SensorChatMessage, SensorUserCommand, SensorTask, SensorSubagent, SensorReport, SensorPost, SensorToolCall:
		return false
	}
	return true
}

func (e *Event) check() error {
	if e.Sensor == "" {
		return Errorf(CodeInvalidParams, "an event needs a :sensor, for a message :chat-message")
	}
	switch e.Sensor {
	case SensorProbe, SensorPost, SensorToolCall, SensorTask, SensorSubagent, SensorReport:
		return Errorf(CodeForbidden, "the sensor :%s is the kernel's own", e.Sensor)
	}
	if len(e.Text) > TextLimit {
		return Errorf(CodeTooLarge, "the text has %d bytes, more than the %d allowed: send a part, or name a file", len(e.Text), TextLimit)
	}
	if e.Sensor == SensorChatMessage && strings.TrimSpace(e.Text) == "" {
		return Errorf(CodeInvalidParams, "nothing to send: the message is empty")
	}
	if e.ID != "" && !ValidID(e.ID) {
		return Errorf(CodeInvalidParams, "the :id %q is invalid: use up to %d letters, digits and . _ : @ + = - without blanks", e.ID, IDLimit)
	}
	if e.Instead != "" && !e.HasHeading() {
		return Errorf(CodeInvalidParams, "only a message can replace another one: :instead belongs to a :chat-message or a command")
	}
	if !e.HasHeading() && (e.Parent != "" || len(e.Properties) > 0) {
		return Errorf(CodeInvalidParams, "only a message has a heading: :parent and :properties belong to a :chat-message or a command")
	}
	if len(e.Above) > aboveLimit {
		return Errorf(CodeTooLarge, ":above has %d bytes, more than the %d allowed", len(e.Above), aboveLimit)
	}
	if !ValidSession(e.Session) {
		return Errorf(CodeInvalidParams, "the session name %q is invalid: use up to %d letters, digits, blanks and . _ -, not beginning with a dot", e.Session, SessionLimit)
	}
	return nil
}

// ValidID reports whether id is allowed as an Org :ID:.
func ValidID(id string) bool {
	if id == "" || len(id) > IDLimit || !utf8.ValidString(id) {
		return false
	}
	for _, r := range id {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._:@+=-", r) {
			return false
		}
	}
	return true
}

// ValidSession reports whether name is allowed for a session and its file:
// letters, digits, blank and . _ - , at most [SessionLimit] characters, no
// leading dot, no blank at either end.
func ValidSession(name string) bool {
	if name == "" || !utf8.ValidString(name) || utf8.RuneCountInString(name) > SessionLimit ||
		name[0] == '.' || strings.TrimSpace(name) != name {
		return false
	}
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" ._-", r) {
			return false
		}
	}
	return true
}

// SessionBuffer is the name of the Emacs buffer of a session.
func SessionBuffer(session string) string {
	if session == MainSession {
		return "*org-agent-chat*"
	}
	return fmt.Sprintf("*org-agent-chat: %s*", session)
}

// BufferSession is the inverse of [SessionBuffer]. ok is false for a buffer
// without a conversation.
func BufferSession(buffer string) (session string, ok bool) {
	if buffer == "*org-agent-chat*" {
		return MainSession, true
	}
	name, found := strings.CutPrefix(buffer, "*org-agent-chat: ")
	name, closed := strings.CutSuffix(name, "*")
	if !found || !closed || !ValidSession(name) || name == MainSession {
		return "", false
	}
	return name, true
}
