package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// unit is the unit of a row's values: seconds, bytes, or bytes per second.
type unit int

const (
	seconds unit = iota
	size
	rate
)

func (u unit) format(v float64) string {
	switch u {
	case size:
		if v < 1e6 {
			return fmt.Sprintf("%.1f kB", v/1e3)
		}
		return fmt.Sprintf("%.0f MB", v/1e6)
	case rate:
		return fmt.Sprintf("%.0f MB/s", v/1e6)
	}
	d := time.Duration(v * float64(time.Second))
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.2f s", v)
	case d >= 100*time.Millisecond:
		return fmt.Sprintf("%.0f ms", v*1e3)
	case d >= time.Millisecond:
		return fmt.Sprintf("%.1f ms", v*1e3)
	}
	return fmt.Sprintf("%.1f µs", v*1e6)
}

// row is a measured target.
type row struct {
	what   string
	target string // "" for none
	unit   unit
	values []float64 // at least one
	peers  []peer
}

// peer is another program with which a row is compared.
type peer struct {
	name      string
	values    []float64 // at least one
	reference bool      // the values were measured earlier on another machine
}

// quantile returns the value below which the fraction q of the values lies.
func quantile(values []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

// median returns the median. For an even number of values it is the mean of the two in the middle.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// compare formats a peer's median, and our median divided by it.
func (r row) compare(p peer) string {
	ours, theirs := median(r.values), median(p.values)
	note := ""
	if p.reference {
		note = " (reference, not run here)"
	}
	return fmt.Sprintf("%s %s%s: ×%.2g", p.name, r.unit.format(theirs), note, ours/theirs)
}

// printTable prints the rows as an Org table.
func printTable(w io.Writer, rows []row) {
	lines := [][]string{{"what", "target", "min", "median", "max", "n", "peer: ours ÷ theirs"}}
	for _, r := range rows {
		var peers []string
		for _, p := range r.peers {
			peers = append(peers, r.compare(p))
		}
		lines = append(lines, []string{r.what, r.target, r.unit.format(slices.Min(r.values)), r.unit.format(median(r.values)),
			r.unit.format(slices.Max(r.values)), fmt.Sprint(len(r.values)), strings.Join(peers, "; ")})
	}
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for i, line := range lines {
		for j, cell := range line {
			fmt.Fprint(w, "| ", cell, strings.Repeat(" ", widths[j]-utf8.RuneCountInString(cell)+1))
		}
		fmt.Fprintln(w, "|")
		if i == 0 {
			var rules []string
			for _, width := range widths {
				rules = append(rules, strings.Repeat("-", width+2))
			}
			fmt.Fprintf(w, "|%s|\n", strings.Join(rules, "+"))
		}
	}
}
