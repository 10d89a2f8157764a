package org

import (
	"fmt"
	"slices"
	"strings"
)

// A HeaderArgument is one ":key value" of a src block. Value is trimmed; one string in quotes is
// given without its quotes. A value that Emacs would evaluate (it begins with a parenthesis,
// bracket, quote or backquote) is left as written.
type HeaderArgument struct {
	Key, Value string // Key without colon
	Line       int    // where it was written
}

// HeaderArgs returns the arguments in force for a src block, the weakest first: the file's, those
// of the nearest heading that has any, those for the block's language, those of the block's own
// line, and those of its #+header: lines from the last to the first (the order of Org 9.5). A later
// key replaces an earlier one. Only :var may occur several times.
func (b *Block) HeaderArgs() []HeaderArgument {
	if b.Kind != "src" {
		return nil
	}
	merged := new(resolver).resolve(b)
	found := make([]HeaderArgument, 0, len(merged.all))
	for _, a := range merged.all {
		found = append(found, a.HeaderArgument)
	}
	return found
}

// arguments are those in force for a block, with the first fault that makes Org fail on them.
type arguments struct {
	all   []argument
	fault *Diagnostic
}

// get returns the argument of that name. If there is none, its kind is absentValue.
func (a arguments) get(key string) (argument, bool) {
	for _, found := range a.all {
		if found.Key == key {
			return found, true
		}
	}
	return argument{}, false
}

// text returns an argument's value if it is a string, else "".
func (a arguments) text(key string) string {
	found, _ := a.get(key)
	value, _ := found.text()
	return value
}

// A resolver finds the arguments of a document's blocks. It caches them, and belongs to one
// goroutine.
type resolver struct {
	languages map[string]*inheritance // "" for arguments of any language
	merged    []*arguments            // by the blocks' numbers
	level1    Heading                 // stands for all headings of level 1 without arguments, except one on the first line
}

// An inheritance holds what a property is under each heading that sets it.
type inheritance struct {
	property string
	below    map[*Heading][]argument
}

func (r *resolver) arguments(b *Block) arguments {
	if r.merged == nil {
		r.merged = make([]*arguments, len(b.doc.blocks))
	}
	if r.merged[b.number] == nil {
		merged := r.resolve(b)
		r.merged[b.number] = &merged
	}
	return *r.merged[b.number]
}

// resolve finds the arguments of a block without the cache.
func (r *resolver) resolve(b *Block) arguments {
	all := slices.Clone(r.inherited(b, ""))
	if b.Language != "" {
		all = append(all, r.inherited(b, b.Language)...)
	}
	all = append(all, parseArguments([]writtenValue{{b.Arguments, b.Line}})...)
	for i := len(b.headers) - 1; i >= 0; i-- {
		all = append(all, parseArguments([]writtenValue{{b.headers[i].value, b.headers[i].line}})...)
	}
	return mergeArguments(all)
}

// inherited returns the inherited arguments for a language, or those for any.
func (r *resolver) inherited(b *Block, language string) []argument {
	known := r.languages[language]
	if known == nil {
		known = &inheritance{"header-args", map[*Heading][]argument{}}
		if language != "" {
			known.property += ":" + language
		}
		if r.languages == nil {
			r.languages = map[string]*inheritance{}
		}
		r.languages[language] = known
	}
	// A heading that sets nothing has its parent's arguments, and the topmost one those at the
	// beginning of the note. So there are only a few different ones.
	place := b.Heading
	for place != nil && place.Parent != nil && !mentions(place.Properties, known.property) {
		place = place.Parent
	}
	if place != nil && place.Level == 1 && place.Start > 0 && !mentions(place.Properties, known.property) {
		place = &r.level1
	}
	found, ok := known.below[place]
	if !ok {
		found = parseArguments(b.inherited(known.property))
		known.below[place] = found
	}
	return found
}

