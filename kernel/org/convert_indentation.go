package org

import "strings"

// tabStop is that of Markdown, whatever an editor shows.
const tabStop = 4

// markdownColumn returns the column behind the indentation of a line of Markdown.
func markdownColumn(l string) int {
	column := 0
	for i := 0; i < len(l) && (l[i] == ' ' || l[i] == '\t'); i++ {
		column = behind(column, l[i])
	}
	return column
}

// behind returns the column behind a blank or tab that stands at a column.
func behind(column int, b byte) int {
	if b == '\t' {
		return column + tabStop - column%tabStop
	}
	return column + 1
}

// takeIndent removes up to columns of indentation from the front. A tab that straddles
// the edge becomes the blanks that are left of it.
func takeIndent(l string, columns int) string {
	column, i := 0, 0
	for i < len(l) && column < columns && (l[i] == ' ' || l[i] == '\t') {
		column = behind(column, l[i])
		i++
	}
	return strings.Repeat(" ", max(column-columns, 0)) + l[i:]
}
