package catalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"org-agent/kernel/llm"
)

// Fault is what is wrong in a line of a table.
type Fault struct {
	Line    int // from 1
	Message string
}

// longestTable is how many rows are read. Each name that is looked for is compared with all of them.
const longestTable = 2000

// Parse reads the Org tables of a text. The first row of a table names its columns, in any order:
// model, window, in, cached, written, out, date, source. Only model is required. A row with a fault
// is left out, and the rest counts. Tables in blocks (#+begin_…) are examples.
func Parse(text string) (table Table, faults []Fault) {
	var columns []string
	block := false
	line := 0
	for row := range strings.Lines(text) {
		line++
		row = strings.TrimSpace(row)
		if lower := strings.ToLower(row); strings.HasPrefix(lower, "#+begin_") || strings.HasPrefix(lower, "#+end_") {
			block = strings.HasPrefix(lower, "#+begin_")
		}
		switch {
		case block || !strings.HasPrefix(row, "|"):
			columns = nil
			continue
		case strings.HasPrefix(row, "|-"):
			continue
		}
		cells := cellsOf(row)
		var message string
		var m Model
		switch {
		case columns == nil:
			columns, message = header(cells)
		case len(table) == longestTable:
			return table, append(faults, Fault{line, fmt.Sprintf("only %d models are read", longestTable)})
		case !slices.Contains(columns, "model"): // the header was at fault
			continue
		default:
			m, message = model(columns, cells)
		}
		switch {
		case message != "":
			faults = append(faults, Fault{line, message})
		case m.Name != "":
			m.Line = line
			table = append(table, m)
		}
	}
	return table, faults
}

// cellsOf returns the cells of a row without the blanks around them.
func cellsOf(row string) []string {
	cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(row, "|"), "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

const columnNames = "model, window, in, cached, written, out, date, source"

// header returns the columns that a row names, or what is wrong with it.
func header(cells []string) (columns []string, fault string) {
	columns = []string{}
	for _, cell := range cells {
		name := strings.ToLower(cell)
		if name == "" || !slices.Contains(strings.Split(columnNames, ", "), name) {
			return columns, fmt.Sprintf("%q is not a column: the first row of the table names its columns, which are %s", cell, columnNames)
		}
		if slices.Contains(columns, name) {
			return []string{}, fmt.Sprintf("there are two columns %s", name)
		}
		columns = append(columns, name)
	}
	if !slices.Contains(columns, "model") {
		return columns, "the table has no column model"
	}
	return columns, ""
}

// model returns the model of a row, or what is wrong with the row. Nothing is wrong with an empty row.
func model(columns, cells []string) (m Model, fault string) {
	if strings.Join(cells, "") == "" {
		return m, ""
	}
	if len(cells) > len(columns) {
		return m, fmt.Sprintf("the row has %d cells, and the table %d columns", len(cells), len(columns))
	}
	price := map[string]*float64{}
	for i, cell := range cells {
		if cell == "" {
			continue
		}
		var err error
		switch column := columns[i]; column {
		case "model":
			m.Name = cell
		case "window":
			m.Window, err = tokens(cell)
		case "in", "cached", "written", "out":
			var dollars float64
			dollars, err = money(cell)
			price[column] = &dollars
		}
		if err != nil {
			return m, fmt.Sprintf("%s: %v", columns[i], err)
		}
	}
	switch {
	case m.Name == "":
		return m, "the row has no model"
	case (price["in"] == nil) != (price["out"] == nil):
		return Model{}, fmt.Sprintf("the price of %q needs both in and out", m.Name)
	case price["in"] == nil && (price["cached"] != nil || price["written"] != nil):
		return Model{}, fmt.Sprintf("the price of %q needs in and out beside cached or written", m.Name)
	case price["in"] != nil:
		m.Price = &llm.Price{Input: *price["in"], Output: *price["out"], Cached: price["cached"], Written: price["written"]}
	}
	return m, ""
}

// mostTokens is more than the window of any model. mostMoney is more than the price of any.
const (
	mostTokens = 1 << 30
	mostMoney  = 1e6
)

// tokens reads "200000", "200k" or "1M".
func tokens(cell string) (int, error) {
	digits, times := cell, 1
	for suffix, factor := range map[string]int{"k": 1000, "K": 1000, "M": 1_000_000} {
		if cut, found := strings.CutSuffix(cell, suffix); found {
			digits, times = cut, factor
		}
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > mostTokens/times {
		return 0, fmt.Errorf("%q is not a number of tokens, such as 32768, 200k or 1M", cell)
	}
	return n * times, nil
}

// money reads "0.25", "$0.25" or "0".
func money(cell string) (float64, error) {
	dollars, err := strconv.ParseFloat(strings.TrimPrefix(cell, "$"), 64)
	if err != nil || !(dollars >= 0 && dollars <= mostMoney) {
		return 0, fmt.Errorf("%q is not a price in dollars for a million tokens, such as 0.25", cell)
	}
	return dollars, nil
}
