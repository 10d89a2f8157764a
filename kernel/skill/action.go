package skill

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/lisp"
	"org-agent/kernel/plist"
	"org-agent/kernel/suggest"
	"org-agent/kernel/text"
)

// Action is one defaction or register-actuator of a note: a kind of action that models may propose,
// and the function of the note that performs it. That of register-actuator has no name, and covers all
// actions of its target. Its fields do not change.
type Action struct {
	action.Spec
	// File is the note, as diagnostics name it.
	File string
	Line int
	// Digest identifies the code of the note and what it was granted. Another version of the note has
	// another digest.
	Digest string

	note            *Note
	guard, function lisp.Value // guard is nil if there is none
}

// ActionStatus describes one defaction of a note.
type ActionStatus struct {
	// Key is the target and the name, as policy.org writes them.
	Key  string `json:"key"`
	Does string `json:"does"`
	// Form is how a prompt shows the action.
	Form string `json:"form"`
}

// Limits of the actions of a note.
const (
	maximumActions = 32
	maximumFields  = 32 // of one action
)

// actionKeys are the keys of defaction.
var actionKeys = []string{"does", "fields", "perform", "guard"}

// fieldKinds are the types that a field of defaction may have.
var fieldKinds = []struct {
	name    string
	kind    action.FieldKind
	example func(field string) sexp.Sexp
}{
	{"text", action.Text, gap}, {"string", action.AnyText, gap}, {"name", action.Name, gap},
	{"integer", action.Integer, func(string) sexp.Sexp { return plist.Int(1) }},
	{"plist", action.Plist, func(field string) sexp.Sexp {
		return sexp.List{plist.Keyword("<" + field + ">"), plist.String("<value>")}
	}},
}

// gap returns the example of a text: the name of its field in angle brackets, to be filled in.
func gap(field string) sexp.Sexp { return plist.String("<" + field + ">") }

// keptFields are the fields that have a meaning in every action. A note cannot define them.
var keptFields = []string{"type", "target", "action", "id", "payload", "tool", "calls", "args", "digest", "approved", "verified", "policy", "origin"}

// expandDefaction turns (defaction TARGET NAME :key form…) into a call that evaluates the forms.
func expandDefaction(call *lisp.Call, args []lisp.Value) (lisp.Value, error) {
	key, err := actionKeyOf(args)
	if err != nil {
		return nil, err
	}
	form := []lisp.Value{call.Symbol("%REGISTER-ACTION"), lisp.NewString(key.Target), lisp.NewString(key.Name)}
	values := map[string]lisp.Value{}
	for i := 2; i < len(args); i += 2 {
		symbol, ok := args[i].(*lisp.Symbol)
		word := ""
		if ok {
			word = strings.ToLower(symbol.Name())
		}
		switch {
		case !ok || !symbol.Keyword() || !slices.Contains(actionKeys, word):
			return nil, fmt.Errorf("the action %s: defaction has the keys :%s%s", key, strings.Join(actionKeys, " :"), suggestKey(word, actionKeys))
		case i+1 == len(args):
			return nil, fmt.Errorf("the last key of the action %s has no value", key)
		case values[word] != nil:
			return nil, fmt.Errorf("the action %s has two values for :%s", key, word)
		}
		values[word] = args[i+1]
	}
	for _, word := range actionKeys {
		value := values[word]
		switch {
		case value == nil && (word == "fields" || word == "guard"):
			value = lisp.Nil
		case value == nil:
			return nil, fmt.Errorf("the action %s has no :%s; it is written as (defaction %s :does \"to knock at the door\" :fields ((:text :text :required t)) :perform #'knock)", key, word, key)
		case word == "fields" && !isForm(value):
			value = quoted(call, value)
		}
		form = append(form, value)
	}
	return lisp.NewList(form...), nil
}

// actionKeyOf reads the target and the name.
func actionKeyOf(args []lisp.Value) (key action.Key, err error) {
	words := []*string{&key.Target, &key.Name}
	for i, word := range words {
		if *word, err = nameOf(args[i]); err != nil || !validCommand(*word) {
			return key, fmt.Errorf("an action has a target and a name, of small letters, digits and hyphens: (defaction :door :knock …), which is proposed as (:type :request :target :door :action :knock …)")
		}
	}
	if slices.Contains(actionKeys, key.Name) {
		return key, fmt.Errorf("the action :%s has no name: write its target and its name, as in (defaction :door :%s :%s …)", key.Target, key.Target, key.Name)
	}
	return key, nil
}

