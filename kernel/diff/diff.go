// Package diff compares two texts line by line and writes a unified diff for a person or a model.
// It has no state. Its work is proportional to the texts, up to a bound; beyond the bound
// everything between the first and the last difference counts as replaced.
package diff

import (
	"fmt"
	"strings"
)

// Options say how a diff is written. By default it has no names and three lines of context, and
// lines are counted from 1.
type Options struct {
	// OldName and NewName are in the two lines before the hunks. If both are empty there are no
	// such lines.
	OldName, NewName string
	// First is the number of the first line of both texts; 0 means 1.
	First int
	// Context is how many equal lines stand around a difference; 0 means 3.
	Context int
}

// tableLimit is the maximum number of cells of the table in which the longest common subsequence is
// searched.
const tableLimit = 1 << 21

// Unified returns the unified diff of two texts, or "" if they are equal. A missing line end at the
// end of a text is only mentioned if the texts differ in it.
func Unified(old, new string, o Options) string {
	if old == new {
		return ""
	}
	if o.First == 0 {
		o.First = 1
	}
	if o.Context == 0 {
		o.Context = 3
	}
	a, b := split(old), split(new)
	if len(a) > 0 && len(b) > 0 && !ends(a) && !ends(b) {
		a[len(a)-1] += "\n"
		b[len(b)-1] += "\n"
	}
	var out strings.Builder
	if o.OldName != "" || o.NewName != "" {
		fmt.Fprintf(&out, "--- %s\n+++ %s\n", o.OldName, o.NewName)
	}
	for _, h := range hunks(compare(a, b), o.Context) {
		h.write(&out, o.First)
	}
	return out.String()
}

func split(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	return lines[:len(lines)-btoi(lines[len(lines)-1] == "")]
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func ends(lines []string) bool { return strings.HasSuffix(lines[len(lines)-1], "\n") }

// line is one line of a comparison: ' ' in both texts, '-' in the old one, '+' in the new one. old
// and new count the lines before it.
type line struct {
	sign     byte
	text     string
	old, new int
}

// compare returns all lines of both texts. Common lines occur once.
func compare(a, b []string) []line {
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	c := comparison{}
	for _, text := range a[:head] {
		c.add(' ', text)
	}
	c.middle(a[head:len(a)-tail], b[head:len(b)-tail])
	for _, text := range a[len(a)-tail:] {
		c.add(' ', text)
	}
	return c.lines
}

type comparison struct {
	lines    []line
	old, new int
}

func (c *comparison) add(sign byte, text string) {
	c.lines = append(c.lines, line{sign, text, c.old, c.new})
	c.old += btoi(sign != '+')
	c.new += btoi(sign != '-')
}

// middle compares what remains without the common beginning and end.
func (c *comparison) middle(a, b []string) {
	i, j := 0, 0
	if len(a) > 0 && len(b) > 0 && (len(a)+1)*(len(b)+1) <= tableLimit {
		longest := table(a, b)
		for width := len(b) + 1; i < len(a) && j < len(b); {
			switch {
			case a[i] == b[j]:
				c.add(' ', a[i])
				i++
				j++
			case longest[(i+1)*width+j] >= longest[i*width+j+1]:
				c.add('-', a[i])
				i++
			default:
				c.add('+', b[j])
				j++
			}
		}
	}
	for _, text := range a[i:] {
		c.add('-', text)
	}
	for _, text := range b[j:] {
		c.add('+', text)
	}
}

// table holds for each pair of suffixes how many lines they have in common.
func table(a, b []string) []int32 {
	width := len(b) + 1
	longest := make([]int32, (len(a)+1)*width)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				longest[i*width+j] = longest[(i+1)*width+j+1] + 1
			} else {
				longest[i*width+j] = max(longest[(i+1)*width+j], longest[i*width+j+1])
			}
		}
	}
	return longest
}

type hunk []line

// hunks cuts a comparison into hunks: the differences with their context.
func hunks(lines []line, context int) []hunk {
	var all []hunk
	from, until := -1, 0 // of the open hunk
	for i, l := range lines {
		if l.sign == ' ' {
			continue
		}
		begin := max(0, i-context)
		if from >= 0 && begin > until {
			all = append(all, hunk(lines[from:until]))
			from = -1
		}
		if from < 0 {
			from = begin
		}
		until = min(len(lines), i+1+context)
	}
	if from >= 0 {
		all = append(all, hunk(lines[from:until]))
	}
	return all
}

func (h hunk) write(out *strings.Builder, first int) {
	old, new := 0, 0
	for _, l := range h {
		old += btoi(l.sign != '+')
		new += btoi(l.sign != '-')
	}
	fmt.Fprintf(out, "@@ -%s +%s @@\n", span(h[0].old+first, old), span(h[0].new+first, new))
	for _, l := range h {
		out.WriteByte(l.sign)
		out.WriteString(l.text)
		if !strings.HasSuffix(l.text, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// span returns the position of a hunk in one text. A hunk without lines is behind the line before it.
func span(from, count int) string {
	if count == 0 {
		from--
	}
	if count == 1 {
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d,%d", from, count)
}
