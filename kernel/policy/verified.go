package policy

import (
	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
)

// Verified is an action that the policy let through. Only this package can
// make one that is [Verified.Valid]; a zero value, or one made by hand, is
// refused by the one function that performs.
type Verified struct {
	by     *Policy
	action sexp.List // the kernel's view: nested, stripped, paths resolved
}

// Valid reports whether a policy made this value.
func (v Verified) Valid() bool { return v.by != nil }

// Type is the action's :type.
func (v Verified) Type() protocol.Type { return protocol.Type(view{v.action}.word("type")) }

// Target is the action's :target in lower case without the colon, "" for a
// :response or a :log.
func (v Verified) Target() string { return view{v.action}.word("target") }

// Action is the :action in lower case without the colon; "" where there is none.
func (v Verified) Action() string { return view{v.action}.payloadWord("action") }

// Text is the payload's :text, "" if it has none.
func (v Verified) Text() string { return view{v.action}.text("text") }

// Tool is the name of the tool that a call is of, as it is written; "" for anything else.
func (v Verified) Tool() string {
	name, _ := plist.Text(view{v.action}.payload(), "tool")
	return name
}

// Canonical is the action as one line, for the journal and for people.
func (v Verified) Canonical() string { return plist.Print(v.action) }

// Payload is the action's payload for the wire.
func (v Verified) Payload() (protocol.Object, error) { return Payload(v.action) }

// Payload is the payload of an action in the kernel's view for the wire, with the :id of what
// is acted on also where that stands beside it.
func Payload(action sexp.List) (protocol.Object, error) {
	var o protocol.Object
	payload := view{action}.payload()
	if id := (view{action}).text("id"); id != "" {
		payload = plist.Put(payload, "id", plist.String(id))
	}
	err := plist.Unmarshal(payload, &o)
	return o, err
}

// IntoConversation reports whether performing the action puts Text into the
// conversation that the turn of session came from, which ends the turn.
func (v Verified) IntoConversation(session string) bool {
	a := view{v.action}
	switch a.word("type") {
	case "response":
		return true
	case "request":
		return a.word("target") == "emacs" && a.payloadWord("action") == "insert-at-end" && ownBuffer(a.text("buffer"), session)
	}
	return false
}

// ownBuffer: no buffer, the main buffer's name and the session's own all mean
// the conversation the turn came from.
func ownBuffer(buffer, session string) bool {
	return buffer == "" || buffer == protocol.SessionBuffer(protocol.MainSession) || buffer == protocol.SessionBuffer(session)
}

// view reads an action in the kernel's form.
type view struct{ action sexp.List }

func (a view) payload() sexp.List {
	v, _ := plist.Get(a.action, "payload")
	list, _ := v.(sexp.List)
	return list
}

func (a view) word(key string) string {
	k, _ := plist.KeywordValue(a.action, key)
	return string(k)
}

func (a view) payloadWord(key string) string {
	k, _ := plist.KeywordValue(a.payload(), key)
	return string(k)
}

// field is a field of the payload; :id, which may name what is acted on, stands
// beside it.
func (a view) field(key string) (sexp.Sexp, bool) {
	if v, ok := plist.Get(a.payload(), key); ok || key != "id" {
		return v, ok
	}
	return plist.Get(a.action, key)
}

func (a view) text(key string) string {
	v, _ := a.field(key)
	s, _ := v.(plist.String)
	return string(s)
}