// mentions reports whether a drawer has KEY or KEY+.
func mentions(properties []Property, key string) bool {
	return slices.ContainsFunc(properties, func(p Property) bool {
		return strings.EqualFold(strings.TrimSuffix(p.Key, "+"), key)
	})
}

// mergeArguments keeps the last argument of each key, and of each variable.
func mergeArguments(all []argument) arguments {
	var fault *Diagnostic
	if plain := !slices.ContainsFunc(all, func(a argument) bool { return a.Key == "var" }); plain && len(all) <= 8 {
		return mergeFew(all)
	}
	last := make(map[string]int, len(all))
	keys := make([]string, len(all))
	for i := range all {
		a := &all[i]
		fault = a.addFault(fault)
		keys[i] = a.Key
		if a.Key == "var" {
			name, _ := variableName(a.Value)
			keys[i] = "var " + name
		}
		last[keys[i]] = i
	}
	merged := make([]argument, 0, len(last))
	for i, a := range all {
		if last[keys[i]] == i {
			merged = append(merged, a)
		}
	}
	return arguments{merged, fault}
}

// mergeFew does the same as mergeArguments, for a few arguments without variables. It needs no map.
func mergeFew(all []argument) arguments {
	var fault *Diagnostic
	merged := make([]argument, 0, len(all))
	for i := range all {
		fault = all[i].addFault(fault)
		later := all[i+1:]
		if !slices.ContainsFunc(later, func(a argument) bool { return a.Key == all[i].Key }) {
			merged = append(merged, all[i])
		}
	}
	return arguments{merged, fault}
}

// addFault returns known, or else the argument's own fault.
func (a *argument) addFault(known *Diagnostic) *Diagnostic {
	if problem := a.problem(); known == nil && problem != "" {
		return &Diagnostic{a.Line, 1, Error, problem}
	}
	return known
}

// variableName returns the name of "name=value".
func variableName(assignment string) (string, bool) {
	name, _, found := strings.Cut(assignment, "=")
	name = strings.TrimRight(name, " \t")
	return name, found && name != "" && !strings.ContainsAny(name, " \f\t\n\r\v")
}

// problem returns what makes Org fail on an argument wherever it stands, or "".
func (a argument) problem() string {
	switch {
	case a.kind == brokenValue:
		return fmt.Sprintf(":%s: the string has no end, or an escape that is not read: %s", a.Key, a.Value)
	case a.Key == "var" && a.kind == textValue:
		if _, named := variableName(a.Value); !named {
			return fmt.Sprintf(":var %s: a variable must be assigned a value, as in :var name=1", a.Value)
		}
	case a.Key == "results" && (a.kind == absentValue || a.kind == numberValue),
		a.Key == "exports" && a.kind == numberValue,
		a.Key == "var" && a.kind != textValue:
		return fmt.Sprintf(":%s needs words as its value", a.Key)
	}
	return ""
}

// A writtenValue is a property value with the place of its last part.
type writtenValue struct {
	text string
	line int
}

// inherited resolves a property as Org 9.5 does. From the block's heading upwards it gathers "KEY+"
// lines until a heading has KEY itself. Above the topmost heading come the beginning of the note
// and the #+PROPERTY: lines. The result is outermost first.
func (b *Block) inherited(key string) []writtenValue {
	var parts []writtenValue
	var top *Heading
	for h := b.Heading; h != nil; h = h.Parent {
		top = h
		local, complete := localValues(h.Properties, key)
		parts = append(local, parts...)
		if complete {
			return parts
		}
	}
	local, complete := localValues(b.doc.firstProperties(top), key)
	parts = append(local, parts...)
	if !complete {
		parts = append(slices.Clone(b.doc.headerArgs[strings.ToLower(key)]), parts...)
	}
	return parts
}

// firstProperties returns the properties that Org finds at the beginning of a note when it goes up
// from the topmost heading, or nil: those of the file's drawer, or of a heading on the first line.
// Org goes there only from a heading of level 1.
func (d *Document) firstProperties(top *Heading) []Property {
	switch {
	case top == nil:
		return d.Properties
	case top.Level > 1 || top.Start == 0:
		return nil
	case d.Headings[0].Start == 0:
		return d.Headings[0].Properties
	}
	return d.Properties
}

