package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
)

// ErrUnusable is in the chain of every error of [Policy.Usable].
var ErrUnusable = errors.New("unusable action")

// unusable is a message for the model: what is wrong and what would be right.
type unusable struct{ message string }

func (e unusable) Error() string { return e.message }
func (unusable) Unwrap() error   { return ErrUnusable }

func unusablef(format string, args ...any) error {
	return unusable{fmt.Sprintf(format, args...)}
}

// Usable reports whether the proposal is an action of the table with its
// fields present and of the right kind. It says nothing about permission. The
// error, which wraps [ErrUnusable], is one line that tells the model what to
// mend.
func (p *Policy) Usable(action sexp.List) error {
	if err := plist.WellFormed(action); err != nil {
		return unusablef("not a well-formed action: %v", err)
	}
	action, _ = Strip(action)
	nested, err := plist.Nested(action)
	if err != nil {
		return unusablef("not a well-formed action: %v", err)
	}
	a := view{nested}
	switch a.word("type") {
	case "request":
		return requestUsable(a)
	case "response", "log":
		return fieldUsable(a, Field{Name: "text", Kind: Text, Required: true}, ":type :"+a.word("type"))
	case "event":
		return unusablef(":type :event is for sensors; use :request, :response or :log")
	case "":
		return unusablef("an action needs :type, a keyword: :request, :response or :log")
	}
	return unusablef("the :type :%s is not one of :request, :response, :log", a.word("type"))
}

func requestUsable(a view) error {
	target, action := a.word("target"), a.payloadWord("action")
	if target == "" {
		return unusablef("a :request needs :target, a keyword such as :emacs or :tool")
	}
	var actions []string
	for _, row := range Table() {
		if row.Target != target {
			continue
		}
		if row.Action == action || row.Action == "" {
			return rowUsable(a, row)
		}
		if !row.Off {
			actions = append(actions, ":"+row.Action)
		}
	}
	if actions == nil {
		return unusablef("the :target :%s is not one of %s", target, strings.Join(targets(), ", "))
	}
	if action == "" {
		return unusablef("a request to :%s needs :action, one of %s", target, strings.Join(actions, ", "))
	}
	return unusablef("the :action :%s is not one that :%s has: %s", action, target, strings.Join(actions, ", "))
}

func targets() []string {
	var names []string
	for _, row := range Table() {
		if name := ":" + row.Target; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func rowUsable(a view, row Row) error {
	what := strings.TrimSuffix(":"+row.Target+" :"+row.Action, " :")
	for _, f := range row.Fields {
		if err := fieldUsable(a, f, what); err != nil {
			return err
		}
	}
	if row.OneOf == nil {
		return nil
	}
	for _, name := range row.OneOf {
		if v, ok := a.field(name); ok && !plist.IsNil(v) {
			return nil
		}
	}
	return unusablef("%s needs one of :%s", what, strings.Join(row.OneOf, ", :"))
}

func fieldUsable(a view, f Field, what string) error {
	v, ok := a.field(f.Name)
	if !ok || plist.IsNil(v) {
		if f.Required && !(ok && (f.Kind == Plist || f.Kind == Properties || f.Kind == CallList)) {
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
	case Name:
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
		_, ok := properties(v)
		return ok
	case CallList:
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

// properties are the names in a value of [Properties], in upper case as Org
// prints them; false if it is none.
func properties(v sexp.Sexp) (names []string, ok bool) {
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

// pairNames are the first of each two strings.
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
