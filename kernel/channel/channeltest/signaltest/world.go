package signaltest

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Message is a message that the account sent, as people see it now.
type Message struct {
	Account   string   // the number of the account
	To        string   // a number, a UUID or the id of a group
	Timestamp int64    // by which Signal names it
	Text      string   // of its last edit
	Styles    []string // START:LENGTH:STYLE
	File      *File
	Quote     *Quote
	Edits     int
	Deleted   bool
}

// File is an attachment.
type File struct {
	Name, Media string
	Data        []byte
	Voice       bool
}

// Quote is what a message answers.
type Quote struct {
	Author    string
	Timestamp int64
	Text      string
}

// world are the people and groups on Signal, and what the account did there. The server's mutex guards it.
type world struct {
	clock    int64
	people   map[string]*person // by number and by UUID
	groups   map[string]bool    // by the id in base64
	files    map[string][]byte
	messages []*Message
	reacted  map[Quote][]string // by author and time
	typing   map[string]bool
}

type person struct {
	Account
	failure string // what becomes of a message to them, "" for SUCCESS
	after   int64  // the seconds to wait
	token   string
}

func (w *world) init(c Config) {
	w.clock = 1_700_000_000_000
	w.people, w.groups, w.files = map[string]*person{}, map[string]bool{}, map[string][]byte{}
	w.reacted, w.typing = map[Quote][]string{}, map[string]bool{}
	for _, a := range append([]Account{c.Account}, c.Others...) {
		w.add(a)
	}
}

func (w *world) add(a Account) *person {
	p := &person{Account: a}
	if a.Number != "" {
		w.people[a.Number] = p
	}
	if a.UUID != "" {
		w.people[a.UUID] = p
	}
	return p
}

// Register puts somebody on Signal.
func (s *Server) Register(a Account) { s.change(func() { s.world.add(a) }) }

// Block has messages to somebody fail, with a type of signal-cli's results such as UNREGISTERED_FAILURE, and with the
// seconds to wait and the token of a challenge if there are any.
func (s *Server) Block(a Account, failure string, after int64, token string) {
	s.change(func() {
		p := s.world.add(a)
		p.failure, p.after, p.token = failure, after, token
	})
}

// AddGroup makes a group with the account in it, by its id in base64.
func (s *Server) AddGroup(id string) { s.change(func() { s.world.groups[id] = true }) }

// AddFile puts an attachment where getAttachment finds it.
func (s *Server) AddFile(id string, data []byte) { s.change(func() { s.world.files[id] = data }) }

// Sent returns the messages to somebody or to a group, in the order in which they were sent.
func (s *Server) Sent(to string) (list []Message) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, m := range s.world.messages {
		if m.To == to {
			list = append(list, *m)
		}
	}
	return list
}

// Reactions returns the emoji with which the account reacted to a message.
func (s *Server) Reactions(author string, timestamp int64) []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.world.reacted[Quote{Author: author, Timestamp: timestamp}])
}

// IsTyping reports whether somebody or a group sees that the account is writing.
func (s *Server) IsTyping(to string) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.world.typing[to]
}

var (
	number = regexp.MustCompile(`^\+[1-9]\d{4,14}$`)
	uuid   = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	styled = regexp.MustCompile(`^(\d+):(\d+):(BOLD|ITALIC|SPOILER|STRIKETHROUGH|MONOSPACE)$`)
	uri    = regexp.MustCompile(`^data:([^/;,]+/[^;,]+)(?:;filename=([^;,]*))?;base64$`)
)

func userError(message string) *Error { return &Error{Code: UserError, Message: message} }

// perform does what a call of an account asks for.
func (w *world) perform(account, method string, a arguments) (any, *Error) {
	switch method {
	case "getUserStatus":
		return w.status(a)
	case "getAttachment":
		return w.attachment(a)
	}
	to, failed := w.recipient(a)
	if failed != nil {
		return nil, failed
	}
	switch method {
	case "send":
		return w.send(account, to, a)
	case "sendReaction":
		return w.react(to, a)
	case "remoteDelete":
		return w.remove(account, to, a)
	case "sendTyping":
		stop, failed := decoded[bool](a, "stop")
		w.typing[to] = !stop
		return w.outcome(to, 0), failed
	}
	return nil, &Error{Code: MethodError, Message: "Method not implemented"}
}

