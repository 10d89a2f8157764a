package skill

import (
	"cmp"
	"slices"
	"strings"
)

// grantsIntroduction is the text that the kernel writes above its first grant.
const grantsIntroduction = `* Grants

What notes may reach outside of their Lisp. A row is written here when you grant what a note
asks for in its line of capabilities; you may change and delete rows, and what you save counts at
once. A grant is for the note at this place with these very Lisp blocks: when they change, or the
list does, the note is without until you grant it again. A row that cannot be read voids the table.

`

// with returns the text with this row. The row replaces the note's old row, or follows the last
// row, or begins a new table. All other bytes stay the same.
func (t *grantTable) with(cells []string) string {
	for note, old := range t.grants {
		if encodeName(note, false) == cells[0] {
			return t.table.Replace(old.row, cells)
		}
	}
	return t.table.Append(grantColumns, cells, grantsIntroduction)
}

// without returns the text without the row of a note.
func (t *grantTable) without(note string) string {
	old, found := t.grants[note]
	if !found {
		return t.text
	}
	return t.table.Remove(old.row)
}

// cells returns the row as it is written.
func (row grant) cells() []string {
	names := slices.Clone(row.capabilities)
	return []string{encodeName(row.note, false), strings.Join(names, " "), row.blocks, cmp.Or(row.since, "")}
}
