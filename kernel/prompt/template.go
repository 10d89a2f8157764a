package prompt

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// template is a text with places to fill, as [variableNames] describes. All names in it were
// checked, except those of tools.
type template struct {
	pieces []piece
}

// piece is a text, a variable, or the name of a tool.
type piece struct{ text, variable, tool string }

// source is the text of a template.
type source struct {
	name string
	file string // of the text, for faults
	line int    // of the first line of text in the file
	text string
}

// Fault is a fault of a template, with its place.
type Fault struct {
	File         string
	Line, Column int // from 1; the column in characters
	Message      string
}

// Error returns the place and the message, as compilers write them.
func (f Fault) Error() string {
	return fmt.Sprintf("%s:%d:%d: error: %s", f.File, f.Line, f.Column, f.Message)
}

// compiler makes templates from sources, which may include one another.
type compiler struct {
	sources  map[string]source
	compiled map[string]template
	within   []string // the sources being compiled, outermost first
	faults   []Fault
}

// templateBytes is the maximum size of a template with everything that it includes. Without it, a
// dozen notes that each include the next one twice would be larger than any prompt.
const templateBytes = 1 << 20

// compile returns the template of the named source. It appends the faults of the source, and of
// those that it includes, each with its own place.
func (c *compiler) compile(name string) template {
	if t, done := c.compiled[name]; done {
		return t
	}
	c.within = append(c.within, name)
	s := c.sources[name]
	var t template
	for place := 0; place < len(s.text); {
		pieces, next := c.next(s, place)
		t.pieces = append(t.pieces, pieces...)
		if t.size() > templateBytes {
			c.fail(s, place, "with what it includes it is more than %d bytes", templateBytes)
			t = template{}
			break
		}
		place = next
	}
	c.within = c.within[:len(c.within)-1]
	c.compiled[name] = t
	return t
}

// next returns the pieces that begin at a place of s, up to the end of its line at most, and the
// place after them.
func (c *compiler) next(s source, place int) ([]piece, int) {
	line, _, more := strings.Cut(s.text[place:], "\n")
	if name := includeLine(line); name != "" && (place == 0 || s.text[place-1] == '\n') {
		return c.include(s, place, name), place + len(line)
	}
	at := strings.Index(line, "{{")
	switch {
	case at < 0 && more:
		return []piece{{text: line + "\n"}}, place + len(line) + 1
	case at < 0:
		return []piece{{text: line}}, len(s.text)
	case at > 0 && line[at-1] == '\\':
		return []piece{{text: line[:at-1] + "{{"}}, place + at + 2
	case at > 0:
		return []piece{{text: line[:at]}}, place + at
	}
	words, _, closed := strings.Cut(line[2:], "}}")
	if !closed {
		c.fail(s, place, `{{ has no }} in its line; \{{ stands for two braces`)
		return nil, place + 2
	}
	return c.fill(s, place, strings.TrimSpace(words)), place + len("{{}}") + len(words)
}

// fill returns the pieces for the words between two pairs of braces at a place of s.
func (c *compiler) fill(s source, place int, words string) []piece {
	kind, name, _ := strings.Cut(words, ":")
	name = strings.TrimSpace(name)
	switch {
	case kind == "include":
		return c.include(s, place, name)
	case kind == "tool" && name != "":
		return []piece{{tool: name}}
	case kind == "file" && slices.Contains(Roles(), name):
		return []piece{{variable: "file:" + name}}
	case kind == "file":
		c.fail(s, place, "{{%s}} is no file of a home; there are %s", words, strings.Join(Roles(), ", "))
	case slices.Contains(variableNames(), words):
		return []piece{{variable: words}}
	default:
		c.fail(s, place, "{{%s}} is no variable; there are %s, include:, file: and tool:", words, strings.Join(variableNames(), ", "))
	}
	return nil
}

// include returns the pieces of the named source.
func (c *compiler) include(s source, place int, name string) []piece {
	if _, known := c.sources[name]; !known {
		c.fail(s, place, "there is no text %q to include", name)
		return nil
	}
	if from := slices.Index(c.within, name); from >= 0 {
		c.fail(s, place, "it includes itself: %s", strings.Join(append(slices.Clone(c.within[from:]), name), " -> "))
		return nil
	}
	return c.compile(name).pieces
}

func (c *compiler) fail(s source, place int, format string, args ...any) {
	before := s.text[:place]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	c.faults = append(c.faults, Fault{File: s.file, Line: s.line + strings.Count(before, "\n"),
		Column: utf8.RuneCountInString(line) + 1, Message: fmt.Sprintf(format, args...)})
}

func (t template) size() int {
	size := 0
	for _, p := range t.pieces {
		size += len(p.text) + len(p.variable) + len(p.tool) + 1
	}
	return size
}

// fill returns the text with the values in it. offered has the offered tools.
func (t template) fill(values map[string]string, offered map[string]bool) string {
	var all, line strings.Builder
	variable, value, missing := false, false, false // whether the line has a variable, a value, a missing tool
	end := func(newline string) {
		if !missing && (value || !variable) {
			all.WriteString(line.String() + newline)
		}
		line.Reset()
		variable, value, missing = false, false, false
	}
	for _, p := range t.pieces {
		switch {
		case p.variable != "":
			line.WriteString(values[p.variable])
			variable, value = true, value || values[p.variable] != ""
		case p.tool != "":
			line.WriteString("=" + p.tool + "=")
			missing = missing || !offered[p.tool]
		}
		for part := range strings.SplitAfterSeq(p.text, "\n") {
			part, ended := strings.CutSuffix(part, "\n")
			line.WriteString(part)
			if ended {
				end("\n")
			}
		}
	}
	end("")
	return all.String()
}
