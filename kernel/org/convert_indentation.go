package org

import "strings"

// tabStop is Markdown's. It does not depend on how an editor shows tabs.
const tabStop = 4

// markdownColumn returns the column behind the indentation of a line of Markdown.
func markdownColumn(l string) int {
	column := 0
	for i := 0; i < len(l) && (l[i] == ' ' || l[i] == '\t'); i++ {
		column = behind(column, l[i])
	}
	return column
}

// behind returns the column behind a blank or a tab that stands at a column.
func behind(column int, b byte) int {
	if b == '\t' {
		return column + tabStop - column%tabStop
	}
	return column + 1
}

// takeIndent removes at most that many columns of indentation from the front. A tab across the edge
// is replaced by the blanks that remain of it.
func takeIndent(l string, columns int) string {
	column, i := 0, 0
	for i < len(l) && column < columns && (l[i] == ' ' || l[i] == '\t') {
		column = behind(column, l[i])
		i++
	}
	return strings.Repeat(" ", max(column-columns, 0)) + l[i:]
}
