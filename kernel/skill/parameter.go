package skill

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/lisp"
	"org-agent/kernel/plist"
	"org-agent/kernel/text"
)

// ParameterType is the type of an argument of a note's tool.
type ParameterType string

// The types of arguments.
const (
	TextParameter    ParameterType = "string"
	IntegerParameter ParameterType = "integer"
	NumberParameter  ParameterType = "number"
	BooleanParameter ParameterType = "boolean"
	KeywordParameter ParameterType = "keyword"
	ListParameter    ParameterType = "list"
	PlistParameter   ParameterType = "plist"
	AnyParameter     ParameterType = "any"
)

// Parameter is one argument of a note's tool.
type Parameter struct {
	// Name has small letters, digits and hyphens.
	Name        string
	Type        ParameterType
	Description string
	Required    bool
	// Default is the value of an argument that is not given, or nil for none.
	Default sexp.Sexp
	// Words are the allowed values of a string or a keyword, in lower case; none: any.
	Words []string
}

// parameterTypes are the names that a type has in notes.
var parameterTypes = map[string]ParameterType{
	"string": TextParameter, "text": TextParameter, "integer": IntegerParameter, "number": NumberParameter, "float": NumberParameter,
	"boolean": BooleanParameter, "keyword": KeywordParameter, "symbol": KeywordParameter, "list": ListParameter, "array": ListParameter,
	"plist": PlistParameter, "object": PlistParameter, "any": AnyParameter, "t": AnyParameter,
}

// parameterKeys are the keys of a row of parameters.
var parameterKeys = []string{"type", "description", "required", "default", "enum"}

const (
	maximumParameters = 32
	rowAdvice         = `its :parameters are rows such as (:text :type :string :description "What to count" :required t)`
)

// parametersOf parses the rows of parameters.
func parametersOf(v lisp.Value) (all []Parameter, err error) {
	rows, ok := lisp.Slice(v, maximumParameters)
	if !ok && v != lisp.Nil {
		return nil, fmt.Errorf("%s, %d at most", rowAdvice, maximumParameters)
	}
	for _, row := range rows {
		p, err := parameterOf(row)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(other Parameter) bool { return sameToolName(other.Name, p.Name) }) {
			return nil, fmt.Errorf("it has the parameter :%s twice", p.Name)
		}
		all = append(all, p)
	}
	return all, nil
}

// parameterOf parses a row (NAME KEY VALUE…), (NAME TYPE KEY VALUE…) or (:name NAME KEY VALUE…).
func parameterOf(row lisp.Value) (p Parameter, err error) {
	const longest = 16
	cells, ok := lisp.Slice(row, longest)
	if symbol, is := row.(*lisp.Symbol); is && symbol != lisp.Nil {
		cells, ok = []lisp.Value{symbol}, true
	}
	if !ok || len(cells) == 0 {
		return p, errors.New(rowAdvice)
	}
	p.Type = AnyParameter
	if first, _ := nameOf(cells[0]); first == "name" && len(cells)%2 == 0 {
		cells = cells[1:]
	}
	if p.Name, err = nameOf(cells[0]); err != nil || !validCommand(strings.ReplaceAll(p.Name, "_", "-")) {
		return p, errors.New("the name of a parameter has small letters, digits and hyphens")
	}
	if cells = cells[1:]; len(cells)%2 != 0 {
		if err := p.setType(cells[0]); err != nil {
			return p, fmt.Errorf("the parameter :%s: %w", p.Name, err)
		}
		cells = cells[1:]
	} else if len(cells) == 2 {
		if _, isText := cells[1].(*lisp.String); isText && p.setType(cells[0]) == nil {
			p.Description = describe(cells[1])
			return p, nil
		}
	}
	for i := 0; i+1 < len(cells); i += 2 {
		if err := p.set(cells[i], cells[i+1]); err != nil {
			return p, fmt.Errorf("the parameter :%s: %w", p.Name, err)
		}
	}
	if p.Default != nil && !p.Holds(p.Default) {
		return p, fmt.Errorf("the parameter :%s: its :default %s is not %s", p.Name, plist.Print(p.Default), p.Wants())
	}
	return p, nil
}

func describe(v lisp.Value) string {
	s, ok := v.(*lisp.String)
	if !ok {
		return ""
	}
	return text.Clip(text.Line(s.String()), maximumToolDescription)
}

