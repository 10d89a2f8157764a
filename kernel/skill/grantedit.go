package skill

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
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
	newline := "\n"
	if strings.Contains(t.text, "\r\n") {
		newline = "\r\n"
	}
	for note, old := range t.grants {
		if encodeName(note, false) == cells[0] {
			return t.text[:old.start] + rowLike(t.text[old.start:old.end], cells) + newline + t.text[old.end:]
		}
	}
	if t.lastStart >= 0 {
		before := t.text[:t.lastEnd]
		if !strings.HasSuffix(before, "\n") {
			before += newline
		}
		return before + rowLike(t.text[t.lastStart:t.lastEnd], cells) + newline + t.text[t.lastEnd:]
	}
	table, before := newTable(cells), t.text
	after := ""
	if t.section >= 0 {
		before, after = t.text[:t.section], t.text[t.section:]
	} else {
		table = grantsIntroduction + table
		if before == "" {
			before = "#+TITLE: Policy\n\n"
		}
	}
	if before != "" && !strings.HasSuffix(before, "\n") {
		before += newline
	}
	if !strings.HasSuffix(before, newline+newline) && before != "" {
		before += newline
	}
	if after != "" {
		table += "\n"
	}
	return before + strings.ReplaceAll(table, "\n", newline) + after
}

// without returns the text without the row of a note.
func (t *grantTable) without(note string) string {
	old, found := t.grants[note]
	if !found {
		return t.text
	}
	return t.text[:old.start] + t.text[old.end:]
}

// rowLike writes cells at least as wide as those of another row.
func rowLike(other string, cells []string) string {
	indent := other[:strings.IndexByte(other, '|')]
	separator := "|"
	if strings.HasPrefix(other[len(indent):], "|-") {
		separator = "+"
	}
	widths := make([]int, len(cells))
	for i, cell := range strings.Split(strings.Trim(strings.TrimSpace(other), "|"), separator) {
		if i < len(widths) {
			widths[i] = utf8.RuneCountInString(cell) - 2
		}
	}
	return indent + rowOf(widths, cells)
}

func rowOf(widths []int, cells []string) string {
	var b strings.Builder
	for i, cell := range cells {
		b.WriteString("| " + cell + strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(cell))) + " ")
	}
	return b.String() + "|"
}

// newTable returns an aligned table with one row.
func newTable(cells []string) string {
	widths := make([]int, len(cells))
	dashes := make([]string, len(cells))
	for i, cell := range cells {
		widths[i] = max(utf8.RuneCountInString(cell), utf8.RuneCountInString(grantColumns[i]))
		dashes[i] = strings.Repeat("-", widths[i]+2)
	}
	return rowOf(widths, grantColumns) + "\n|" + strings.Join(dashes, "+") + "|\n" + rowOf(widths, cells) + "\n"
}

// cells returns the row as it is written.
func (row grant) cells() []string {
	names := slices.Clone(row.capabilities)
	return []string{encodeName(row.note, false), strings.Join(names, " "), row.blocks, cmp.Or(row.since, "")}
}
