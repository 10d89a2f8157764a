package org

import (
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// SettingsTable is a table under a heading of a file in which a person keeps settings, such as the
// rules of policy.org. It is a value: an edit returns the new text of the file, in which all other
// bytes are the same.
type SettingsTable struct {
	text string
	// Rows are the rows with text, the one with the names of the columns first. Lines between rows
	// and rows of width cookies are no rows.
	Rows []SettingsRow
	// Again is the line of a second heading with the same title, 0 if there is none. Its table is not
	// read.
	Again int

	lastStart, lastEnd int // the offsets of the last line of the table, -1 without one
	begin, section     int // where the text under the heading begins and ends; section is -1 without a heading
}

// SettingsRow is a row. Its cells have no blanks around them.
type SettingsRow struct {
	Cells      []string
	Line       int
	start, end int // the offsets of the line, with its line end
}

// ReadSettingsTable finds the table under the heading with this title, whatever its case. A table in a
// block is an example and is skipped.
func ReadSettingsTable(text, title string) *SettingsTable {
	t := &SettingsTable{text: text, lastStart: -1, lastEnd: -1, section: -1}
	doc := Parse(text)
	number := 0
	for i, h := range doc.Headings {
		if h.Hidden() || !strings.EqualFold(strings.TrimSpace(h.Title), title) {
			continue
		}
		if t.section >= 0 {
			t.Again = h.Line
			break
		}
		t.section, t.begin, number = len(text), h.LineEnd, h.Line
		if i+1 < len(doc.Headings) {
			t.section = doc.Headings[i+1].Start
		}
	}
	if t.section < 0 {
		return t
	}
	for line := range tableLines(doc, t.begin, t.section, number) {
		t.lastStart, t.lastEnd = line.start, line.end
		if !line.blank() {
			t.Rows = append(t.Rows, line)
		}
	}
	return t
}

// Elsewhere returns the rows of tables that are not under the heading, wherever in the file they stand:
// before it, under another heading or below one of its own, under one that is commented out or archived.
// Tables in blocks are examples.
func (t *SettingsTable) Elsewhere() (rows []SettingsRow) {
	for line := range tableLines(Parse(t.text), 0, len(t.text), 0) {
		if !line.blank() && (line.start < t.begin || line.start >= t.section) {
			rows = append(rows, line)
		}
	}
	return rows
}

var widthCookie = regexp.MustCompile(`^<[lrc]?\d*>$`)

// blank reports whether the row has no text: it is a line between rows, or has width cookies.
func (r SettingsRow) blank() bool {
	return !slices.ContainsFunc(r.Cells, func(cell string) bool { return cell != "" && !widthCookie.MatchString(cell) })
}

// tableLines yields the lines of tables in a part of a document, without those in blocks. The part begins
// behind the line with this number. A line between rows has no cells.
func tableLines(doc *Document, start, end, number int) iter.Seq[SettingsRow] {
	return func(yield func(SettingsRow) bool) {
		blocks, offset := doc.Blocks(), start
		for line := range strings.Lines(doc.Source[start:end]) {
			number++
			r := SettingsRow{Line: number, start: offset, end: offset + len(line)}
			offset = r.end
			for len(blocks) > 0 && blocks[0].End <= r.start {
				blocks = blocks[1:]
			}
			row := strings.TrimSpace(line)
			if len(blocks) > 0 && blocks[0].Start <= r.start || !strings.HasPrefix(row, "|") {
				continue
			}
			if !strings.HasPrefix(row, "|-") {
				r.Cells = strings.Split(strings.TrimSuffix(strings.TrimPrefix(row, "|"), "|"), "|")
				for i := range r.Cells {
					r.Cells[i] = strings.TrimSpace(r.Cells[i])
				}
			}
			if !yield(r) {
				return
			}
		}
	}
}

// Append returns the text with a row behind the last one. Without a table it begins one with these
// columns at the end of the section; without the heading it begins the section at the end of the text,
// with the introduction, which begins with the heading. An empty text gets the title "Policy".
func (t *SettingsTable) Append(columns, cells []string, introduction string) string {
	newline := t.newline()
	if t.lastStart >= 0 {
		before := t.text[:t.lastEnd]
		if !strings.HasSuffix(before, "\n") {
			before += newline
		}
		return before + rowLike(t.text[t.lastStart:t.lastEnd], cells) + newline + t.text[t.lastEnd:]
	}
	table, before, after := newTable(columns, cells), t.text, ""
	if t.section >= 0 {
		before, after = t.text[:t.section], t.text[t.section:]
	} else {
		table = introduction + table
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

// Replace returns the text with other cells in a row.
func (t *SettingsTable) Replace(row SettingsRow, cells []string) string {
	return t.text[:row.start] + rowLike(t.text[row.start:row.end], cells) + t.newline() + t.text[row.end:]
}

// Remove returns the text without a row.
func (t *SettingsTable) Remove(row SettingsRow) string { return t.text[:row.start] + t.text[row.end:] }

// newline returns how the text ends its lines.
func (t *SettingsTable) newline() string {
	if strings.Contains(t.text, "\r\n") {
		return "\r\n"
	}
	return "\n"
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
func newTable(columns, cells []string) string {
	widths := make([]int, len(cells))
	dashes := make([]string, len(cells))
	for i, cell := range cells {
		widths[i] = max(utf8.RuneCountInString(cell), utf8.RuneCountInString(columns[i]))
		dashes[i] = strings.Repeat("-", widths[i]+2)
	}
	return rowOf(widths, columns) + "\n|" + strings.Join(dashes, "+") + "|\n" + rowOf(widths, cells) + "\n"
}
