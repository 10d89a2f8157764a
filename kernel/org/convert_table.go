package org

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// maxColumns bounds the columns of a table. The last cell holds all text behind.
const maxColumns = 200

func (c *Converter) addRow(l string) {
	if c.rows == nil {
		c.rowPrefix = c.indent()
		c.rows = make([]string, 0, 8)
	}
	c.rows = append(c.rows, trimBlanks(strings.TrimRight(l, "\r")))
}

// flushTable writes the held rows: aligned if they are a table, as text if there is only one line
// that begins with a bar.
func (c *Converter) flushTable() {
	if c.rows == nil {
		return
	}
	rows := c.rows
	c.rows = nil
	if len(rows) == 1 && !strings.HasSuffix(rows[0], "|") {
		c.textRow(rows[0])
		return
	}
	c.flushBullet()
	c.paragraph = false
	for _, l := range c.layOut(rows) {
		c.beginLine(c.rowPrefix + l)
	}
}

// textRow writes a line that begins with a bar and is no table.
func (c *Converter) textRow(l string) {
	n, _ := c.textLine(c.rowPrefix+c.quoteMark(), l, 0, true, c.paragraph)
	c.paragraph = true
	c.runText(l[n:], true)
}

// A tableRow is a rule, which has no cells, or cells that are Org already.
type tableRow struct {
	cells []string
	rule  bool
}

// layOut converts and aligns the rows of a table. A table in Org in which there is nothing to convert
// stays as it is.
func (c *Converter) layOut(lines []string) []string {
	rows := make([]tableRow, 0, len(lines)+1)
	var alignment []byte
	converted := c.dialect == Markdown
	for i, l := range lines {
		cells := cutCells(l)
		if marks, ok := ruleMarks(cells); ok && i > 0 || strings.HasPrefix(l, "|-") {
			if i == 1 {
				alignment = marks
			}
			// A rule with colons, or with blanks behind the bars, is not Org's.
			converted = converted || strings.ContainsRune(l, ':') || !strings.HasPrefix(l, "|-")
			rows = append(rows, tableRow{rule: true})
			continue
		}
		for k, cell := range cells {
			cells[k] = c.cell(cell)
			converted = converted || cells[k] != cell
		}
		rows = append(rows, tableRow{cells: cells})
	}
	if !converted {
		return lines
	}
	if strings.Trim(string(alignment), "\x00") != "" {
		rows = append([]tableRow{{cells: alignmentCookies(alignment)}}, rows...)
	}
	return align(rows)
}

// cutCells splits a row at the bars that are neither escaped nor in code.
func cutCells(l string) []string {
	l = strings.TrimPrefix(l, "|")
	cells := make([]string, 0, min(strings.Count(l, "|"), maxColumns)+1)
	start := 0
	for i := 0; i < len(l); i++ {
		switch l[i] {
		case '\\':
			i++
		case '|':
			if len(cells) < maxColumns {
				cells = append(cells, trimBlanks(l[start:i]))
				start = i + 1
			}
		}
	}
	if last := trimBlanks(l[start:]); last != "" {
		cells = append(cells, last)
	}
	return cells
}

// ruleMarks recognises the row below a table's head and returns how its columns are
// aligned: 'c', 'r' or 0 for the left.
func ruleMarks(cells []string) ([]byte, bool) {
	marks := make([]byte, len(cells))
	for i, cell := range cells {
		left, right := strings.HasPrefix(cell, ":"), strings.HasSuffix(cell, ":")
		if strings.Trim(strings.Trim(cell, ":"), "-") != "" || !strings.Contains(cell, "-") {
			return nil, false
		}
		switch {
		case left && right:
			marks[i] = 'c'
		case right:
			marks[i] = 'r'
		}
	}
	return marks, len(cells) > 0
}

func alignmentCookies(marks []byte) []string {
	cells := make([]string, len(marks))
	for i, mark := range marks {
		if mark != 0 {
			cells[i] = "<" + string(mark) + ">"
		}
	}
	return cells
}

