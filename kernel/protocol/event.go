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
	CommandLimit = 64      // bytes of a command's name
)

// MainSession is the session whose buffer is *org-agent-chat*.
const MainSession = "main"

// PayloadSkill is the field of a message's payload that names the prompt skill which
// the person asked for with /NAME.
const PayloadSkill = "skill"

// PayloadDirectory is the field of a message's payload with the directory that a person asked
// from: the files of the project that it is in may be read.
const PayloadDirectory = "directory"

// PayloadGroup is the field of a message's payload that says that others hear the
// conversation: what is the person's own is not brought up in it.
const PayloadGroup = "group"

// Event is what a sensor or a client reports. Payload holds every parameter
// that has no field here; it never holds one that has.
type Event struct {
	ID      string // the client's, else made by the kernel; the question's :ID:
	Session string
	Sensor  Sensor
	Route   Route
	// Text is what the person said, as it stands in the conversation: of a command
	// "/NAME ARGUMENTS", and below that what it was given on.
	Text string
	// Command names the command that a :user-command is, and Arguments is what stood
	// behind its name; "" for all else.
	Command, Arguments string
	Level              int // of the question's heading, 1 or more
	// Stamp is when it was sent, in the person's time zone; models are told it. The zero
	// value is told to nobody. It is no part of the event's record.
	Stamp time.Time `json:"-"`
	// Context is what the person sends along. A journalled event only tells of it:
	// the texts are in a row of their own.
	Context []ContextItem
	// Instead is the question of the same session in whose place this one stands: the
	// model is shown what was said before that one. "" for all but an edited question.
	Instead string
	// Parent is the question or the answer of the same session whose heading this one
	// stands below, "" for none.
	Parent string
	// Properties are those of the question's heading, as the person wrote them.
	Properties []Property
	// Above is the Org text that sets something for the question: of the file what stands
	// before its first heading, then each heading it stands below with its drawer. It is no
	// part of the event's record; Settings is what came of it.
	Above string `json:"-"`
	// Presets are the presets that the text names with an at sign: no part of what a model
	// is told.
	Presets []string
	// Settings are what holds for the turn.
	Settings TurnSettings
	Payload  Object
	// Consent is the host a person has agreed to send words to; it is no part of
	// the event's record.
	Consent string `json:"-"`
}

// ParseEvent reads the parameters of the method "event". Missing: the session
// is main, the level 1; of the route only the channel is set, as the client said it, and the
// caller makes the route. The
// error is a [*Error] with code [CodeInvalidParams].
func ParseEvent(params Object) (Event, error) {
	e := Event{Session: MainSession, Level: 1}
	said := ""
	for _, f := range params {
		text, isText := f.Value.(string)
		if k, ok := f.Value.(Keyword); ok {
			text, isText = string(k), true
		}
		place := e.textAt(f.Key)
		if f.Key == "said" {
			place = &said
		}
		var err error
		switch {
		case place == nil:
			err = e.take(f, text)
		case !isText:
			err = Errorf(CodeInvalidParams, ":%s must be text", f.Key)
		default:
			*place = text
		}
		if err != nil {
			return e, err
		}
	}
	if err := e.takeCommand(said); err != nil {
		return e, err
	}
	return e, e.check()
}

// textAt is where the text of a parameter goes; nil for one that is no text.
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

// take reads a parameter that is not, or need not be, text.
func (e *Event) take(f Field, text string) (err error) {
	switch f.Key {
	case "properties":
		e.Properties, err = ParseProperties(f.Value)
	case "level":
		n, ok := f.Value.(int64)
		if !ok || n < 1 || n > 1000 {
			return Errorf(CodeInvalidParams, ":level is the question's heading level, a positive integer")
		}
		e.Level = int(n)
	case "context":
		e.Context, err = parseContext(f.Value)
	case "type":
		if Type(strings.ToLower(text)) != TypeEvent { // an event may say that it is one
			return Errorf(CodeForbidden, "a client sends events, never actions: leave :type out")
		}
	case "approved", "verified", "policy", "origin":
		return Errorf(CodeForbidden, ":%s cannot be set from outside", f.Key)
	default:
		e.Payload = append(e.Payload, f)
	}
	return err
}

