package skill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/lisp"
	"org-agent/kernel/plist"
	"org-agent/kernel/text"
)

// proposalFunctions returns the part of the test language that tests a whole skill: from an event
// to the action that it proposes.
func proposalFunctions() []lisp.KernelFunction {
	return []lisp.KernelFunction{
		{Name: "proposes", LambdaList: "(event expected &key reply asked)", Call: ofNote(proposes),
			Doc: "Fail the test unless the note's skill answers event with a proposal that has what expected has."},
		{Name: "allows", LambdaList: "(action &optional event)", Call: ofNote(allows),
			Doc: "Fail the test unless the skill's symbolic function returns action as it is."},
		{Name: "refuses", LambdaList: "(action &optional event)", Call: ofNote(refuses),
			Doc: "Fail the test unless the skill's symbolic function returns nil or signals an error."},
		{Name: "rewrites", LambdaList: "(action expected &optional event)", Call: ofNote(rewrites),
			Doc: "Fail the test unless the skill's symbolic function returns another action that has what expected has."},
	}
}

// script plays the model in a test. It holds the replies and records the questions.
type script struct {
	replies   []string
	questions []Ask
}

// next returns the next reply, and an error if there is none left.
func (s *script) next(ask Ask) (string, error) {
	if len(s.questions) >= len(s.replies) {
		return "", fmt.Errorf("the model was asked %s, and the test has no :reply for it", plist.Print(plist.String(text.Clip(ask.Text, 120))))
	}
	s.questions = append(s.questions, ask)
	return s.replies[len(s.questions)-1], nil
}

// proposes implements (proposes EVENT EXPECTED :reply TEXT :asked TEXT). The event is a property
// list, or a string, which is a chat message. The reply is a string, or a list with one string for
// each time the model is asked. :asked is a part of a question, or a list of parts. The test passes
// if the event leads to an action that has all fields of expected. If expected is nil, it passes if
// no skill accepts the event or no action results.
func proposes(ctx context.Context, n *Note, call *lisp.Call, args []lisp.Value) (lisp.Value, error) {
	t, err := n.begin(ctx, call, "proposes")
	if err != nil {
		return nil, err
	}
	event, err := t.event(args[0])
	if err != nil {
		return nil, err
	}
	model, wanted, err := readScript(args[2:])
	if err != nil {
		return nil, err
	}
	k, err := t.chosen(event)
	if err != nil {
		return nil, err
	}
	var action sexp.List
	switch {
	case k != nil:
		action, err = t.answer(k, event, model)
	case args[1] != lisp.Nil:
		err = errors.New("no skill of the note takes it")
	}
	if err != nil {
		return nil, t.failf("for %s: %v", t.shown(event), err)
	}
	for _, part := range wanted {
		if !model.contains(part) {
			return nil, t.failf("the model was asked %s, and not %s", model.text(), plist.Print(plist.String(part)))
		}
	}
	return t.compare(action, args[1], "for "+t.shown(event))
}

func allows(ctx context.Context, n *Note, call *lisp.Call, args []lisp.Value) (lisp.Value, error) {
	t, given, returned, err := n.verify(ctx, call, "allows", args, 1)
	if err == nil && !plist.Equal(given, returned) {
		err = t.failf("%s became %s", plist.Print(given), shownAction(returned))
	}
	return lisp.T, err
}

func refuses(ctx context.Context, n *Note, call *lisp.Call, args []lisp.Value) (lisp.Value, error) {
	t, given, returned, err := n.verify(ctx, call, "refuses", args, 1)
	var signalled *refusal
	if errors.As(err, &signalled) {
		return lisp.T, nil
	}
	if err == nil && len(returned) > 0 {
		err = t.failf("%s was not refused: it became %s", plist.Print(given), shownAction(returned))
	}
	return lisp.T, err
}

func rewrites(ctx context.Context, n *Note, call *lisp.Call, args []lisp.Value) (lisp.Value, error) {
	t, given, returned, err := n.verify(ctx, call, "rewrites", args, 2)
	if err != nil {
		return nil, err
	}
	if plist.Equal(given, returned) {
		return nil, t.failf("%s was returned as it is", plist.Print(given))
	}
	return t.compare(returned, args[1], "of "+plist.Print(given))
}

