package rich

import (
	"strings"

	"github.com/rivo/uniseg"
)

// table writes the lines of a table as an aligned block.
func (r *reader) table() {
	var rows [][]string // nil for a rule
	var align []byte
	for ; r.at < len(r.lines) && strings.HasPrefix(strings.TrimSpace(r.lines[r.at]), "|"); r.at++ {
		line := strings.TrimSpace(r.lines[r.at])
		if strings.HasPrefix(line, "|-") {
			rows = append(rows, nil)
			continue
		}
		cells := strings.Split(strings.TrimSuffix(line[1:], "|"), "|")
		for i, c := range cells {
			cells[i] = strings.TrimSpace(inline(strings.TrimSpace(c), 0).Plain)
		}
		if cookies := alignments(cells); cookies != nil {
			align = cookies
			continue
		}
		rows = append(rows, cells)
	}
	for len(rows) > 0 && rows[len(rows)-1] == nil {
		rows = rows[:len(rows)-1]
	}
	for len(rows) > 0 && rows[0] == nil {
		rows = rows[1:]
	}
	r.w.block(aligned(rows, align), "")
}

// alignments returns how columns are aligned if a row says that and nothing else.
func alignments(cells []string) (align []byte) {
	for _, c := range cells {
		switch {
		case c == "":
			align = append(align, 'l')
		case len(c) > 2 && c[0] == '<' && c[len(c)-1] == '>' && strings.Trim(strings.TrimLeft(c[1:len(c)-1], "lrc"), "0123456789") == "":
			align = append(align, c[1])
		default:
			return nil
		}
	}
	if strings.Trim(string(align), "l") == "" && strings.Join(cells, "") == "" {
		return nil
	}
	return align
}

// The widest column that is aligned, and the longest rule: what is wider stands out, so that a table is never much
// longer than its text.
const (
	widestColumn = 60
	longestRule  = 240
)

// aligned returns the lines of a table whose columns are below each other.
func aligned(rows [][]string, align []byte) string {
	var widths []int
	for _, row := range rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 1)
			}
			widths[i] = max(widths[i], min(uniseg.StringWidth(c), widestColumn))
		}
	}
	var dashes []string
	for _, width := range widths {
		dashes = append(dashes, strings.Repeat("-", width))
	}
	rule := "|-" + strings.Join(dashes, "-+-")
	rule = rule[:min(len(rule), longestRule)] + "-|\n"
	var out strings.Builder
	for _, row := range rows {
		if row == nil {
			out.WriteString(rule)
			continue
		}
		for i, cell := range row {
			side := byte('l')
			if i < len(align) {
				side = align[i]
			}
			out.WriteString("| " + padded(cell, widths[i], side) + " ")
		}
		out.WriteString("|\n")
	}
	return out.String()
}

// padded returns a cell with blanks on the left, on the right, or on both sides of what is centered.
func padded(cell string, width int, side byte) string {
	blanks := max(0, width-uniseg.StringWidth(cell))
	before := map[byte]int{'r': blanks, 'c': blanks / 2}[side]
	return strings.Repeat(" ", before) + cell + strings.Repeat(" ", blanks-before)
}