// localValues returns the values of KEY and KEY+ in one drawer. complete says that KEY itself is
// there. The first KEY counts, even if it is empty; the value "nil" removes the property.
func localValues(properties []Property, key string) (values []writtenValue, complete bool) {
	seen := false
	for _, p := range properties {
		switch {
		case strings.EqualFold(p.Key, key):
			if !seen && p.Value != "nil" {
				complete = true
				values = append([]writtenValue{{p.Value, p.Line}}, values...)
			}
			seen = true
		case strings.EqualFold(p.Key, key+"+"):
			values = append(values, writtenValue{p.Value, p.Line})
		}
	}
	return values, complete
}

// setHeaderArgs takes the value of a #+PROPERTY: line. A plain key replaces earlier values, KEY+
// adds to them.
func (d *Document) setHeaderArgs(key string, value writtenValue) {
	if plain, adds := strings.CutSuffix(key, "+"); adds {
		d.headerArgs[plain] = append(d.headerArgs[plain], value)
		return
	}
	d.headerArgs[key] = []writtenValue{value}
}

// emacsBlanks are the characters that Org takes for blanks in header arguments.
const emacsBlanks = " \f\t\n\r\v"

// parseArguments reads the parts of a value as one text, joined by blanks. It is cut at each colon
// that follows a blank and stands outside of strings and closed brackets.
func parseArguments(parts []writtenValue) []argument {
	if len(parts) == 0 {
		return nil
	}
	var text strings.Builder
	var ends []int // of the parts
	for i, part := range parts {
		if i > 0 {
			text.WriteByte(' ')
		}
		text.WriteString(part.text)
		ends = append(ends, text.Len())
	}
	if strings.Trim(text.String(), " \t\n\r") == "" {
		return nil
	}
	pieces, starts := splitBalanced(text.String(), true, func(before, behind byte) bool {
		return behind == ':' && (before == ' ' || before == '\t')
	})
	var found []argument
	part := 0
	for i, piece := range pieces {
		for starts[i] > ends[part] {
			part++
		}
		if i > 0 {
			piece = ":" + piece
		}
		found = append(found, readArgument(piece, parts[part].line)...)
	}
	return found
}

// readArgument reads one ":key value"; a :var may assign several variables.
func readArgument(piece string, number int) []argument {
	word := strings.TrimLeft(piece, emacsBlanks)
	key, value := word, ""
	if i := strings.IndexAny(word, emacsBlanks); i >= 0 {
		key, value = word[:i], strings.Trim(word[i:], emacsBlanks)
	}
	name, colon := strings.CutPrefix(key, ":")
	read, kind := readValue(value)
	if !colon {
		// Org also reads the word before the first colon, and stores its value under a name that
		// nothing looks up.
		if kind != brokenValue && (kind != codeValue || identityMode(value) >= 0) {
			return nil
		}
		name = "(" + key + ")"
	}
	if name != "var" || kind != textValue {
		return []argument{{HeaderArgument{name, read, number}, kind}}
	}
	pieces, _ := splitBalanced(read, false, func(_, behind byte) bool { return behind == ' ' })
	var found []argument
	for _, assignment := range joinAssignments(pieces) {
		found = append(found, argument{HeaderArgument{name, strings.Trim(assignment, " \t\n\r"), number}, textValue})
	}
	return found
}

// joinAssignments joins the pieces that blanks around "=" separated.
func joinAssignments(pieces []string) []string {
	var joined []string
	for _, piece := range pieces {
		n := len(joined)
		if n > 0 && (strings.HasSuffix(joined[n-1], "=") || strings.HasPrefix(piece, "=")) {
			joined[n-1] += piece
		} else {
			joined = append(joined, piece)
		}
	}
	return joined
}