// refusal is an error that a symbolic function signalled.
type refusal struct{ err error }

func (r *refusal) Error() string { return "the symbolic function signals " + r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

// verify passes the action in the first argument through the symbolic function. If there is an
// event, it is the argument at that place.
func (n *Note) verify(ctx context.Context, call *lisp.Call, name string, args []lisp.Value, place int) (t *trial, given, returned sexp.List, err error) {
	if t, err = n.begin(ctx, call, name); err != nil {
		return nil, nil, nil, err
	}
	if given, err = t.list(args[0], "the action"); err != nil {
		return nil, nil, nil, err
	}
	event := chatEvent("")
	if place < len(args) && args[place] != lisp.Nil {
		if event, err = t.event(args[place]); err != nil {
			return nil, nil, nil, err
		}
	}
	k, err := t.chosen(event)
	if err != nil {
		return nil, nil, nil, err
	}
	if k == nil || k.symbolic == nil {
		checking := slices.IndexFunc(n.skills, func(k *Skill) bool { return k.symbolic != nil })
		if checking < 0 {
			return nil, nil, nil, t.failf("no skill of the note has a :symbolic function")
		}
		k = n.skills[checking]
	}
	if returned, err = t.symbolic(k, given, event); err != nil {
		return t, given, nil, err
	}
	return t, given, returned, nil
}

// trial is one use of these functions in a test.
type trial struct {
	note     *Note
	ctx      context.Context
	call     *lisp.Call
	function string
}

func (n *Note) begin(ctx context.Context, call *lisp.Call, function string) (*trial, error) {
	if p := invocationOf(call.Reason()).purpose; p != purposeTest {
		return nil, fmt.Errorf("%s was called by %s; it belongs in a test", function, p)
	}
	return &trial{n, ctx, call, function}, nil
}

// failf fails the test.
func (t *trial) failf(format string, arguments ...any) error {
	return failed(t.call, fmt.Sprintf(format, arguments...))
}

// list returns an argument as data.
func (t *trial) list(v lisp.Value, what string) (sexp.List, error) {
	data, err := lisp.ToSexp(v)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	list, ok := data.(sexp.List)
	if !ok && !plist.IsNil(data) {
		return nil, fmt.Errorf("%s is not a property list", what)
	}
	return list, nil
}

// event returns the event that an argument describes. A string is a chat message.
func (t *trial) event(v lisp.Value) (sexp.List, error) {
	if text, ok := v.(*lisp.String); ok {
		return t.messageEvent(text.String()), nil
	}
	event, err := t.list(v, "the event")
	if _, bare := plist.Get(event, "sensor"); bare { // the payload alone
		event = sexp.List{plist.Keyword("type"), plist.Keyword("event"), plist.Keyword("payload"), event}
	}
	if err == nil && len(event) == 0 {
		err = errors.New("the event is empty: write a string, or a property list such as (:payload (:sensor :heartbeat))")
	}
	return event, err
}

// messageEvent returns the event of a person's text as the note sees it: a chat message, or a
// command if the note declares it.
func (t *trial) messageEvent(text string) sexp.List {
	event := chatEvent(text)
	name, arguments, ok := SplitCommand(text)
	if _, found := t.set().Command(name); !ok || !found {
		return event
	}
	payload, _ := plist.Get(event, "payload")
	fields := plist.Put(payload.(sexp.List), "sensor", plist.Keyword("user-command"))
	fields = plist.Put(fields, "text", plist.String(arguments))
	return plist.Put(event, "payload", append(fields, plist.Keyword("command"), plist.String(name)))
}

// chatEvent returns the event of a message in the chat buffer.
func chatEvent(text string) sexp.List {
	return sexp.List{
		plist.Keyword("type"), plist.Keyword("event"), plist.Keyword("session"), plist.String("main"),
		plist.Keyword("payload"), sexp.List{
			plist.Keyword("sensor"), plist.Keyword("chat-message"),
			plist.Keyword("text"), plist.String(text),
			plist.Keyword("channel"), plist.Keyword("emacs"),
		},
	}
}

// apply calls a function of the note.
func (t *trial) apply(function lisp.Value, args ...sexp.Sexp) (lisp.Value, error) {
	var values []lisp.Value
	for _, arg := range args {
		value, err := t.call.Environment().FromSexp(arg)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return t.call.Apply(function, values...)
}

// set returns the note's skills as if no other note were live.
func (t *trial) set() *Set {
	best := slices.Clone(t.note.skills)
	slices.SortStableFunc(best, func(a, b *Skill) int { return cmp.Compare(b.Priority, a.Priority) })
	set := &Set{skills: best}
	for _, k := range best {
		set.commands = append(set.commands, k.Commands...)
	}
	slices.SortFunc(set.commands, func(a, b Command) int { return strings.Compare(a.Name, b.Name) })
	return set
}

// chosen returns the note's skill that answers the event, as [Set.Best] does, or nil.
func (t *trial) chosen(event sexp.List) (*Skill, error) {
	set := t.set()
	if k := set.commandSkill(event); k != nil {
		return k, nil
	}
	for _, k := range set.ordered() {
		taken, err := t.apply(k.trigger, event)
		if err != nil {
			return nil, err
		}
		if taken != lisp.Nil {
			return k, nil
		}
	}
	return nil, nil
}

// answer returns the action that the kernel would propose for the event. It calls the neuro function
// with the scripted model, reads the reply, and calls the symbolic function.
func (t *trial) answer(k *Skill, event sexp.List, model *script) (sexp.List, error) {
	if k.neuro == nil {
		return nil, nil
	}
	o := invocationOf(t.call.Reason())
	o.script = model
	defer func() { o.script = nil }()
	value, err := t.apply(k.neuro, event)
	if err != nil {
		return nil, err
	}
	proposal, err := t.proposal(value, event, model)
	if err != nil || len(proposal) == 0 {
		return nil, err
	}
	return t.symbolic(k, proposal, event)
}

// proposal reads what a neuro function returned.
func (t *trial) proposal(value lisp.Value, event sexp.List, model *script) (sexp.List, error) {
	data, err := lisp.ToSexp(value)
	if err != nil {
		return nil, fmt.Errorf("the neuro function returned what is no data: %w", err)
	}
	text, isText := data.(plist.String)
	if !isText {
		list, ok := data.(sexp.List)
		if !ok && !plist.IsNil(data) {
			return nil, fmt.Errorf("the neuro function returned %s, which is not a string, a property list or nil", plist.Print(data))
		}
		return list, nil
	}
	reply := string(text)
	if len(model.questions) == 0 { // the function returned a prompt, so the kernel asks
		if reply, err = model.next(Ask{Text: reply}); err != nil {
			return nil, err
		}
	}
	got := plist.Recover(reply, plist.RecoverOptions{Input: []string{model.questions[len(model.questions)-1].Text}, Finished: true})
	switch {
	case got.Err != nil:
		return nil, fmt.Errorf("the reply cannot be used: %w", got.Err)
	case got.Proposal != nil:
		return got.Proposal, nil
	}
	return t.note.answer(event, got.Text), nil
}

// symbolic passes an action through the skill's symbolic function.
func (t *trial) symbolic(k *Skill, action, event sexp.List) (sexp.List, error) {
	if k.symbolic == nil {
		return action, nil
	}
	value, err := t.apply(k.symbolic, action, event)
	if err != nil {
		return nil, &refusal{err}
	}
	return t.list(value, "what the symbolic function returned")
}

// compare fails the test unless the action has the expected fields.
func (t *trial) compare(action sexp.List, expected lisp.Value, where string) (lisp.Value, error) {
	wanted, err := t.list(expected, "what is expected")
	if err != nil {
		return nil, err
	}
	if len(wanted) == 0 {
		if len(action) > 0 {
			return nil, t.failf("%s the proposal is %s, and none was expected", where, plist.Print(action))
		}
		return lisp.T, nil
	}
	if len(action) == 0 {
		return nil, t.failf("%s there is no proposal", where)
	}
	if fault := lacks(nested(action), nested(wanted)); fault != "" {
		return nil, t.failf("%s the proposal %s", where, fault)
	}
	return lisp.T, nil
}

// nested returns the action in the kernel's shape. Its fields may be flat or under :payload.
func nested(action sexp.List) sexp.List {
	if own, err := plist.Nested(action); err == nil {
		return own
	}
	return action
}

// lacks describes the wanted fields that an action does not have, or returns "". Property lists are
// compared by their fields in any order, and may have further fields.
func lacks(action, wanted sexp.List) string {
	for i := 0; i+1 < len(wanted); i += 2 {
		name := plist.Print(wanted[i])
		got, found := plist.Get(action, strings.TrimPrefix(name, ":"))
		if !found {
			return fmt.Sprintf("%s has no %s", plist.Print(action), name)
		}
		inner, isList := wanted[i+1].(sexp.List)
		if fields, ok := got.(sexp.List); ok && isList && len(inner) > 0 && plist.WellFormed(inner) == nil {
			if fault := lacks(fields, inner); fault != "" {
				return fault
			}
		} else if !plist.Equal(got, wanted[i+1]) {
			return fmt.Sprintf("has %s %s, not %s", name, plist.Print(got), plist.Print(wanted[i+1]))
		}
	}
	return ""
}

// readScript reads :reply and :asked.
func readScript(args []lisp.Value) (*script, []string, error) {
	model := &script{}
	var wanted []string
	for i := 0; i < len(args); i += 2 {
		key, ok := args[i].(*lisp.Symbol)
		if !ok || i+1 == len(args) {
			return nil, nil, errors.New("behind the expected proposal come :reply TEXT and :asked TEXT")
		}
		texts, err := textsOf(args[i+1])
		if err != nil {
			return nil, nil, fmt.Errorf("the value of :%s: %w", strings.ToLower(key.Name()), err)
		}
		switch key.Name() {
		case "REPLY":
			model.replies = texts
		case "ASKED":
			wanted = texts
		default:
			return nil, nil, fmt.Errorf("there is no :%s here; there are :reply and :asked", strings.ToLower(key.Name()))
		}
	}
	return model, wanted, nil
}

// textsOf returns a string, or a list of strings, as texts. A property list is its printed text.
func textsOf(v lisp.Value) ([]string, error) {
	if text, ok := v.(*lisp.String); ok {
		return []string{text.String()}, nil
	}
	items, proper := lisp.Slice(v, 1000)
	if !proper {
		return nil, errors.New("it has to be a string or a list of strings")
	}
	var texts []string
	for _, item := range items {
		switch x := item.(type) {
		case *lisp.String:
			texts = append(texts, x.String())
		case *lisp.Symbol: // the first of a property list
			data, err := lisp.ToSexp(v)
			return []string{plist.Print(data)}, err
		case *lisp.Cons:
			data, err := lisp.ToSexp(x)
			if err != nil {
				return nil, err
			}
			texts = append(texts, plist.Print(data))
		default:
			return nil, errors.New("it has to be a string or a list of strings")
		}
	}
	return texts, nil
}

// contains reports whether a question contains this part.
func (s *script) contains(part string) bool {
	return slices.ContainsFunc(s.questions, func(a Ask) bool {
		return strings.Contains(a.Text, part) || strings.Contains(a.System, part)
	})
}

// text returns the questions, for a message.
func (s *script) text() string {
	if len(s.questions) == 0 {
		return "nothing"
	}
	var texts []string
	for _, a := range s.questions {
		texts = append(texts, plist.Print(plist.String(text.Clip(a.Text, 120))))
	}
	return strings.Join(texts, " and ")
}

// shown returns an event for a message. A chat message is shown by its text.
func (t *trial) shown(event sexp.List) string {
	if payload, ok := plist.Get(event, "payload"); ok {
		if fields, ok := payload.(sexp.List); ok {
			if words, ok := plist.Text(fields, "text"); ok {
				return plist.Print(plist.String(text.Clip(words, 120)))
			}
		}
	}
	return text.Clip(plist.Print(event), 120)
}

func shownAction(action sexp.List) string {
	if len(action) == 0 {
		return "nil"
	}
	return plist.Print(action)
}
