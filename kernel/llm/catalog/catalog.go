// Package catalog knows the prices and windows of models by their names.
//
// What is known by itself stands in models.org, an Org table with a source and a date in each row. A
// person's own table has the same form and wins. Nothing is asked of a server, and what no row says is
// not known: it is never guessed and never zero.
//
// All functions are pure. A [Table] is read-only after [Parse] and safe for many goroutines.
package catalog

import (
	_ "embed"
	"regexp"
	"strings"

	"org-agent/kernel/llm"
)

//go:embed models.org
var builtin string

// Model is what a table says about a model. A field that is zero or nil is not known.
type Model struct {
	Name   string
	Window int        // tokens of a request and its reply together
	Price  *llm.Price // US dollars per million tokens
	Line   int        // of the row
}

// Table is a list of models.
type Table []Model

// Builtin returns the table of models.org. A fault in it is a fault of the program; a test looks for them.
func Builtin() Table {
	table, _ := Parse(builtin)
	return table
}

// Find returns what the table says about the model with this name on a server. The rows with the whole
// name come before those without a part of it: the date of a version at the end ("-20250929",
// "-2025-08-07", "@20250929") and the maker's name in front ("anthropic/"). The case of letters does not
// matter, and a dot counts as a hyphen, because routers write "claude-sonnet-4.5". Of two rows with one
// name the last counts.
func (t Table) Find(name string) (Model, bool) {
	for _, name := range spellings(name) {
		for i := len(t) - 1; i >= 0; i-- {
			if normal(t[i].Name) == name {
				return t[i], true
			}
		}
	}
	return Model{}, false
}

var dated = regexp.MustCompile(`[-@]20[0-9]{2}-?[0-9]{2}-?[0-9]{2}$`)

// spellings returns the names by which a model may be known, the most exact first.
func spellings(name string) []string {
	name = normal(name)
	bare := name[strings.LastIndexByte(name, '/')+1:]
	return []string{name, dated.ReplaceAllString(name, ""), bare, dated.ReplaceAllString(bare, "")}
}

func normal(name string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), ".", "-")
}

// Over returns what this table says, and where it says nothing what the other says. A row that has a
// price has all of it: no part of the price comes from the other table.
func (t Table) Over(other Table, name string) Model {
	m, _ := t.Find(name)
	below, _ := other.Find(name)
	if m.Window == 0 {
		m.Window = below.Window
	}
	if m.Price == nil {
		m.Price = below.Price
	}
	return m
}
