package tool

import (
	"fmt"
	"slices"
	"strings"

	"org-agent/kernel/protocol"
)

// Grammar returns rules in GBNF notation for what stands behind the tool's name in a call: the key :args and the
// arguments that its schema has, each once, those that are required first. The first rule has the given name,
// and the others have more behind it. See action.GrammarTool for the rules that they use.
func (t Tool) Grammar(rule string) string {
	if t.json == nil && t.Foreign() {
		return rule + ` ::= (" :args " plist)?` + "\n"
	}
	g := grammar{rule: rule}
	arguments, required := g.object(t.Schema())
	switch {
	case arguments == "":
		g.add(rule, `""`)
	case required:
		g.add(rule, `" :args " `+arguments)
	default:
		g.add(rule, `(" :args " `+arguments+")?")
	}
	slices.Reverse(g.lines) // what uses a rule stands above it
	return strings.Join(g.lines, "")
}

// grammar is a grammar that is being made, of rules whose names begin alike.
type grammar struct {
	rule  string
	lines []string
}

// add adds a rule.
func (g *grammar) add(name, is string) {
	g.lines = append(g.lines, name+" ::= "+is+"\n")
}

// object returns the name of the rule for an object of a schema as a property list, "" if the object has no
// properties. required is set if it must have one.
func (g *grammar) object(schema protocol.Object) (name string, required bool) {
	all, _ := schema.Get("properties").(protocol.Object)
	needed, _ := schema.Get("required").([]any)
	var first, then []string
	for _, p := range all {
		about, _ := p.Value.(protocol.Object)
		must := slices.Contains(needed, any(p.Key))
		part := fmt.Sprintf(`":%s " %s`, Hyphenated(p.Key), g.value(about, must))
		if must {
			first = append(first, part)
		} else {
			then = append(then, part)
		}
	}
	if len(first)+len(then) == 0 {
		return "", false
	}
	name = fmt.Sprintf("%s-%d", g.rule, len(g.lines)+1)
	if len(first) > 0 {
		g.add(name, `"(" `+strings.Join(first, ` " " `)+optional(then)+` ")"`)
		return name, true
	}
	var alternatives []string // by the first argument that is there
	for i, part := range then {
		alternatives = append(alternatives, part+optional(then[i+1:]))
	}
	g.add(name, `"(" (`+strings.Join(alternatives, " | ")+`) ")"`)
	return name, false
}

// optional returns what lets each of some arguments follow.
func optional(arguments []string) string {
	var b strings.Builder
	for _, a := range arguments {
		b.WriteString(` (" " ` + a + ")?")
	}
	return b.String()
}

// value returns a rule for a value of a schema, or what stands for one. An argument that must be there is not
// blank.
func (g *grammar) value(schema protocol.Object, must bool) string {
	if words, ok := schema.Get("enum").([]any); ok && len(words) > 0 {
		var alternatives []string
		for _, word := range words {
			text, is := word.(string)
			if !is {
				return "value"
			}
			alternatives = append(alternatives, literal(`"`+strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text)+`"`))
		}
		return "(" + strings.Join(alternatives, " | ") + ")"
	}
	switch kindOf(schema.Get("type")) {
	case "string":
		if must {
			return "text"
		}
		return "quoted"
	case "integer":
		return "integer"
	case "number":
		return "decimal"
	case "boolean":
		return `("t" | "nil")`
	case "array":
		items, _ := schema.Get("items").(protocol.Object)
		item := g.value(items, true)
		return `"(" ` + item + ` (" " ` + item + `){0,31} ")"`
	case "object":
		if name, _ := g.object(schema); name != "" {
			return name
		}
		return "plist"
	}
	return "value"
}

// kindOf returns the type in a schema, the first one of several that is not null.
func kindOf(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case protocol.Keyword:
		return string(v)
	case []any:
		for _, one := range v {
			if kind := kindOf(one); kind != "null" {
				return kind
			}
		}
	}
	return ""
}

// literal returns a text as a GBNF literal.
func literal(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) + `"`
}
