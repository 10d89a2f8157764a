package action

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
	"org-agent/kernel/suggest"
)

// ErrUnusable is wrapped by every error of [Specs.Usable].
var ErrUnusable = errors.New("unusable action")

// unusable is an error for the model: what is wrong, and what would be right.
type unusable struct{ message string }

func (e unusable) Error() string { return e.message }
func (unusable) Unwrap() error   { return ErrUnusable }

func unusablef(format string, args ...any) error {
	return unusable{fmt.Sprintf(format, args...)}
}

// Usable returns the proposal if it is an action of the specs, with all required fields and values
// of the right kind. It does not decide about permission. The error wraps [ErrUnusable] and is one
// line that tells the model what to correct.
func (s Specs) Usable(p Proposed) (Proposed, error) {
	if p.fault != nil {
		return p, p.fault
	}
	usable, err := s.Check(p.action)
	if err == nil {
		p.action = usable
	}
	return p, err
}

// Check does the same as [Specs.Usable] for an action. It does not repeat the check of an action
// that it has found usable.
func (s Specs) Check(a Action) (Action, error) {
	if a.usable {
		return a, nil
	}
	spec, err := s.specOf(a)
	if err == nil {
		err = spec.check(a)
	}
	if err != nil {
		return Action{}, err
	}
	a.usable = true
	return a, nil
}

// specOf returns the spec of an action. The error says which actions exist instead.
func (s Specs) specOf(a Action) (Spec, error) {
	key := a.Key()
	switch kind := a.Type(); kind {
	case protocol.TypeRequest:
	case protocol.TypeEvent:
		return Spec{}, unusablef(":type :event is for sensors; use :request, :response or :log")
	case "":
		return Spec{}, unusablef("an action needs :type, a keyword: :request, :response or :log")
	default:
		for _, spec := range s {
			if spec.Type == kind {
				return spec, nil
			}
		}
		return Spec{}, unusablef("the :type :%s is not one of :request, :response, :log", kind)
	}
	if a.Target() == "" {
		return Spec{}, unusablef("a :request needs :target, a keyword such as :emacs or :tool")
	}
	var names []string
	known := false
	for _, spec := range s {
		if spec.Type != "" || spec.Target != key.Target {
			continue
		}
		if spec.is(key) {
			return spec, nil
		}
		known = true
		if spec.Off == "" {
			names = append(names, ":"+spec.Name)
		}
	}
	if !known {
		return Spec{}, unusablef("the :target :%s is not one of %s", key.Target, strings.Join(s.targets(), ", "))
	}
	if key.Name == "" {
		return Spec{}, unusablef("a request to :%s needs :action, one of %s", key.Target, strings.Join(names, ", "))
	}
	return Spec{}, unusablef("the :action :%s is not one that :%s has: %s", key.Name, key.Target, strings.Join(names, ", "))
}

