package action

import (
	"fmt"
	"slices"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
)

// Form is a shape that a proposal may have, with <…> in place of each value to fill in.
type Form struct {
	Key
	// Does says what the form is for.
	Does string
	// Text is the property list.
	Text string
	// Instead shows the fields that may replace the first one of [Spec.OneOf], with example values.
	Instead string

	own   bool // it answers the conversation
	spec  Spec
	list  sexp.List         // the property list, as a value
	fixed map[string]string // fields with a fixed value, as Lisp
}

// Proposed returns the form as a proposal, in which a skill and the kernel see what a reply of this
// form would be.
func (f Form) Proposed() Proposed { return Propose(f.list) }

// Elsewhere returns the form for any place, if this one is bound to the chat that a turn answers.
func (f Form) Elsewhere() Form {
	if f.own && !f.spec.Answers {
		return f.spec.Form()
	}
	return f
}

// Own reports whether the form answers the conversation of the turn, as the kernel answers with a text in no form.
func (f Form) Own() bool { return f.own }

// Another reports whether something else that a model is told does the same: the answer in no form if plain is
// set, or a tool that is offered and does as the action does. A line in the log is told to no model: it is no
// answer to anybody.
func (f Form) Another(offered []string, plain bool) bool {
	return plain && f.Replies() && !f.elsewhere() || f.spec.Type == protocol.TypeLog || slices.Contains(offered, f.spec.Tool)
}

// elsewhere reports whether the form sends a text to any chat on a channel.
func (f Form) elsewhere() bool { return !f.own && !f.spec.Answers && f.spec.Type == "" }

// CallsTools calls [Spec.CallsTools] of the form's kind.
func (f Form) CallsTools() bool { return f.spec.CallsTools() }

// String returns the form as a line of a prompt.
func (f Form) String() string {
	line := f.Does + ": " + f.Text
	if f.Instead != "" {
		line += ", or with " + f.Instead
	}
	return line
}

// Forms returns the shapes of all actions that may be proposed in a turn. The answer comes first.
// They are made from the specs that check proposals. A form is listed even if nothing performs its
// action. A chat on a channel is answered by the channel's own kind if there is one.
func (s Specs) Forms(route protocol.Route) []Form {
	var answer, rest []Form
	sent := slices.ContainsFunc(s, func(spec Spec) bool { return spec.sendsTo(route) })
	for _, spec := range s {
		own := spec.Answers
		if sent {
			own = spec.sendsTo(route)
		}
		switch {
		case spec.Off != "":
		case own: // the answer, which stands first
			answer = append(answer, spec.form(route, true))
		case !spec.Answers: // on a channel, other answers are not offered
			rest = append(rest, spec.form(route, false))
		}
	}
	return append(answer, rest...)
}

// sendsTo reports whether the kind sends messages to the chat that gets the answer of a turn. That is
// not the case in the turn of a subagent, whose route has the chat of the turn that started it.
func (s Spec) sendsTo(route protocol.Route) bool {
	return route.Elsewhere() && strings.TrimSpace(route.Chat) != "" && s.Target == string(route.Channel) && s.chatField() != ""
}

// Form returns the shape of a proposal of the kind, independent of a turn.
func (s Spec) Form() Form { return s.form(protocol.Route{}, false) }

// form returns the spec with its examples. If own is true, it is the answer of the conversation: a
// message on a channel with its own kind, and an insertion everywhere else.
func (s Spec) form(route protocol.Route, own bool) Form {
	f := Form{Key: s.Key(), Does: s.Does, own: own, spec: s, list: s.begin(), fixed: map[string]string{}}
	var b strings.Builder
	b.WriteString(s.head())
	for _, field := range s.Fields {
		value := field.Example
		switch {
		case own && field.Chat:
			value = plist.String(route.Chat)
		case own && field.Name == textField && !s.Answers:
			f.Does, value = "to answer", plist.String("<answer>")
		}
		if value == nil {
			continue
		}
		written := plist.Print(value)
		if s.instead(field.Name) {
			f.Instead = fmt.Sprintf(":%s %s in place of :%s", field.Name, written, s.OneOf[0])
			continue
		}
		if field.Fixed || own && field.Chat {
			f.fixed[field.Name] = written
		}
		f.list = append(f.list, plist.Keyword(field.Name), value)
		fmt.Fprintf(&b, " :%s %s", field.Name, written)
	}
	f.Text = b.String() + ")"
	return f
}

// Answer returns the action that answers a turn with a text. The kernel uses it for a reply in
// prose.
func (s Specs) Answer(route protocol.Route, text string) Proposed {
	i := slices.IndexFunc(s, func(spec Spec) bool { return spec.sendsTo(route) })
	if i < 0 {
		i = slices.IndexFunc(s, func(spec Spec) bool { return spec.Answers })
	}
	if i < 0 {
		return Proposed{}
	}
	list := s[i].begin()
	for _, field := range s[i].Fields {
		value := sexp.Sexp(nil)
		switch {
		case field.Chat:
			value = plist.String(route.Chat)
		case field.Name == textField:
			value = plist.String(text)
		case field.Fixed:
			value = field.Example
		}
		if value != nil {
			list = append(list, plist.Keyword(field.Name), value)
		}
	}
	return Propose(list)
}

// ProposeCall returns the action that makes one call of a tool. It is empty if no kind does.
func (s Specs) ProposeCall(call Call) Proposed {
	i := slices.IndexFunc(s, func(spec Spec) bool {
		return slices.ContainsFunc(spec.Fields, func(f Field) bool { return f.Kind == Tool })
	})
	if i < 0 {
		return Proposed{}
	}
	list := append(s[i].begin(), plist.Keyword(toolField), plist.String(call.Tool))
	if !plist.IsNil(call.Args) {
		list = append(list, plist.Keyword(argsField), call.Args)
	}
	return Propose(list)
}

// begin returns the fields with which every action of the kind begins, as a list of its own.
func (s Spec) begin() sexp.List {
	if s.Type != "" {
		return sexp.List{plist.Keyword("type"), plist.Keyword(s.Type)}
	}
	list := sexp.List{plist.Keyword("type"), plist.Keyword(protocol.TypeRequest), plist.Keyword("target"), plist.Keyword(s.Target)}
	if s.Name != "" {
		list = append(list, plist.Keyword("action"), plist.Keyword(s.Name))
	}
	return list
}

// head returns [Spec.begin] as a prompt shows it, without the end of the list.
func (s Spec) head() string {
	if s.Type != "" {
		return "(:type :" + string(s.Type)
	}
	head := "(:type :" + string(protocol.TypeRequest) + " :target :" + s.Target
	if s.Name != "" {
		head += " :action :" + s.Name
	}
	return head
}

// instead reports whether a field may replace the one that the form shows.
func (s Spec) instead(name string) bool {
	return slices.Index(s.OneOf, name) > 0
}