// suggestKey returns the end of a message that suggests a key for a misspelt word, or "".
func suggestKey(word string, known []string) string {
	near := suggest.Of(word, known)
	if word == "" || near == word {
		return ""
	}
	return suggest.Question(near, ":%s")
}

// registerAction adds an action whose keys were evaluated, in the order of actionKeys.
func registerAction(_ context.Context, n *Note, call *lisp.Call, args []lisp.Value) (lisp.Value, error) {
	key, err := actionKeyOf(args)
	if err != nil {
		return nil, err
	}
	a := &Action{Spec: action.Spec{Target: key.Target, Name: key.Name, Closed: true}, File: n.File, Digest: n.digest(), note: n}
	a.Line = n.definitionLine("defaction", key.Target, key.Name)
	if err := a.define(args[2], args[3], args[4], args[5]); err != nil {
		return nil, fmt.Errorf("the action %s: %w", key, err)
	}
	if defines, err := defining(call, "defaction"); !defines {
		return args[0], err
	}
	if err := n.mayDefine(a); err != nil {
		return nil, err
	}
	n.actions = append(n.actions, a)
	return args[0], nil
}

// mayDefine returns an error if the note cannot define the action.
func (n *Note) mayDefine(a *Action) error {
	key := a.Key()
	switch {
	case slices.ContainsFunc(n.actions, func(other *Action) bool { return other.Key() == key }):
		return fmt.Errorf("the note defines the action %s twice", key)
	case len(n.actions) == maximumActions:
		return fmt.Errorf("the note has more than %d actions", maximumActions)
	case slices.ContainsFunc(n.options.Specs(), func(s action.Spec) bool { return s.Target == key.Target }):
		return fmt.Errorf("the target :%s belongs to the kernel; give the action %s a target of its own, such as :%s", key.Target, key, mendedCommand(n.key))
	}
	return nil
}

// define sets the action from the values of the keys.
func (a *Action) define(does, fields, perform, guard lisp.Value) (err error) {
	description, ok := does.(*lisp.String)
	if ok {
		a.Does = text.Clip(text.Line(description.String()), maximumDescription)
	}
	if a.Does == "" {
		return errors.New(`its :does is a string that says what it is for, such as "to knock at the door"`)
	}
	rows, ok := lisp.Slice(fields, maximumFields)
	if !ok && fields != lisp.Nil {
		return fmt.Errorf("its :fields are not a list of at most %d rows such as (:text :text :required t)", maximumFields)
	}
	for _, row := range rows {
		field, err := fieldOf(row)
		if err != nil {
			return err
		}
		if a.HasField(field.Name) {
			return fmt.Errorf("it has the field :%s twice", field.Name)
		}
		a.Fields = append(a.Fields, field)
	}
	if guard != lisp.Nil {
		if a.guard, err = functionOf("guard", guard); err != nil {
			return err
		}
	}
	a.function, err = functionOf("perform", perform)
	return err
}

// fieldOf parses a row (NAME TYPE :required T :limit N :example VALUE).
func fieldOf(row lisp.Value) (field action.Field, err error) {
	const longest = 8
	cells, ok := lisp.Slice(row, longest)
	if !ok || len(cells) < 2 || len(cells)%2 != 0 {
		return field, errors.New("each of its :fields is a row such as (:text :text :required t), with :limit and :example behind the type where they are wanted")
	}
	if field.Name, err = nameOf(cells[0]); err != nil || !validCommand(field.Name) {
		return field, errors.New("the name of a field has small letters, digits and hyphens")
	}
	if slices.Contains(keptFields, field.Name) {
		return field, fmt.Errorf("a field :%s has a meaning in every action; give it another name", field.Name)
	}
	kind, err := nameOf(cells[1])
	if err != nil {
		return field, fmt.Errorf("the type of :%s: %w", field.Name, err)
	}
	var names []string
	for _, known := range fieldKinds {
		names = append(names, known.name)
		if known.name == kind {
			field.Kind, field.Example = known.kind, known.example(field.Name)
		}
	}
	if field.Example == nil {
		return field, fmt.Errorf("the type of :%s is one of :%s%s", field.Name, strings.Join(names, " :"), suggestKey(kind, names))
	}
	for i := 2; i < len(cells); i += 2 {
		if err := setField(&field, cells[i], cells[i+1]); err != nil {
			return field, fmt.Errorf("the field :%s: %w", field.Name, err)
		}
	}
	return field, nil
}

