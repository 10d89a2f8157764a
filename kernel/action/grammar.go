package action

import (
	"fmt"
	"slices"
	"strings"
)

// GrammarTool is a tool in a grammar. Arguments returns the rules, in GBNF notation, for what stands behind the
// name in a call. The first of them has the name that it is given, and so do others with more behind it. They may
// use the rules text, quoted, integer, decimal, plist and value. nil means any property list.
type GrammarTool struct {
	Name      string
	Reads     bool // it changes nothing, and may be called together with others
	Arguments func(rule string) string
}

// Grammar returns a grammar in GBNF notation for replies that have one of the forms and call the tools with
// arguments that they have, or, if plain is set, are text that does not begin with a parenthesis. It restricts a
// model to readable actions. The policy still judges each action. The texts in an action have no bound, because a
// model that has more to write would end them too early. So a reply that is cut off, by the limit of its tokens,
// is no action.
func Grammar(forms []Form, tools []GrammarTool, plain bool) string {
	var b strings.Builder
	var names []string
	if plain {
		names = append(names, "prose")
	}
	for i, f := range forms {
		name := fmt.Sprintf("form-%d", i+1)
		names = append(names, name)
		fmt.Fprintf(&b, "%s ::= %s\n", name, f.rule())
	}
	called, reading := "text"+anyArguments, "tool"
	if len(tools) > 0 {
		alternatives := make([]string, len(tools))
		var reads []string
		for i, t := range tools {
			rest := anyArguments
			if t.Arguments != nil {
				rule := fmt.Sprintf("arguments-%d", i+1)
				rest = " " + rule
				b.WriteString(t.Arguments(rule))
			}
			alternatives[i] = literal(`"`+t.Name+`"`) + rest
			if t.Reads {
				reads = append(reads, alternatives[i])
			}
		}
		called = strings.Join(alternatives, " | ")
		if len(reads) > 0 {
			reading = strings.Join(reads, " | ")
		}
	}
	return "root ::= " + strings.Join(names, " | ") + "\n" + b.String() + "tool ::= " + called + "\nreading ::= " + reading + "\n" + grammarRules
}

// anyArguments stands for the arguments of a tool that does not say which it has.
const anyArguments = ` (" :args " plist)?`

// grammarRules define the values. Text contains at least one character that is not blank.
const grammarRules = `prose ::= [^( \t\n\r\x00-\x1f\x7f\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000] [^\x00]*
text ::= "\"" blank* mark char* "\""
quoted ::= "\"" char* "\""
blank ::= " " | "\\n" | "\\t"
mark ::= [^"\\ \t\n\r\x00-\x1f\x7f\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000] | "\\\"" | "\\\\"
char ::= blank | mark
number ::= [1-9] [0-9]{0,8}
integer ::= "-"? ("0" | number)
decimal ::= integer ("." [0-9]{1,8})?
key ::= ":" [a-z] [a-z0-9-]{0,39}
properties ::= "(" key " " text (" " key " " text)* ")"
plist ::= "(" (key " " value (" " key " " value)*)? ")"
value ::= quoted | number | "t" | "nil" | "(" (value (" " value)*)? ")"
name ::= text
call ::= "(:tool " reading ")"
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
		case field.Example == nil, field.Name == argsField && f.spec.CallsTools(): // it is part of the call
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