func (p *Parameter) setType(v lisp.Value) error {
	name, err := nameOf(v)
	if err != nil {
		return fmt.Errorf("its type: %w", err)
	}
	known, ok := parameterTypes[name]
	if !ok {
		var names []string
		for one, kind := range parameterTypes {
			if one == string(kind) {
				names = append(names, one)
			}
		}
		slices.Sort(names)
		return fmt.Errorf("its type is one of :%s%s", strings.Join(names, " :"), suggestKey(name, names))
	}
	p.Type = known
	return nil
}

// set sets one key of a row.
func (p *Parameter) set(key, value lisp.Value) error {
	word, err := nameOf(key)
	if err != nil {
		return err
	}
	switch word {
	case "type":
		return p.setType(value)
	case "description", "doc":
		if p.Description = describe(value); p.Description == "" {
			return errors.New("its :description is no string")
		}
	case "required":
		p.Required = value != lisp.Nil
	case "optional":
		p.Required = value == lisp.Nil
	case "default":
		if p.Default, err = lisp.ToSexp(value); err != nil {
			return fmt.Errorf("its :default: %w", err)
		}
		if plist.IsNil(p.Default) {
			p.Default = nil
		}
	case "enum", "one-of":
		words, ok := lisp.Slice(value, maximumParameters)
		if !ok || len(words) == 0 {
			return errors.New("its :enum is a list of the allowed values, such as (:get :set)")
		}
		for _, one := range words {
			name, err := nameOf(one)
			if err != nil {
				return fmt.Errorf("its :enum: %w", err)
			}
			p.Words = append(p.Words, name)
		}
	default:
		return fmt.Errorf("a parameter has the keys :%s%s", strings.Join(parameterKeys, " :"), suggestKey(word, parameterKeys))
	}
	return nil
}

// Wants describes the value of the argument in words for a model.
func (p Parameter) Wants() string {
	if len(p.Words) > 0 {
		return "one of :" + strings.Join(p.Words, " :")
	}
	return map[ParameterType]string{
		TextParameter: "a string", IntegerParameter: "an integer", NumberParameter: "a number", BooleanParameter: "t or nil",
		KeywordParameter: "a keyword", ListParameter: "a list", PlistParameter: "a property list", AnyParameter: "any value",
	}[p.Type]
}

// Holds reports whether a value is of the type.
func (p Parameter) Holds(v sexp.Sexp) bool {
	if len(p.Words) > 0 {
		word, ok := wordOf(v)
		return ok && slices.Contains(p.Words, word)
	}
	switch p.Type {
	case TextParameter:
		_, ok := v.(plist.String)
		return ok
	case IntegerParameter:
		_, ok := v.(plist.Int)
		return ok
	case NumberParameter:
		_, whole := v.(plist.Int)
		_, broken := v.(plist.Float)
		return whole || broken
	case BooleanParameter:
		return v == sexp.Sexp(plist.T) || plist.IsNil(v)
	case KeywordParameter:
		_, ok := v.(plist.Keyword)
		return ok
	case ListParameter:
		_, ok := v.(sexp.List)
		return ok || plist.IsNil(v)
	case PlistParameter:
		list, ok := v.(sexp.List)
		return ok && plist.WellFormed(list) == nil
	}
	return true
}

// wordOf returns the word in a string or a keyword, in lower case.
func wordOf(v sexp.Sexp) (string, bool) {
	switch x := v.(type) {
	case plist.String:
		return strings.ToLower(strings.TrimPrefix(string(x), ":")), true
	case plist.Keyword:
		return strings.ToLower(string(x)), true
	}
	return "", false
}

// Fitted returns a value as the note gets it, and whether it is of the type. A model may write a
// keyword as a string, and a string as a keyword, or one thing in place of a list of one.
func (p Parameter) Fitted(v sexp.Sexp) (sexp.Sexp, bool) {
	word, isWord := wordOf(v)
	switch {
	case p.Type == KeywordParameter && isWord && word != "" && !strings.ContainsAny(word, " \t\n"):
		v = plist.Keyword(word)
	case p.Type == TextParameter && isWord:
		if keyword, ok := v.(plist.Keyword); ok {
			v = plist.String(keyword)
		}
		if slices.Contains(p.Words, word) {
			v = plist.String(word)
		}
	case p.Type == ListParameter && !p.Holds(v):
		v = sexp.List{v}
	}
	return v, p.Holds(v)
}