// setField sets one key of a row.
func setField(field *action.Field, key, value lisp.Value) error {
	word, err := nameOf(key)
	if err != nil {
		return err
	}
	switch word {
	case "required":
		field.Required = value != lisp.Nil
	case "limit":
		limit, ok := value.(int64)
		if !ok || limit < 1 || limit > 1_000_000 {
			return errors.New("its :limit is a number of characters between 1 and 1000000")
		}
		field.Limit = int(limit)
	case "example":
		data, err := lisp.ToSexp(value)
		if err != nil {
			return fmt.Errorf("its :example: %w", err)
		}
		if !field.Holds(data) {
			return fmt.Errorf("its :example %s is not %s", plist.Print(data), field.Kind)
		}
		field.Example = data
	default:
		keys := []string{"required", "limit", "example"}
		return fmt.Errorf("behind its type stand :%s%s", strings.Join(keys, " :"), suggestKey(word, keys))
	}
	return nil
}

// Consult asks the guard about an action with this payload. ask is the reason why a person is to be
// asked, or "". The error is the reason why the action is refused.
func (a *Action) Consult(ctx context.Context, payload sexp.List, session string) (ask string, err error) {
	return a.note.consult(ctx, a.guard, a.argument(payload), about(session))
}

// Perform calls the function for an action with this payload, and returns the text for the model. The
// note may write the files that it was granted. The error says where in the note the function failed.
func (a *Action) Perform(ctx context.Context, payload sexp.List, session string) (string, error) {
	o := &invocation{purpose: purposeAction, fitting: true}
	if err := a.note.apply(ctx, o, a.function, lisp.NewData(a.argument(payload)), lisp.NewData(about(session))); err != nil {
		return "", inNote(err)
	}
	if o.unfit != nil {
		return "", fmt.Errorf("it was done, and what came of it is no data: %w", o.unfit)
	}
	if plist.IsNil(o.result) {
		return "", nil
	}
	return resultText(o.result), nil
}

// argument returns what the functions get: the fields of a defaction, or the whole action of an
// actuator.
func (a *Action) argument(payload sexp.List) sexp.List {
	if a.Name != "" {
		return plist.Without(payload, "action")
	}
	return sexp.List{plist.Keyword("type"), plist.Keyword("request"), plist.Keyword("target"), plist.Keyword(a.Target), plist.Keyword("payload"), payload}
}

// about returns the context that a guard, a tool or an actuator gets.
func about(session string) sexp.List {
	return sexp.List{plist.Keyword("type"), plist.Keyword("event"), plist.Keyword("session"), plist.String(session)}
}

// Granted returns the capabilities that the note was granted, or nil for none.
func (a *Action) Granted() []string { return a.note.granted() }

// status returns the action for a list.
func (a *Action) status() ActionStatus {
	return ActionStatus{Key: a.Key().String(), Does: a.Does, Form: a.Form().Text}
}

// Actions returns the actions that the live notes define, by the names of the notes. The slice is
// the caller's.
func (s *Set) Actions() []*Action {
	if s == nil {
		return nil
	}
	return slices.Clone(s.actions)
}

// specsOf returns the specs of the actions.
func specsOf(actions []*Action) (specs action.Specs) {
	for _, a := range actions {
		specs = append(specs, a.Spec)
	}
	return specs
}

// Actions returns the actions that the note defines. The slice is the caller's.
func (n *Note) Actions() []*Action { return slices.Clone(n.actions) }

// assignActions returns the actions of the live notes.
func assignActions(order []*slot) (actions []*Action) {
	for _, s := range order {
		if s.published {
			actions = append(actions, s.live.actions...)
		}
	}
	// An actuator has the actions of its target that nobody defines by name.
	isActuator := func(a *Action) bool { return a.Name == "" }
	return append(slices.DeleteFunc(slices.Clone(actions), isActuator), slices.DeleteFunc(actions, func(a *Action) bool { return !isActuator(a) })...)
}
