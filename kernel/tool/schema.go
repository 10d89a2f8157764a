package tool

import (
	"fmt"
	"reflect"
	"strings"
	"unicode"

	"org-agent/kernel/protocol"
	"org-agent/kernel/suggest"
)

// schema is the arguments of a tool, in the order of the struct's fields.
type schema []argument

type argument struct {
	name     string // as it is spelled in a plist: max-results
	doc      string
	kind     kind
	fields   schema   // of each plist, if the argument is a list of plists
	words    []string // the allowed texts; none: any text
	required bool
	internal bool // Reach sets it; models do not see it
	seldom   bool // it does not stand in the line of a prompt
	field    int
}

// kind is the type of an argument's value.
type kind int

const (
	textual kind = iota
	integer
	flag
	texts
	number
	records
)

func (k kind) String() string {
	return [...]string{"a string", "an integer", "t or nil", "a list of strings", "a number", "a list of plists"}[k]
}

// sample stands for a value of the argument in a form.
func (a argument) sample() string {
	switch {
	case a.words != nil:
		return ":" + strings.Join(a.words, "|:")
	case a.kind == records:
		return "(" + a.fields.shortForm() + " …)"
	}
	return [...]string{SampleText, SampleWhole, SampleYes, "(" + SampleText + " …)", SampleNumber}[a.kind]
}

func schemaOf(arguments reflect.Type) (schema, error) {
	if arguments.Kind() != reflect.Struct {
		return nil, fmt.Errorf("the arguments are a %s and not a struct", arguments)
	}
	var s schema
	for i := range arguments.NumField() {
		field := arguments.Field(i)
		a := argument{name: Hyphenated(field.Name), doc: field.Tag.Get("doc"), required: field.Tag.Get("required") == "true", internal: field.Tag.Get("internal") == "true", seldom: field.Tag.Get("seldom") == "true", field: i}
		switch field.Type {
		case reflect.TypeFor[string](), reflect.TypeFor[*string](): // *string: the empty text differs from no value
			a.kind = textual
		case reflect.TypeFor[int]():
			a.kind = integer
		case reflect.TypeFor[bool]():
			a.kind = flag
		case reflect.TypeFor[[]string]():
			a.kind = texts
		case reflect.TypeFor[*float64]():
			a.kind = number
		default:
			var err error
			if a.kind = records; field.Type.Kind() != reflect.Slice {
				return nil, fmt.Errorf("the argument %s is a %s, which none can be", field.Name, field.Type)
			}
			if a.fields, err = schemaOf(field.Type.Elem()); err != nil {
				return nil, fmt.Errorf("the argument %s: %w", field.Name, err)
			}
		}
		if words := field.Tag.Get("words"); words != "" {
			a.words = strings.Fields(words)
		}
		if !field.IsExported() || a.doc == "" {
			return nil, fmt.Errorf("the argument %s is not exported or has no doc", field.Name)
		}
		s = append(s, a)
	}
	return s, nil
}

// Hyphenated returns the name of an argument for a name in another spelling: MaxResults, maxResults and
// max_results are max-results, and ID is id.
func Hyphenated(name string) string {
	var b strings.Builder
	before := '-'
	for _, c := range name {
		switch {
		case c == '_' || c == '-' || !unicode.IsLetter(c) && !unicode.IsDigit(c):
			c = '-'
		case unicode.IsUpper(c) && before != '-' && !unicode.IsUpper(before):
			b.WriteByte('-')
		}
		if before = c; c != '-' || b.Len() > 0 {
			b.WriteRune(unicode.ToLower(c))
		}
	}
	return b.String()
}

// form returns the form of a call with all arguments.
func (s schema) form() string { return Form(s.formArguments(true), 0) }

// shortForm returns the form of a call without arguments that are seldom needed, for which … stands.
func (s schema) shortForm() string {
	most := s.formArguments(false)
	if len(most) == len(s.formArguments(true)) {
		return Form(most, 0)
	}
	return form(most, true)
}

func (s schema) formArguments(seldom bool) (arguments []FormArgument) {
	for _, a := range s {
		if !a.internal && (seldom || !a.seldom) {
			arguments = append(arguments, FormArgument{a.name, a.sample(), a.required})
		}
	}
	return arguments
}

// json returns the schema as a JSON Schema.
func (s schema) json() protocol.Object {
	var properties protocol.Object
	var required []any
	for _, a := range s {
		if a.internal {
			continue
		}
		property := protocol.Object{{Key: "type", Value: protocol.Keyword([...]string{"string", "integer", "boolean", "array", "number", "array"}[a.kind])}}
		switch {
		case a.kind == texts:
			property.Set("items", protocol.Object{{Key: "type", Value: protocol.Keyword("string")}})
		case a.kind == records:
			property.Set("items", a.fields.json())
		case a.words != nil:
			var words []any
			for _, word := range a.words {
				words = append(words, word)
			}
			property.Set("enum", words)
		}
		property.Set("description", a.doc)
		properties.Set(a.name, property)
		if a.required {
			required = append(required, a.name)
		}
	}
	all := protocol.Object{{Key: "type", Value: protocol.Keyword("object")}, {Key: "properties", Value: properties}}
	if required != nil {
		all.Set("required", required)
	}
	return all
}

