package toolcall

import (
	"strings"

	"org-agent/kernel/llm"
)

// beginPython finds [NAME(… where NAME is an offered function.
func beginPython(text string, tools tools) (is, open bool) {
	inner, ok := strings.CutPrefix(text, "[")
	if !ok {
		return false, text == ""
	}
	inner = strings.TrimLeft(inner, " \n")
	name, _, called := strings.Cut(inner, "(")
	one, begins := tools.prefix(strings.TrimSpace(name))
	return called && one, !called && begins
}

// readPython reads a list of calls in Python's notation: [f(a='x'), g(b=1)].
func readPython(text string, tools tools) (calls []llm.FunctionCall, rest string, ok bool) {
	r := python{text: text}
	if !r.take("[") {
		return nil, text, false
	}
	for {
		call, ok := r.call(tools)
		if !ok {
			return nil, text, false
		}
		calls = append(calls, call)
		if r.take("]") {
			return calls, r.text, true
		}
		if !r.take(",") {
			return nil, text, false
		}
	}
}

// readLines reads calls in Python's notation, one on each line.
func readLines(text string, tools tools) (calls []llm.FunctionCall, rest string, ok bool) {
	r := python{text: strings.TrimSpace(text)}
	for r.text != "" {
		r.take("default_api.")
		printed := r.take("print(")
		r.take("default_api.")
		call, ok := r.call(tools)
		if !ok || printed && !r.take(")") {
			return nil, text, false
		}
		calls = append(calls, call)
		r.space()
	}
	return calls, "", len(calls) > 0
}

// python reads Python's notation of literals and calls.
type python struct{ text string }

func (p *python) space() { p.text = strings.TrimLeft(p.text, " \t\r\n") }

// take takes a mark, and white space before it.
func (p *python) take(mark string) bool {
	p.space()
	rest, ok := strings.CutPrefix(p.text, mark)
	if ok {
		p.text = rest
	}
	return ok
}

// word takes a name.
func (p *python) word() string {
	p.space()
	end := strings.IndexFunc(p.text, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' && c != '.'
	})
	if end < 0 {
		end = len(p.text)
	}
	word := p.text[:end]
	p.text = p.text[end:]
	return word
}

// call takes a call of an offered function with named arguments.
func (p *python) call(tools tools) (call llm.FunctionCall, ok bool) {
	name, offered := tools.named(p.word())
	if !offered || !p.take("(") {
		return call, false
	}
	var object objectWriter
	for first := true; !p.take(")"); first = false {
		if !first && !p.take(",") {
			return call, false
		}
		if p.take(")") {
			break
		}
		key := p.word()
		if key == "" || !p.take("=") {
			return call, false
		}
		value, ok := p.value(0)
		if !ok {
			return call, false
		}
		object.add(key, value)
	}
	return llm.FunctionCall{Name: name, Arguments: object.String()}, true
}

// depth is how deep values may be nested.
const depth = 32

// value takes a literal, and returns it as JSON.
func (p *python) value(level int) (value string, ok bool) {
	p.space()
	switch {
	case p.text == "" || level > depth:
		return "", false
	case p.text[0] == '\'' || p.text[0] == '"':
		return p.quoted()
	case p.take("["), p.take("("):
		return p.list(level)
	case p.take("{"):
		return p.dictionary(level)
	}
	switch word := p.number(); word {
	case "True", "true":
		return "true", true
	case "False", "false":
		return "false", true
	case "None", "null":
		return "null", true
	default:
		_, _, ok := cutJSON(word)
		return word, ok && word != ""
	}
}

// number takes a number, or a word.
func (p *python) number() string {
	end := strings.IndexAny(p.text, " \t\r\n,)]}")
	if end < 0 {
		end = len(p.text)
	}
	word := p.text[:end]
	p.text = p.text[end:]
	return word
}

func (p *python) list(level int) (string, bool) {
	var items []string
	for !p.take("]") && !p.take(")") {
		if len(items) > 0 && !p.take(",") {
			return "", false
		}
		if p.take("]") || p.take(")") {
			break
		}
		item, ok := p.value(level + 1)
		if !ok {
			return "", false
		}
		items = append(items, item)
	}
	return "[" + strings.Join(items, ",") + "]", true
}

func (p *python) dictionary(level int) (string, bool) {
	var object objectWriter
	for first := true; !p.take("}"); first = false {
		if !first && !p.take(",") {
			return "", false
		}
		if p.take("}") {
			break
		}
		key, ok := p.value(level + 1)
		if !ok || key[0] != '"' || !p.take(":") {
			return "", false
		}
		value, ok := p.value(level + 1)
		if !ok {
			return "", false
		}
		object.fields = append(object.fields, key+":"+value)
	}
	return object.String(), true
}

// escapes are the letters behind a backslash that stand for others.
var escapes = map[byte]string{'n': "\n", 't': "\t", 'r': "\r", '\n': ""}

// quoted takes a string, also a long one.
func (p *python) quoted() (string, bool) {
	mark := p.text[:1]
	if long := strings.Repeat(mark, 3); strings.HasPrefix(p.text, long) {
		mark = long
	}
	rest := p.text[len(mark):]
	var b strings.Builder
	for rest != "" {
		if strings.HasPrefix(rest, mark) {
			p.text = rest[len(mark):]
			return quote(b.String()), true
		}
		if rest[0] == '\\' && len(rest) > 1 {
			if escaped, known := escapes[rest[1]]; known {
				b.WriteString(escaped)
			} else {
				b.WriteByte(rest[1])
			}
			rest = rest[2:]
			continue
		}
		b.WriteByte(rest[0])
		rest = rest[1:]
	}
	return "", false
}
