package org

import (
	"slices"
	"strings"
)

// A HeaderArgument is one ":key value" of a src block. Value is trimmed, and without
// its quotes if it is one string in quotes; what Emacs would evaluate (a value that
// begins with a parenthesis, bracket, quote or backquote) is left as written.
type HeaderArgument struct {
	Key, Value string // Key without colon
	Line       int    // where it was written
}

// HeaderArgs returns the arguments in force for a src block, weakest first: the file's,
// the nearest heading's that has any, those for its language, the block's own line, its
// #+header: lines from the last to the first (the order of Org 9.5). A key that comes
// again replaces the earlier one; only :var may occur several times.
func (b *Block) HeaderArgs() []HeaderArgument {
	if b.Kind != "src" {
		return nil
	}
	found := b.inherited("header-args")
	found = append(found, b.inherited("header-args:"+b.Language)...)
	found = append(found, parseArguments(b.Arguments, b.Line)...)
	for i := len(b.headers) - 1; i >= 0; i-- {
		found = append(found, parseArguments(b.headers[i].value, b.headers[i].line)...)
	}
	return mergeArguments(found)
}

// HeaderArg returns the value of one argument in force, and whether there is one.
func (b *Block) HeaderArg(key string) (string, bool) {
	for _, argument := range b.HeaderArgs() {
		if strings.EqualFold(argument.Key, key) {
			return argument.Value, true
		}
	}
	return "", false
}

func mergeArguments(all []HeaderArgument) []HeaderArgument {
	last := make(map[string]int, len(all))
	for i, argument := range all {
		last[mergeKey(argument)] = i
	}
	merged := all[:0:0]
	for i, argument := range all {
		if last[mergeKey(argument)] == i {
			merged = append(merged, argument)
		}
	}
	return merged
}

// mergeKey names what an argument replaces: itself, for :var the variable.
func mergeKey(argument HeaderArgument) string {
	if argument.Key == "var" {
		name, _, _ := strings.Cut(argument.Value, "=")
		return "var " + trimBlanks(name)
	}
	return argument.Key
}

// A writtenValue is a property value and where its last part was written.
type writtenValue struct {
	text string
	line int
}

// inherited resolves a property as Org does: from the block's heading upwards "KEY+"
// lines are gathered until a heading has KEY itself; behind the top come the file's
// drawer and #+PROPERTY: lines.
func (b *Block) inherited(key string) []HeaderArgument {
	var parts []writtenValue // outermost first
	for h := b.Heading; h != nil; h = h.Parent {
		local, complete := localValues(h.Properties, key)
		parts = append(local, parts...)
		if complete {
			return parseParts(parts)
		}
	}
	local, complete := localValues(b.doc.Properties, key)
	parts = append(local, parts...)
	if !complete {
		parts = append(slices.Clone(b.doc.headerArgs[strings.ToLower(key)]), parts...)
	}
	return parseParts(parts)
}

// localValues returns the values of KEY and KEY+ in one drawer; complete says that KEY was there.
func localValues(properties []Property, key string) (values []writtenValue, complete bool) {
	for _, p := range properties {
		switch {
		case strings.EqualFold(p.Key, key) && !complete:
			complete = true
			values = append([]writtenValue{{p.Value, p.Line}}, values...)
		case strings.EqualFold(p.Key, key+"+"):
			values = append(values, writtenValue{p.Value, p.Line})
		}
	}
	return values, complete
}

// setHeaderArgs keeps what a #+PROPERTY: line says: a plain key begins anew, KEY+ adds.
func (d *Document) setHeaderArgs(key string, value writtenValue) {
	if plain, adds := strings.CutSuffix(key, "+"); adds {
		d.headerArgs[plain] = append(d.headerArgs[plain], value)
		return
	}
	d.headerArgs[key] = []writtenValue{value}
}

func parseParts(parts []writtenValue) []HeaderArgument {
	var found []HeaderArgument
	for _, part := range parts {
		found = append(found, parseArguments(part.text, part.line)...)
	}
	return found
}

// parseArguments cuts ":a x :b y" at colons that follow a blank and stand outside
// strings, parentheses and brackets.
func parseArguments(text string, number int) []HeaderArgument {
	var found []HeaderArgument
	start := -1 // behind the colon of the argument being read
	depth := 0
	inString := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '(' || c == '[' || c == '{':
			depth++
		case (c == ')' || c == ']' || c == '}') && depth > 0:
			depth--
		case c == ':' && depth == 0 && (i == 0 || text[i-1] == ' ' || text[i-1] == '\t'):
			if start >= 0 {
				found = append(found, oneArgument(text[start:i], number))
			}
			start = i + 1
		}
	}
	if start >= 0 {
		found = append(found, oneArgument(text[start:], number))
	}
	return found
}

func oneArgument(text string, number int) HeaderArgument {
	text = trimBlanks(text)
	key, value := text, ""
	if i := strings.IndexAny(text, " \t"); i >= 0 {
		key, value = text[:i], trimBlanks(text[i:])
	}
	return HeaderArgument{key, unquote(value), number}
}

// unquote reads a value that is exactly one string in quotes.
func unquote(value string) string {
	if len(value) < 2 || value[0] != '"' || value[len(value)-1] != '"' {
		return value
	}
	var text strings.Builder
	for i := 1; i < len(value)-1; i++ {
		if value[i] == '"' {
			return value
		}
		if value[i] == '\\' && i+1 < len(value)-1 {
			i++
		}
		text.WriteByte(value[i])
	}
	return text.String()
}
