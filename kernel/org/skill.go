package org

import "strings"

// A SkillBlock is a Lisp block that a skill note's loader evaluates.
type SkillBlock struct {
	// Body is the code with noweb references expanded if the block asks for it.
	Body      string
	Line      int    // of the body's first line in the note
	Name      string // from #+name:
	Criterion string // from :criterion
	Test      bool   // marked ":test yes", or its target is under a tests folder
	Block     *Block

	lines []bodyLine
}

// Position maps a place in Body, line and column from 1, the column in characters, to the
// note, also through noweb references, removed indentation and comma escapes. A place
// beyond the end is taken for the end.
func (b SkillBlock) Position(bodyLine, bodyColumn int) (line, column int) {
	if len(b.lines) == 0 {
		return b.Line, 1
	}
	l := b.lines[min(max(bodyLine, 1), len(b.lines))-1]
	return l.line, max(l.column+bodyColumn-1-l.skip, 1)
}

// SkillBlocks returns the Lisp blocks a skill note consists of, in document order:
// every src block in lisp or common-lisp (any case) except ":tangle no" (unless
// ":test yes" marks it a test) and those in COMMENT or archived subtrees. A faulty
// noweb reference is a diagnostic in the second result; its line is then left out.
func (d *Document) SkillBlocks() ([]SkillBlock, []Diagnostic) {
	var found []SkillBlock
	var web *noweb // made when a block asks for it
	resolve := new(resolver)
	for _, b := range d.blocks {
		if b.Kind != "src" || !isLisp(b.Language) || b.Heading.Hidden() {
			continue
		}
		arguments := resolve.arguments(b)
		tangle, _ := arguments.get("tangle")
		marked := strings.EqualFold(arguments.text("test"), "yes")
		if strings.EqualFold(tangle.Value, "no") && !marked {
			continue
		}
		skill := SkillBlock{
			Body: b.Body, Line: b.BodyLine, Name: b.Name, Block: b, lines: b.lines,
			Criterion: arguments.text("criterion"),
			Test:      marked || underTests(tangle.Value),
		}
		if expandsNoweb(arguments.text("noweb"), forTangling) {
			if web == nil {
				web = newNoweb(newSourceIndex(d), resolve)
			}
			skill.lines = web.expand(b, b.Line-1)
			skill.Body = joinLines(skill.lines)
		}
		found = append(found, skill)
	}
	if web == nil {
		return found, nil
	}
	return found, web.diagnostics
}

func isLisp(language string) bool {
	return strings.EqualFold(language, "lisp") || strings.EqualFold(language, "common-lisp")
}

// underTests reports whether a tangle target, which may be a Lisp expression around a
// file name, has a folder called tests.
func underTests(target string) bool {
	for i := 0; ; {
		found := strings.Index(target[i:], "tests/")
		if found < 0 {
			return false
		}
		i += found
		if i == 0 || strings.IndexByte("/\"' \t(", target[i-1]) >= 0 {
			return true
		}
		i += len("tests/")
	}
}
