package org

import (
	"fmt"
	"strings"
)

// maxExpanded bounds the bytes a block may grow to by noweb references, every level of
// references counted.
const maxExpanded = 16 << 20

// noweb expands <<name>> references: a block's #+name:, or all blocks with that
// :noweb-ref, joined.
type noweb struct {
	byName      map[string][]*Block
	busy        map[*Block]bool
	left        int
	diagnostics []Diagnostic
}

func newNoweb(d *Document) *noweb {
	web := &noweb{byName: map[string][]*Block{}, busy: map[*Block]bool{}}
	for _, b := range d.blocks {
		if b.Kind == "src" && b.Name != "" && web.byName[b.Name] == nil {
			web.byName[b.Name] = []*Block{b}
		}
	}
	named := len(web.byName) // a name wins over references of the same spelling
	references := make(map[string][]*Block, named)
	for _, b := range d.blocks {
		if b.Kind != "src" || b.Heading.Hidden() {
			continue
		}
		if reference, ok := b.HeaderArg("noweb-ref"); ok && web.byName[reference] == nil {
			references[reference] = append(references[reference], b)
		}
	}
	for reference, blocks := range references {
		web.byName[reference] = blocks
	}
	return web
}

// expand returns the lines of a block with its references replaced. The text before a
// reference is repeated before each line of what it stands for, as in Org.
func (web *noweb) expand(b *Block) []bodyLine {
	web.left = maxExpanded
	return web.lines(b)
}

func (web *noweb) lines(b *Block) []bodyLine {
	web.busy[b] = true
	defer delete(web.busy, b)
	var out []bodyLine
	for _, l := range b.lines {
		before, name, after, ok := cutReference(l.text)
		web.left -= len(l.text) + 1
		if !ok {
			out = append(out, l)
			continue
		}
		inserted := web.resolve(name, l)
		web.left -= len(inserted) * (len(before) + 1)
		if web.left < 0 {
			inserted = nil
		}
		for i, part := range inserted {
			part.text = before + part.text
			part.skip += len(before)
			if i == len(inserted)-1 {
				part.text += after
			}
			out = append(out, part)
		}
		if len(inserted) == 0 {
			out = append(out, bodyLine{before + after, l.line, l.column, l.skip})
		}
	}
	return out
}

func (web *noweb) resolve(name string, at bodyLine) []bodyLine {
	blocks := web.byName[name]
	if blocks == nil {
		web.report(at, "noweb reference <<%s>>: no block has this name", name)
		return nil
	}
	var out []bodyLine
	for _, b := range blocks {
		if web.busy[b] {
			web.report(at, "noweb reference <<%s>>: the block refers to itself", name)
			return nil
		}
		if web.left < 0 {
			web.report(at, "noweb reference <<%s>>: more than %d MiB after expansion", name, maxExpanded>>20)
			return nil
		}
		value, _ := b.HeaderArg("noweb")
		if expandsNoweb(value) {
			out = append(out, web.lines(b)...)
		} else {
			out = append(out, b.lines...)
			web.left -= len(b.Body) + 1
		}
	}
	return out
}

func (web *noweb) report(at bodyLine, format string, arguments ...any) {
	web.diagnostics = append(web.diagnostics, Diagnostic{at.line, at.column, Error, fmt.Sprintf(format, arguments...)})
}

// cutReference finds the first <<name>> of a line. A name does not begin or end with a blank.
func cutReference(text string) (before, name, after string, ok bool) {
	open := strings.Index(text, "<<")
	if open < 0 {
		return "", "", "", false
	}
	length := strings.Index(text[open+2:], ">>")
	if length <= 0 {
		return "", "", "", false
	}
	name = text[open+2 : open+2+length]
	if trimBlanks(name) != name {
		return "", "", "", false
	}
	return text[:open], name, text[open+2+length+2:], true
}

func joinLines(lines []bodyLine) string {
	var text strings.Builder
	for i, l := range lines {
		if i > 0 {
			text.WriteByte('\n')
		}
		text.WriteString(l.text)
	}
	return text.String()
}
