package lisp

import (
	"fmt"
	"slices"
	"strings"
)

// parameters is the lambda list of a builtin, read once from the text in its row.
type parameters struct {
	// names are the required, optional and keyword parameters, in the order of the list.
	names []string
	// required and positional are the number of required parameters, and of these and
	// the optional ones.
	required, positional int
	// keys are the keywords of the names from positional on.
	keys []*Symbol
	// rest says that there is a &rest or &body parameter, open that any keyword is allowed.
	rest, open bool
}

// least and most are the numbers of arguments allowed; most is -1 when there is no limit.
func (p *parameters) least() int { return p.required }

func (p *parameters) most() int {
	if p.rest || p.open || len(p.keys) > 0 {
		return -1
	}
	return p.positional
}

// parseParameters reads a lambda list given as text. A parameter may be a list, of which
// the first name counts.
func parseParameters(list string) (*parameters, error) {
	inner, ok := strings.CutPrefix(strings.TrimSpace(list), "(")
	inner, closed := strings.CutSuffix(inner, ")")
	if !ok || !closed {
		return nil, fmt.Errorf("the lambda list %q is not in parentheses", list)
	}
	p, section, depth, named := &parameters{}, "", 0, false
	for inner = strings.TrimSpace(inner); inner != ""; inner = strings.TrimLeft(inner, " ") {
		word := parameterWord(inner)
		inner = inner[len(word):]
		switch {
		case word == "(":
			if depth++; depth == 1 {
				named = false
			}
		case word == ")":
			if depth--; depth < 0 {
				return nil, fmt.Errorf("the lambda list %q is not balanced", list)
			}
			if depth == 0 && !named { // a pattern of nothing
				p.add(section, "")
			}
		case depth > 0:
			if !named {
				p.add(section, word)
			}
			named = true
		case word[0] == '&':
			section = word
			p.rest = p.rest || word == "&rest" || word == "&body"
			p.open = p.open || word == "&allow-other-keys"
		default:
			p.add(section, word)
		}
	}
	if depth != 0 {
		return nil, fmt.Errorf("the lambda list %q is not balanced", list)
	}
	return p, nil
}

func (p *parameters) add(section, name string) {
	switch section {
	case "":
		p.required++
		p.positional++
	case "&optional":
		p.positional++
	case "&key":
		p.keys = append(p.keys, Keyword(strings.ToUpper(name)))
	default:
		return
	}
	p.names = append(p.names, name)
}

// parameterWord is the parenthesis or name that text begins with.
func parameterWord(text string) string {
	if i := strings.IndexAny(text, " ()"); i > 0 {
		return text[:i]
	} else if i == 0 {
		return text[:1]
	}
	return text
}

// Args are the arguments of one call of a builtin, bound by the lambda list of its row.
// They are dead when the builtin returns.
type Args struct {
	parameters *parameters
	values     []Value
}

// Get returns the argument for a required, optional or keyword parameter, by its name in
// the row's lambda list; nil if it was not given. A name that is not in the list is a
// mistake in the builtin and panics.
func (a Args) Get(name string) Value {
	for i, known := range a.parameters.names {
		if known == name {
			return a.values[i]
		}
	}
	panic("lisp: there is no parameter " + name)
}

// At returns the i-th required or optional argument, nil if it was not given.
func (a Args) At(i int) Value { return a.values[i] }

// True reports whether an argument was given and is not nil.
func (a Args) True(name string) bool { return Given(a.Get(name)) }

// find is Get for a name that may not be in the list.
func (a Args) find(name string) Value {
	if slices.Contains(a.parameters.names, name) {
		return a.Get(name)
	}
	return nil
}

// bound binds the arguments of a call, whose number is right. They lie on the call's
// stack, which the caller takes back.
func (c *Call) bound(p *parameters, args []Value) Args {
	base := len(c.stack)
	positional := min(len(args), p.positional)
	c.stack = append(c.stack, args[:positional]...)
	for range len(p.names) - positional {
		c.stack = append(c.stack, nil)
	}
	bound := Args{p, c.stack[base:len(c.stack):len(c.stack)]}
	if len(args) > positional {
		c.bindKeys(p, bound.values[p.positional:], args[positional:])
	}
	return bound
}

// bindKeys puts keyword arguments where they belong. Of two for the same parameter the
// first counts.
func (c *Call) bindKeys(p *parameters, values, args []Value) {
	if len(args)%2 != 0 {
		c.Fail(ProgramError, "odd number of keyword arguments")
	}
	var allowed, unknown Value
	for i := 0; i < len(args); i += 2 {
		key, _ := args[i].(*Symbol)
		switch at := slices.Index(p.keys, key); {
		case key != nil && at >= 0:
			if values[at] == nil {
				values[at] = args[i+1]
			}
		case key != kwAllowOtherKeys:
			if unknown == nil {
				unknown = args[i]
			}
		case allowed == nil:
			allowed = args[i+1]
		}
	}
	if unknown != nil && !Given(allowed) {
		c.Fail(ProgramError, "unknown keyword argument %s", Sketch(unknown, formLength))
	}
}