func (s Specs) targets() []string {
	var names []string
	for _, spec := range s {
		if name := ":" + spec.Target; spec.Type == "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// check returns an error if the fields of an action do not fit the spec.
func (s Spec) check(a Action) error {
	what := s.Key().String()
	if s.Type != "" {
		what = ":type :" + string(s.Type)
	}
	if s.Closed {
		if err := s.checkClosed(a, what); err != nil {
			return err
		}
	}
	for _, f := range s.Fields {
		if err := f.check(a, what); err != nil {
			return err
		}
	}
	if s.OneOf == nil {
		return nil
	}
	for _, name := range s.OneOf {
		if v, ok := a.Field(name); ok && !plist.IsNil(v) {
			return nil
		}
	}
	return unusablef("%s needs one of :%s", what, strings.Join(s.OneOf, ", :"))
}

// checkClosed refuses a field that the kind does not have.
func (s Spec) checkClosed(a Action, what string) error {
	for i := 0; i+1 < len(a.payload); i += 2 {
		key, _ := a.payload[i].(plist.Keyword) // it is well-formed
		name := string(key)
		if name == "action" || s.HasField(name) {
			continue
		}
		var names []string
		for _, f := range s.Fields {
			if f.Example != nil {
				names = append(names, f.Name)
			}
		}
		message := fmt.Sprintf("%s has no field :%s", what, name)
		if near := suggest.Of(name, names); near != "" {
			return unusablef("%s; did you mean :%s?", message, near)
		}
		if len(names) == 0 {
			return unusablef("%s; it has no fields", message)
		}
		return unusablef("%s; it has :%s", message, strings.Join(names, " :"))
	}
	return nil
}

// Holds reports whether a value is of the field's kind and within its limit.
func (f Field) Holds(v sexp.Sexp) bool {
	s, isText := v.(plist.String)
	return f.Kind.holds(v) && !(isText && f.Limit > 0 && utf8.RuneCountInString(string(s)) > f.Limit)
}

func (f Field) check(a Action, what string) error {
	v, ok := a.Field(f.Name)
	if !ok || plist.IsNil(v) {
		if f.Required && !(ok && (f.Kind == Plist || f.Kind == Properties || f.Kind == List || f.Kind == Calls)) {
			return unusablef("%s needs :%s, %s", what, f.Name, f.Kind)
		}
		return nil
	}
	if !f.Kind.holds(v) {
		return unusablef("the :%s of %s must be %s", f.Name, what, f.Kind)
	}
	if s, isText := v.(plist.String); isText && f.Limit > 0 && utf8.RuneCountInString(string(s)) > f.Limit {
		return unusablef("the :%s of %s may have %d characters, not %d", f.Name, what, f.Limit, utf8.RuneCountInString(string(s)))
	}
	return nil
}

func (k FieldKind) holds(v sexp.Sexp) bool {
	switch k {
	case Text:
		s, ok := v.(plist.String)
		return ok && strings.TrimSpace(string(s)) != ""
	case AnyText:
		_, ok := v.(plist.String)
		return ok
	case Name, Tool:
		switch v := v.(type) {
		case plist.String:
			return strings.TrimSpace(string(v)) != ""
		case plist.Keyword, plist.Int:
			return true
		}
		return false
	case Integer:
		n, ok := v.(plist.Int)
		return ok && n > 0
	case Plist:
		list, ok := v.(sexp.List)
		return ok && plist.WellFormed(list) == nil
	case Properties:
		_, ok := PropertyNames(v)
		return ok
	case List, Calls:
		list, ok := v.(sexp.List)
		for _, item := range list {
			if call, isList := item.(sexp.List); !isList || plist.WellFormed(call) != nil {
				return false
			}
		}
		return ok
	}
	return false
}

// PropertyNames returns the names in a value of kind [Properties], in upper case as Org prints
// them. It returns false for any other value.
func PropertyNames(v sexp.Sexp) (names []string, ok bool) {
	list, ok := v.(sexp.List)
	if !ok {
		return nil, false
	}
	if len(list) == 0 {
		return nil, true
	}
	if _, pairs := list[0].(sexp.List); pairs {
		return pairNames(list)
	}
	if plist.WellFormed(list) != nil {
		return nil, false
	}
	for i := 0; i < len(list); i += 2 {
		key, _ := list[i].(plist.Keyword) // it is well-formed
		names = append(names, strings.ToUpper(string(key)))
	}
	return names, true
}

// pairNames returns the first string of each pair.
func pairNames(list sexp.List) (names []string, ok bool) {
	for _, item := range list {
		pair, _ := item.(sexp.List)
		if len(pair) != 2 {
			return nil, false
		}
		name, named := pair[0].(plist.String)
		if _, text := pair[1].(plist.String); !named || !text {
			return nil, false
		}
		names = append(names, strings.ToUpper(strings.TrimSpace(string(name))))
	}
	return names, true
}