// cell converts the text of a cell.
func (c *Converter) cell(text string) string {
	if isWords(text) {
		return text
	}
	inner := &inline{markdown: c.dialect == Markdown, cell: true, begun: true, links: c.text.links}
	inner.run(text, true)
	return strings.TrimSpace(inner.out.String())
}

// isWords reports whether a text has nothing but letters, digits and single blanks between them, in which
// there is nothing to convert.
func isWords(text string) bool {
	for i := range len(text) {
		if !isAlnum(text[i]) && (text[i] != ' ' || i == 0 || text[i-1] == ' ') {
			return false
		}
	}
	return true
}

// align pads the cells as org-table-align does: to the widest cell of the column, with numbers to
// the right where at least half of the column's cells are numbers.
func align(rows []tableRow) []string {
	var widths []int
	var alignments []byte
	for _, row := range rows {
		for len(widths) < len(row.cells) {
			widths, alignments = append(widths, 1), append(alignments, 0)
		}
		for i, cell := range row.cells {
			widths[i] = max(widths[i], displayWidth(cell))
		}
	}
	for i := range alignments {
		alignments[i] = columnAlignment(rows, i)
	}
	lines := make([]string, 0, len(rows))
	size := 1
	for _, width := range widths {
		size += width + len("|  ")
	}
	for _, row := range rows {
		var l strings.Builder
		l.Grow(size)
		for i, width := range widths {
			if row.rule {
				l.WriteByte("|+"[min(i, 1)])
				l.WriteString(strings.Repeat("-", width+2))
				continue
			}
			cell := ""
			if i < len(row.cells) {
				cell = row.cells[i]
			}
			l.WriteString("| ")
			pad(&l, cell, width, alignments[i])
			l.WriteByte(' ')
		}
		l.WriteByte('|')
		lines = append(lines, l.String())
	}
	return lines
}

// pad writes a cell as wide as its column.
func pad(l *strings.Builder, cell string, width int, alignment byte) {
	free := width - displayWidth(cell)
	left := 0
	switch alignment {
	case 'r':
		left = free
	case 'c':
		left = free / 2
	}
	l.WriteString(strings.Repeat(" ", left))
	l.WriteString(cell)
	l.WriteString(strings.Repeat(" ", free-left))
}

// columnAlignment returns the alignment that a cookie names, or else right for a column of numbers.
func columnAlignment(rows []tableRow, column int) byte {
	cells, numbers := 0, 0
	for _, row := range rows {
		if column >= len(row.cells) || row.cells[column] == "" {
			continue
		}
		switch cell := row.cells[column]; {
		case cell == "<l>" || cell == "<c>" || cell == "<r>":
			return cell[1]
		case isTableNumber(cell):
			numbers++
			cells++
		default:
			cells++
		}
	}
	if cells > 0 && 2*numbers >= cells {
		return 'r'
	}
	return 'l'
}

// isTableNumber reports whether Org takes a cell for a number. Most cells need no expression to tell.
func isTableNumber(cell string) bool {
	const digits = "0123456789"
	return strings.Trim(cell, digits) == "" || strings.IndexByte(digits+"<>-+^.nui", cell[0]) >= 0 && tableNumber.MatchString(cell)
}

// tableNumber matches what Org takes for a number in a table.
var tableNumber = regexp.MustCompile(`^(?:[<>]?[-+^.0-9]*[0-9][-+^.0-9eEdDx()%:]*|[<>]?[-+]?0[xX][0-9a-fA-F.]+|[<>]?[-+]?[0-9]+#[0-9a-zA-Z.]+|nan|[-+u]?inf)$`)

// displayWidth returns how many columns Emacs needs for a cell. A link is shown by its description.
func displayWidth(cell string) int {
	width := 0
	for i := 0; i < len(cell); {
		if strings.HasPrefix(cell[i:], "[[") {
			if target, description, end := cutOrgLink(cell[i:]); end > 0 {
				if description == "" {
					description = target
				}
				width += displayWidth(description)
				i += end
				continue
			}
		}
		r, size := utf8.DecodeRuneInString(cell[i:])
		width += runeWidth(r)
		i += size
	}
	return width
}