// takeCommand makes the event one with a command, if it has one: its :text is the
// arguments, :said how both stand in the conversation.
func (e *Event) takeCommand(said string) error {
	if e.Command == "" && said == "" {
		return nil
	}
	if e.Sensor != SensorUserCommand || e.Command == "" {
		return Errorf(CodeInvalidParams, ":command and :said belong to a :user-command, and :said to one with a :command")
	}
	if len(e.Command) > CommandLimit || strings.ContainsFunc(e.Command, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == '/' }) {
		return Errorf(CodeInvalidParams, "the :command %q is no command's name: one word of %d bytes at most", text.Clip(e.Command, CommandLimit), CommandLimit)
	}
	e.Command = strings.ToLower(e.Command)
	e.Arguments = strings.TrimSpace(e.Text)
	e.Text = strings.TrimSpace("/" + e.Command + " " + e.Arguments)
	if said == "" {
		return nil
	}
	if !strings.HasPrefix(said, "/") || strings.ToLower(strings.Fields(said)[0]) != "/"+e.Command {
		return Errorf(CodeInvalidParams, "what was :said has to begin with /%s", e.Command)
	}
	e.Text = said
	return nil
}

// Words are what the person says to the model: the text without the presets that it names.
func (e *Event) Words() string { return WithoutMentions(e.Text, e.Presets) }

// Said reports whether the event is words that have a heading in the conversation: a
// person's, the task of a subagent, or the report of one.
func (e *Event) Said() bool {
	return e.Message() || e.Sensor == SensorUserCommand && e.Command != ""
}

// Message reports whether the event is answered as a message is: it is one, the task of a
// subagent, or the report of one. To skills all three are messages.
func (e *Event) Message() bool {
	return e.Sensor == SensorChatMessage || e.Sensor == SensorSubagent || e.Sensor == SensorReport
}

// Broadcast reports whether the event is for every skill that matches, each in a turn of its own.
// A message or a command is for the best skill alone, and what the kernel makes itself has its
// skill already.
func (e *Event) Broadcast() bool {
	switch e.Sensor {
	case SensorChatMessage, SensorUserCommand, SensorSubagent, SensorReport, SensorPost, SensorToolCall:
		return false
	}
	return true
}

func (e *Event) check() error {
	if e.Sensor == "" {
		return Errorf(CodeInvalidParams, "an event needs a :sensor, for a message :chat-message")
	}
	switch e.Sensor {
	case SensorProbe, SensorPost, SensorToolCall, SensorSubagent, SensorReport:
		return Errorf(CodeForbidden, "the sensor :%s is the kernel's own", e.Sensor)
	}
	if len(e.Text) > TextLimit {
		return Errorf(CodeTooLarge, "the text has %d bytes, more than the %d allowed: send a part, or name a file", len(e.Text), TextLimit)
	}
	if e.Sensor == SensorChatMessage && strings.TrimSpace(e.Text) == "" {
		return Errorf(CodeInvalidParams, "nothing to send: the message is empty")
	}
	if e.ID != "" && !ValidID(e.ID) {
		return Errorf(CodeInvalidParams, "the :id %q is not one: use up to %d letters, digits and . _ : @ + = - without blanks", e.ID, IDLimit)
	}
	if e.Instead != "" && !e.Said() {
		return Errorf(CodeInvalidParams, "only a message can stand in the place of another one: :instead belongs to a :chat-message or a command")
	}
	if !e.Said() && (e.Parent != "" || len(e.Properties) > 0) {
		return Errorf(CodeInvalidParams, "only a message has a heading: :parent and :properties belong to a :chat-message or a command")
	}
	if len(e.Above) > AboveLimit {
		return Errorf(CodeTooLarge, "what stands :above has %d bytes, more than the %d allowed", len(e.Above), AboveLimit)
	}
	if !ValidSession(e.Session) {
		return Errorf(CodeInvalidParams, "the session name %q is not one: use up to %d letters, digits, blanks and . _ -, not beginning with a dot", e.Session, SessionLimit)
	}
	return nil
}

// ValidID reports whether id can stand as an Org :ID:.
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

// ValidSession reports whether name can name a session, and so its file:
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

// BufferSession is the inverse of [SessionBuffer]; ok is false for a buffer
// that is no conversation's.
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
