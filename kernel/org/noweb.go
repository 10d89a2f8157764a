package org

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// maxExpanded bounds the size of a block after its noweb references were expanded, in bytes. All
// levels of references count.
const maxExpanded = 16 << 20

// noweb expands <<name>> references. A name refers to the text below a heading with that
// :CUSTOM_ID: or :ID:, to a block by its #+name:, or to all blocks with that :noweb-ref, joined.
type noweb struct {
	index       *sourceIndex
	resolver    *resolver
	references  map[string][]sourceMatch // by :noweb-ref; nil until one is looked for
	headings    map[string]*Heading      // by ID; nil until one is looked for
	busy        map[*Block]bool
	moved       bool // a subtree was looked up, which moves Org's point
	left        int
	missing     Severity // of a reference to nothing, which Org drops silently
	diagnostics []Diagnostic

	// comment returns the lines before and behind the code of a reference, in a block that wants
	// :comments noweb. nil is no comment. from is nil when only the text looks like the block.
	comment func(into, from *Block, at int) (before, behind []string)
}

func newNoweb(index *sourceIndex, r *resolver) *noweb {
	return &noweb{index: index, resolver: r, busy: map[*Block]bool{}}
}

// A nowebContext is the purpose for which references are expanded.
type nowebContext int

const (
	forTangling   nowebContext = iota
	forEvaluation              // also of blocks to which a reference leads
)

// expandsNoweb reports whether a :noweb value asks for references to be expanded.
func expandsNoweb(value string, context nowebContext) bool {
	for word := range strings.FieldsSeq(value) {
		switch word {
		case "yes", "no-export", "strip-export":
			return true
		case "tangle":
			if context == forTangling {
				return true
			}
		case "eval":
			if context == forEvaluation {
				return true
			}
		}
	}
	return false
}

// expand returns the lines of a block with its references replaced. As in Org the text before a
// reference is repeated before each line that replaces it. at is the index of the line at which
// Org's point would be.
func (web *noweb) expand(b *Block, at int) []bodyLine {
	web.left, web.moved = maxExpanded, false
	return web.lines(b, at)
}

// reference matches a reference. A name neither begins nor ends with a blank.
var reference = regexp.MustCompile(`<<([^ \t\n](?:.*?[^ \t\n])?)>>`)

func (web *noweb) lines(b *Block, at int) []bodyLine {
	web.busy[b] = true
	defer delete(web.busy, b)
	out := make([]bodyLine, 0, len(b.lines))
	for _, l := range b.lines {
		web.left -= len(l.text) + 1
		if !strings.Contains(l.text, "<<") {
			out = append(out, l)
			continue
		}
		out = append(out, web.expandLine(b, l, at)...)
	}
	return out
}

func (web *noweb) expandLine(b *Block, l bodyLine, at int) []bodyLine {
	out := []bodyLine{{line: l.line, column: l.column, skip: l.skip}}
	done := 0
	for _, found := range reference.FindAllStringSubmatchIndex(l.text, -1) {
		prefix, name := l.text[done:found[0]], l.text[found[2]:found[3]]
		done = found[1]
		last := &out[len(out)-1]
		last.text += prefix
		inserted := web.resolve(b, name, l, at)
		web.left -= len(inserted) * (len(prefix) + 1)
		if web.left < 0 {
			inserted = nil
		}
		for i, part := range inserted {
			if i > 0 {
				out = append(out, bodyLine{prefix + part.text, part.line, part.column, part.skip + utf8.RuneCountInString(prefix)})
				continue
			}
			if len(out) == 1 && part.text != "" {
				last.line, last.column, last.skip = part.line, part.column, part.skip+utf8.RuneCountInString(last.text)
			}
			last.text += part.text
		}
	}
	out[len(out)-1].text += l.text[done:]
	return out
}

// resolve returns the lines that replace a reference. Carriage returns count as line ends in them.
func (web *noweb) resolve(into *Block, name string, from bodyLine, at int) []bodyLine {
	if open := strings.IndexByte(name, '('); open >= 0 && strings.IndexByte(name[open:], ')') > 0 {
		web.report(from, Error, "noweb reference <<%s>> asks for the result of a block, which would have to be evaluated", name)
		return nil
	}
	if body, ok := web.subtree(name, from); ok {
		return body
	}
	if match, ok := web.index.named[strings.ToLower(name)]; ok && !web.index.headingAt(match.end).commented() {
		if b := web.index.blockAt(match.end); b != nil {
			return web.code(into, b, from, name, match.end)
		}
		if web.comments(into) {
			return splitReturns(web.between(nil, []bodyLine{{line: from.line, column: from.column}}, into, from, match.end))
		}
	}
	matches := web.referenced(name)
	if matches == nil {
		web.report(from, web.missing, "noweb reference <<%s>>: no block has this name", name)
		return nil
	}
	var out []bodyLine
	separator := ""
	for i, match := range matches {
		b := web.index.blockAt(match.begin)
		part := web.code(into, b, from, name, at)
		if i == 0 {
			out = part
		} else {
			out = joinWith(out, separator, part)
		}
		separator = "\n"
		if written, _ := web.resolver.arguments(b).get("noweb-sep"); written.kind == textValue {
			separator = written.Value
		} else if written.kind != absentValue {
			web.report(from, Error, "noweb reference <<%s>>: the :noweb-sep of line %d is no text", name, written.Line)
		}
	}
	return out
}