// read checks arguments and stores them. A key matches an argument if the two are equal without
// regard to case, hyphens and underscores.
func (s schema) read(arguments protocol.Object, into reflect.Value) error {
	given := map[string]string{}
	for _, field := range arguments {
		a, ok := s.named(field.Key)
		if !ok {
			return s.unknown(field.Key)
		}
		if other, twice := given[a.name]; twice {
			return fmt.Errorf("the arguments :%s and :%s are the same one", other, field.Key)
		}
		given[a.name] = field.Key
		if err := a.store(field.Value, into.Field(a.field)); err != nil {
			return err
		}
	}
	for _, a := range s {
		if a.required && into.Field(a.field).IsZero() {
			return fmt.Errorf("the argument :%s is missing: %s", a.name, a.doc)
		}
	}
	return nil
}

func (s schema) named(key string) (argument, bool) {
	spelled := folded(key)
	for _, a := range s {
		if folded(a.name) == spelled {
			return a, true
		}
	}
	return argument{}, false
}

func (s schema) unknown(key string) error {
	var names []string
	for _, a := range s {
		names = append(names, a.name)
	}
	return fmt.Errorf("there is no argument :%s%s", key, suggest.Question(suggest.Of(key, names), ":%s"))
}

// folded returns a name without differences of case, hyphens and underscores.
func folded(name string) string {
	return strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(name, "-", ""), "_", ""))
}

// store puts a value of the wire into a field. The error says what the value must be.
func (a argument) store(value any, field reflect.Value) error {
	if a.kind == records {
		return a.storeRecords(value, field)
	}
	if !a.kind.store(value, field) {
		return fmt.Errorf("the argument :%s is %s", a.name, a.kind)
	}
	if a.words == nil || field.String() == "" {
		return nil
	}
	for _, word := range a.words {
		if folded(word) == folded(field.String()) {
			field.SetString(word)
			return nil
		}
	}
	return fmt.Errorf("the argument :%s is one of :%s, not %q%s", a.name, strings.Join(a.words, " :"), field.String(), suggest.Question(suggest.Of(field.String(), a.words), ":%s"))
}

// storeRecords stores a list of plists. A single plist is a list of one.
func (a argument) storeRecords(value any, field reflect.Value) error {
	items, _ := value.([]any)
	switch v := value.(type) {
	case nil, []any:
	case protocol.Object:
		items = []any{v}
	default:
		return fmt.Errorf("the argument :%s is %s", a.name, a.kind)
	}
	if len(items) == 0 { // nothing and a list without records are the same
		return nil
	}
	all := reflect.MakeSlice(field.Type(), len(items), len(items))
	for i, item := range items {
		record, ok := item.(protocol.Object)
		if !ok {
			return fmt.Errorf("the argument :%s is %s, and number %d of it is none", a.name, a.kind, i+1)
		}
		if err := a.fields.read(record, all.Index(i)); err != nil {
			return fmt.Errorf("number %d of :%s: %w", i+1, a.name, err)
		}
	}
	field.Set(all)
	return nil
}

// store puts a value of the wire into a field, and reports whether it has the kind. nil becomes the
// field's zero value.
func (k kind) store(value any, field reflect.Value) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		if k == texts {
			field.Set(reflect.ValueOf([]string{v}))
			return true
		}
		return k == textual && storeText(v, field)
	case protocol.Keyword:
		if k == texts {
			field.Set(reflect.ValueOf([]string{string(v)}))
			return true
		}
		return k == textual && storeText(string(v), field)
	case int64:
		switch k {
		case integer:
			field.SetInt(v)
		case number:
			n := float64(v)
			field.Set(reflect.ValueOf(&n))
		}
		return k == integer || k == number
	case float64:
		if k == number {
			field.Set(reflect.ValueOf(&v))
		}
		return k == number
	case bool:
		if k == flag {
			field.SetBool(v)
		}
		return k == flag
	case []any:
		return k == texts && storeAll(v, field)
	}
	return false
}

func storeText(value string, field reflect.Value) bool {
	if field.Kind() == reflect.Pointer {
		field.Set(reflect.ValueOf(&value))
	} else {
		field.SetString(value)
	}
	return true
}

func storeAll(values []any, field reflect.Value) bool {
	var all []string
	for _, value := range values {
		s, ok := value.(string)
		if word, isWord := value.(protocol.Keyword); isWord {
			s, ok = string(word), true
		}
		if !ok {
			return false
		}
		all = append(all, s)
	}
	field.Set(reflect.ValueOf(all))
	return true
}
