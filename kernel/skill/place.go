package skill

import (
	"errors"
	"strings"

	"org-agent/kernel/lisp"
)

// Lisp counts lines and columns in the text that it gets. If that text stands unchanged in the
// note, its lines are numbered as in the note. A block with noweb references is assembled from
// several places. Its lines are numbered from a number above every line of a note, and are mapped
// back here.

// scatteredLines is larger than the number of lines of the longest note.
const scatteredLines = 1 << 24

// lineOf returns the number of the first line with which block i is loaded.
func (n *Note) lineOf(i int) int {
	b := n.blocks[i]
	last := 1 + strings.Count(b.Body, "\n")
	line, _ := b.Position(last, 1)
	if line == b.Line+last-1 {
		return b.Line
	}
	start := scatteredLines
	for _, earlier := range n.blocks[:i] {
		start += 1 + strings.Count(earlier.Body, "\n")
	}
	return start
}

// mapPlace returns an error of the environment with its place mapped to the note. It must be
// applied once.
func (n *Note) mapPlace(err error) error {
	var fault *lisp.Error
	if !errors.As(err, &fault) || fault.Line == 0 || fault.File != n.File {
		return err
	}
	for i, b := range n.blocks {
		first := n.lineOf(i)
		if fault.Line < first || fault.Line > first+strings.Count(b.Body, "\n") {
			continue
		}
		placed := *fault
		placed.Line, placed.Column = b.Position(fault.Line-first+1, fault.Column)
		return &placed
	}
	return err
}
