package org

import (
	"fmt"
	"strings"
)

// MaxSource is the number of bytes [Parse], [Inert] and [Converter] read. Parse adds a diagnostic
// when a text is longer.
const MaxSource = 64 << 20

// A Severity says how bad a diagnostic is.
type Severity int

// Severities, worst first.
const (
	Error   Severity = iota // what the author wants does not work
	Warning                 // it works, but probably not as the author wants
)

// String returns "error" or "warning".
func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// A Diagnostic is a fault in a note. Line and Column are counted from 1, Column in
// characters.
type Diagnostic struct {
	Line, Column int
	Severity     Severity
	Message      string
}

// String prints the diagnostic as LINE:COLUMN: SEVERITY: MESSAGE.
func (d Diagnostic) String() string {
	return fmt.Sprintf("%d:%d: %s: %s", d.Line, d.Column, d.Severity, d.Message)
}

// A Document is a scanned note. It is immutable.
type Document struct {
	Source      string
	Headings    []*Heading // in document order
	Keywords    []Keyword  // in document order, without those affiliated to a block
	Properties  []Property // of the drawer before the first heading
	Diagnostics []Diagnostic

	lines      []line
	blocks     []*Block
	todo       map[string]bool
	headerArgs map[string][]writtenValue // by lower-case key: what #+PROPERTY: lines say
}

// A Property is a line of a property drawer. Key is as written, without colons and
// with a final "+" if it adds to an inherited value.
type Property struct {
	Key, Value string
	Line       int
}

// A Keyword is a line "#+KEY: value". Key is in upper case, Value trimmed.
type Keyword struct {
	Key, Value string
	Line       int
	Start, End int // byte offsets of the line, without its line end
}

// A Planning holds the timestamps of a planning line as written, or "".
type Planning struct {
	Scheduled, Deadline, Closed string
	Line                        int // 0 if there is no planning line
}

// A Heading is a headline with what belongs to it.
type Heading struct {
	Level      int
	Todo       string // "" if none
	Priority   string // one character, "" if none
	Title      string // without keyword, priority, COMMENT and tags
	Tags       []string
	Commented  bool // the title begins with COMMENT
	Archived   bool // tagged :ARCHIVE:
	Planning   Planning
	Properties []Property
	Parent     *Heading // nil at the top
	Line       int
	Start      int // offset of the first star
	LineEnd    int // offset just behind the heading's line (its line end included)
	Body       int // offset behind heading line, planning line and property drawer
	End        int // offset behind the subtree: the next heading of the same or a higher level, or the end
}

// Property returns the value of the property KEY (any case) of this heading alone.
func (h *Heading) Property(key string) (string, bool) { return findProperty(h.Properties, key) }

// ID returns the heading's :ID:, or "".
func (h *Heading) ID() string {
	id, _ := h.Property("ID")
	return id
}

// Hidden reports whether the heading or one above it is COMMENTed or archived.
func (h *Heading) Hidden() bool {
	for ; h != nil; h = h.Parent {
		if h.Commented || h.Archived {
			return true
		}
	}
	return false
}

func findProperty(properties []Property, key string) (string, bool) {
	for _, p := range properties {
		if strings.EqualFold(p.Key, key) {
			return p.Value, true
		}
	}
	return "", false
}

// Blocks returns all blocks that are structure, in document order. Text inside
// example, export, comment, verse and src blocks is not structure.
func (d *Document) Blocks() []*Block { return d.blocks }

// Keyword returns the value of the first line "#+KEY: value" (any case).
func (d *Document) Keyword(key string) (string, bool) {
	for _, k := range d.Keywords {
		if strings.EqualFold(k.Key, key) {
			return k.Value, true
		}
	}
	return "", false
}

// KeywordValues returns the values of every line "#+KEY: value", in order.
func (d *Document) KeywordValues(key string) []string {
	var values []string
	for _, k := range d.Keywords {
		if strings.EqualFold(k.Key, key) {
			values = append(values, k.Value)
		}
	}
	return values
}

// FindID returns the first heading whose :ID: is id, or nil.
func (d *Document) FindID(id string) *Heading {
	if id == "" {
		return nil
	}
	for _, h := range d.Headings {
		if h.ID() == id {
			return h
		}
	}
	return nil
}

func (d *Document) report(line, column int, severity Severity, format string, arguments ...any) {
	d.Diagnostics = append(d.Diagnostics, Diagnostic{line, column, severity, fmt.Sprintf(format, arguments...)})
}

// text returns the source between two offsets.
func (d *Document) text(start, end int) string { return d.Source[min(start, end):max(start, end)] }