func (w *world) status(a arguments) (any, *Error) {
	names, failed := a.list("recipient")
	list := []map[string]any{}
	for _, name := range names {
		one := map[string]any{"recipient": name, "number": name, "isRegistered": false, "uuid": nil}
		if p := w.people[name]; p != nil && p.failure != "UNREGISTERED_FAILURE" {
			one["isRegistered"], one["uuid"] = true, p.UUID
		}
		list = append(list, one)
	}
	return list, failed
}

func (w *world) attachment(a arguments) (any, *Error) {
	id, failed := a.text("id")
	if failed != nil {
		return nil, failed
	}
	recipient, failed := a.text("recipient") // no list: signal-cli's option takes one
	if failed != nil {
		return nil, failed
	}
	group, _ := a.text("groupId")
	if (recipient == "") == (group == "") {
		return nil, userError("One of recipient and group id is required")
	}
	data, ok := w.files[id]
	if !ok {
		return nil, userError("Could not find attachment with ID: " + id)
	}
	return map[string]string{"data": base64.StdEncoding.EncodeToString(data)}, nil
}

// recipient returns the one to whom a call is.
func (w *world) recipient(a arguments) (string, *Error) {
	names, failed := a.list("recipient")
	if failed != nil {
		return "", failed
	}
	groups, failed := a.list("groupId")
	if failed != nil {
		return "", failed
	}
	switch {
	case len(names)+len(groups) == 0:
		return "", userError("No recipients given")
	case len(names)+len(groups) > 1:
		return "", userError("signaltest: more recipients than a chat has")
	case len(groups) == 1:
		if raw, err := base64.StdEncoding.DecodeString(groups[0]); err != nil || len(raw) != 32 && len(raw) != 16 {
			return "", userError("Invalid group id: Failed to decode groupId (must be base64) \"" + groups[0] + "\"")
		}
		if !w.groups[groups[0]] {
			return "", userError("Group not found: " + groups[0])
		}
		return groups[0], nil
	case !number.MatchString(names[0]) && !uuid.MatchString(names[0]):
		return "", userError("Invalid phone number '" + names[0] + "': The string supplied did not seem to be a phone number.")
	}
	return names[0], nil
}

// outcome is the result of a message. To nobody who is known is to somebody who is not registered.
func (w *world) outcome(to string, timestamp int64) map[string]any {
	one := map[string]any{"recipientAddress": map[string]any{"uuid": nil, "number": to, "username": nil}, "type": "SUCCESS"}
	if w.groups[to] {
		one["groupId"] = to
	} else if p := w.people[to]; p == nil {
		one["type"] = "UNREGISTERED_FAILURE"
	} else if p.failure != "" {
		one["type"] = p.failure
		if p.after > 0 {
			one["retryAfterSeconds"] = p.after
		}
		if p.token != "" {
			one["token"] = p.token
		}
	}
	return map[string]any{"timestamp": timestamp, "results": []any{one}}
}

// deliver returns the outcome, as an error where nobody gets the message.
func (w *world) deliver(to string, timestamp int64) (any, *Error) {
	o := w.outcome(to, timestamp)
	failed := Error{Code: UserError, Message: "Failed to send message", Data: map[string]any{"response": o}}
	switch o["results"].([]any)[0].(map[string]any)["type"] {
	case "SUCCESS":
		return o, nil
	case "IDENTITY_FAILURE":
		failed.Code, failed.Message = UntrustedError, "Failed to send message due to untrusted identities"
	case "RATE_LIMIT_FAILURE":
		failed.Code, failed.Message = RateLimitError, "Failed to send message due to rate limiting"
	}
	return nil, &failed
}