// joinWith appends lines behind a separator. The separator may contain line ends.
func joinWith(lines []bodyLine, separator string, more []bodyLine) []bodyLine {
	for i, text := range strings.Split(separator, "\n") {
		if i > 0 {
			lines = append(lines, bodyLine{line: more[0].line, column: 1})
		}
		lines[len(lines)-1].text += text
	}
	last := &lines[len(lines)-1]
	if before := last.text; before == "" {
		*last = more[0]
	} else {
		last.text += more[0].text
	}
	return append(lines, more[1:]...)
}

// code returns the lines of a block to which a reference leads, at least one. Its own references
// are expanded if the block is evaluated with them.
func (web *noweb) code(into, b *Block, from bodyLine, name string, at int) []bodyLine {
	none := []bodyLine{{line: from.line, column: from.column}}
	if web.left < 0 {
		web.report(from, Error, "noweb reference <<%s>>: more than %d MiB after expansion", name, maxExpanded>>20)
		return none
	}
	arguments := web.resolver.arguments(b)
	if arguments.fault != nil {
		web.diagnostics = append(web.diagnostics, *arguments.fault)
		return none
	}
	var lines []bodyLine
	switch {
	case !expandsNoweb(arguments.text("noweb"), forEvaluation):
		lines = slices.Clone(b.lines)
		web.left -= len(b.Body) + 1
	case web.busy[b]:
		web.report(from, Error, "noweb reference <<%s>>: the block refers to itself", name)
		return none
	default:
		lines = web.lines(b, at)
	}
	if len(lines) == 0 {
		lines = none
	}
	if web.comments(into) {
		lines = web.between(b, lines, into, from, at)
	}
	return splitReturns(lines)
}

// comments reports whether the text for a reference is put between comments.
func (web *noweb) comments(into *Block) bool {
	return web.comment != nil && web.resolver.arguments(into).text("comments") == "noweb"
}

// between puts lines between the comments that say where the lines come from.
func (web *noweb) between(b *Block, lines []bodyLine, into *Block, from bodyLine, at int) []bodyLine {
	before, behind := web.comment(into, b, at)
	return slices.Concat(linesAt(before, from.line), lines, linesAt(behind, from.line))
}

func linesAt(texts []string, number int) []bodyLine {
	var lines []bodyLine
	for _, text := range texts {
		lines = append(lines, bodyLine{text: text, line: number, column: 1})
	}
	return lines
}

// splitReturns cuts lines at carriage returns, which also end a line in the text for a reference.
func splitReturns(lines []bodyLine) []bodyLine {
	if !slices.ContainsFunc(lines, func(l bodyLine) bool { return strings.Contains(l.text, "\r") }) {
		return lines
	}
	var out []bodyLine
	for _, l := range lines {
		for i, text := range strings.Split(l.text, "\r") {
			out = append(out, bodyLine{text, l.line, l.column + i, min(l.skip, len(text))})
		}
	}
	return out
}

// referenced returns the blocks with that :noweb-ref, in order.
func (web *noweb) referenced(name string) []sourceMatch {
	if web.references == nil {
		web.references = map[string][]sourceMatch{}
		for _, match := range web.index.found {
			b := web.index.blockAt(match.begin)
			if b == nil || web.index.blockAt(match.end) == nil || web.index.headingAt(match.begin).commented() {
				continue
			}
			if written, _ := web.resolver.arguments(b).get("noweb-ref"); written.kind == textValue || written.kind == codeValue {
				web.references[written.Value] = append(web.references[written.Value], match)
			}
		}
	}
	return web.references[name]
}

// subtree returns the text below the heading with that CUSTOM_ID or ID.
func (web *noweb) subtree(name string, from bodyLine) ([]bodyLine, bool) {
	if web.headings == nil {
		web.headings = headingsByID(web.index.doc)
	}
	h, ok := web.headings[strings.ToLower(name)]
	if !ok {
		return nil, false
	}
	web.moved = true
	if h == nil {
		web.report(from, Error, "noweb reference <<%s>> names the whole note", name)
		return nil, true
	}
	all := web.index.doc.lines
	first := sort.Search(len(all), func(i int) bool { return all[i].start >= h.Body })
	var lines []bodyLine
	for _, l := range all[first:] {
		if l.start >= h.End {
			break
		}
		lines = append(lines, bodyLine{l.text, l.number, 1, 0})
		web.left -= len(l.text) + 1
	}
	if source := web.index.doc.Source; len(lines) == 0 || h.End == len(source) && strings.HasSuffix(source, "\n") {
		lines = append(lines, bodyLine{line: h.Line, column: 1}) // the last line end counts
	}
	return splitReturns(lines), true
}

// headingsByID returns the headings by CUSTOM_ID and ID in lower case. nil stands for the whole
// note. Of two headings with one name the first counts, and a CUSTOM_ID counts before an ID.
func headingsByID(d *Document) map[string]*Heading {
	found := map[string]*Heading{}
	for _, key := range []string{"CUSTOM_ID", "ID"} {
		add := func(properties []Property, h *Heading) {
			if value, ok := findProperty(properties, key); ok && value != "" {
				if _, known := found[strings.ToLower(value)]; !known {
					found[strings.ToLower(value)] = h
				}
			}
		}
		add(d.Properties, nil)
		for _, h := range d.Headings {
			add(h.Properties, h)
		}
	}
	return found
}

func (web *noweb) report(at bodyLine, severity Severity, format string, arguments ...any) {
	web.diagnostics = append(web.diagnostics, Diagnostic{at.line, at.column, severity, fmt.Sprintf(format, arguments...)})
}

func joinLines(lines []bodyLine) string {
	size := 0
	for _, l := range lines {
		size += len(l.text) + 1
	}
	var text strings.Builder
	text.Grow(size)
	for i, l := range lines {
		if i > 0 {
			text.WriteByte('\n')
		}
		text.WriteString(l.text)
	}
	return text.String()
}
