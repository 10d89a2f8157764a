package action

import (
	"fmt"
	"slices"
	"strings"
)

// Grammar returns a grammar in GBNF notation for replies that have one of the forms and name one of
// the tools. It restricts a model to readable actions. The policy still judges each action.
func Grammar(forms []Form, tools []string) string {
	var b strings.Builder
	var names []string
	for i, f := range forms {
		name := fmt.Sprintf("form-%d", i+1)
		names = append(names, name)
		fmt.Fprintf(&b, "%s ::= %s\n", name, f.rule())
	}
	tool := `text`
	if len(tools) > 0 {
		quoted := make([]string, len(tools))
		for i, name := range tools {
			quoted[i] = literal(`"` + name + `"`)
		}
		tool = strings.Join(quoted, " | ")
	}
	return "root ::= " + strings.Join(names, " | ") + "\n" + b.String() + "tool ::= " + tool + "\n" + grammarRules
}

// grammarRules define the values. Text contains at least one character that is not blank.
const grammarRules = `text ::= "\"" blank* mark char* "\""
quoted ::= "\"" char* "\""
blank ::= " " | "\\n" | "\\t"
mark ::= [^"\\ \t\n\r\x00-\x1f\x7f\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000] | "\\\"" | "\\\\"
char ::= blank | mark
number ::= [1-9] [0-9]*
key ::= ":" [a-z] [a-z0-9-]*
properties ::= "(" key " " text (" " key " " text)* ")"
plist ::= "(" (key " " value (" " key " " value)*)? ")"
value ::= quoted | number | "t" | "nil" | "(" (value (" " value)*)? ")"
name ::= text
call ::= "(:tool " tool (" :args " plist)? ")"
calls ::= "(" call (" " call)* ")"
`

// literal returns a text as a GBNF literal.
func literal(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) + `"`
}

// rule returns the form as a sequence of literals and rules for its values.
func (f Form) rule() string {
	parts := []string{literal(f.spec.head())}
	for _, field := range f.spec.Fields {
		value := f.fixed[field.Name]
		switch {
		case slices.Contains(f.spec.OneOf, field.Name):
			if f.spec.instead(field.Name) {
				continue
			}
			var either []string
			for _, name := range f.spec.OneOf {
				either = append(either, literal(" :"+name+" ")+" text")
			}
			parts = append(parts, "("+strings.Join(either, " | ")+")")
			continue
		case field.Example == nil:
			continue
		case value != "":
			value = literal(value)
		default:
			value = field.Kind.rule()
		}
		part := literal(" :"+field.Name+" ") + " " + value
		if !field.Required {
			part = "(" + part + ")?"
		}
		parts = append(parts, part)
	}
	return strings.Join(append(parts, literal(")")), " ")
}

// rule returns the name of the rule for values of the kind.
func (k FieldKind) rule() string {
	return [...]string{"text", "quoted", "name", "number", "plist", "properties", "calls", "tool", "calls"}[k]
}