func (w *world) send(account, to string, a arguments) (any, *Error) {
	m := Message{Account: account, To: to}
	var failed *Error
	if m.Text, failed = a.text("message"); failed != nil {
		return nil, failed
	}
	if m.Styles, failed = a.list("textStyle"); failed != nil {
		return nil, failed
	}
	length := len(utf16.Encode([]rune(m.Text)))
	for _, style := range m.Styles {
		parts := styled.FindStringSubmatch(style)
		if parts == nil {
			return nil, userError("Invalid textStyle syntax (" + style + ") expected 'start:length:STYLE'")
		}
		start, _ := strconv.Atoi(parts[1])
		n, _ := strconv.Atoi(parts[2])
		if n == 0 || start+n > length {
			return nil, userError("signaltest: the style " + style + " is not in the text, and phones ignore it")
		}
	}
	if failed = m.attach(a); failed != nil {
		return nil, failed
	}
	if m.Quote, failed = quoted(a); failed != nil {
		return nil, failed
	}
	if m.Text == "" && m.File == nil && m.Quote == nil {
		return nil, userError("Sending empty message is not allowed, either a message, attachment or sticker must be given.")
	}
	target, failed := a.number("editTimestamp")
	if failed != nil {
		return nil, failed
	}
	w.clock++
	m.Timestamp = w.clock
	if result, failed := w.deliver(to, m.Timestamp); failed != nil {
		return result, failed
	}
	if target == 0 {
		w.messages = append(w.messages, &m)
	} else if old := w.find(account, to, target); old != nil {
		old.Text, old.Styles, old.Edits = m.Text, m.Styles, old.Edits+1
	}
	return w.deliver(to, m.Timestamp)
}

// find returns a message of the account, nil if there is none.
func (w *world) find(account, to string, timestamp int64) *Message {
	for _, m := range w.messages {
		if m.Account == account && m.To == to && m.Timestamp == timestamp {
			return m
		}
	}
	return nil
}

// attach reads the attachment of a message.
func (m *Message) attach(a arguments) *Error {
	files, failed := a.list("attachments")
	if failed != nil || len(files) == 0 {
		return failed
	}
	invalid := func(why string) *Error {
		return &Error{Code: InternalError, Message: "Failed to send message: " + why + " (AttachmentInvalidException) (UnexpectedErrorException)"}
	}
	head, content, _ := strings.Cut(files[0], ",")
	parts := uri.FindStringSubmatch(head)
	if len(files) > 1 || parts == nil || content == "" {
		return invalid(head + ": The given string is not a valid data URI.")
	}
	name, err := url.QueryUnescape(parts[2])
	data, undecoded := base64.StdEncoding.DecodeString(content)
	if err != nil || undecoded != nil {
		return invalid("Illegal base64 character")
	}
	m.File = &File{Name: name, Media: parts[1], Data: data}
	m.File.Voice, failed = decoded[bool](a, "voiceNote")
	return failed
}

// quoted reads what a message answers.
func quoted(a arguments) (*Quote, *Error) {
	timestamp, failed := a.number("quoteTimestamp")
	if failed != nil || timestamp == 0 {
		return nil, failed
	}
	author, failed := a.text("quoteAuthor")
	if failed != nil {
		return nil, failed
	}
	if !number.MatchString(author) && !uuid.MatchString(author) {
		return nil, userError("Quote author parameter is missing")
	}
	text, failed := a.text("quoteMessage")
	return &Quote{author, timestamp, text}, failed
}

// react reacts to a message. There is one reaction of the account to each.
func (w *world) react(to string, a arguments) (any, *Error) {
	emoji, _ := a.text("emoji")
	author, _ := a.text("targetAuthor")
	timestamp, failed := a.number("targetTimestamp")
	remove, wrong := decoded[bool](a, "remove")
	switch {
	case failed != nil:
		return nil, failed
	case wrong != nil:
		return nil, wrong
	case emoji == "":
		return nil, userError("Missing parameter emoji")
	case !number.MatchString(author) && !uuid.MatchString(author):
		return nil, userError("Invalid phone number '" + author + "'")
	}
	w.clock++
	result, failed := w.deliver(to, w.clock)
	if failed == nil {
		w.reacted[Quote{Author: author, Timestamp: timestamp}] = nil
		if !remove {
			w.reacted[Quote{Author: author, Timestamp: timestamp}] = []string{emoji}
		}
	}
	return result, failed
}

// remove takes a message back.
func (w *world) remove(account, to string, a arguments) (any, *Error) {
	timestamp, failed := a.number("targetTimestamp")
	if failed != nil {
		return nil, failed
	}
	w.clock++
	result, failed := w.deliver(to, w.clock)
	if m := w.find(account, to, timestamp); failed == nil && m != nil {
		m.Deleted = true
	}
	return result, failed
}
