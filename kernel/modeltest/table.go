package modeltest

import (
	"fmt"
	"slices"
	"strings"
)

// Tally is what a dialect did.
type Tally struct {
	Dialect string `json:"dialect"`
	Passed  int    `json:"passed"`
	Done    int    `json:"done"`   // tasks, also those without an answer
	Faults  int    `json:"faults"` // tasks without an answer of the server
	// Whole is true if everything was done that was to be done.
	Whole bool `json:"whole"`
	Measured
	kinds map[string][2]int // passed and done, by kind
}

// Tallies counts results by dialect. expected is how many there would be of each.
func Tallies(results []Result, dialects []string, expected int) (all []Tally) {
	for _, dialect := range dialects {
		t := Tally{Dialect: dialect, kinds: map[string][2]int{}}
		for _, r := range results {
			if r.Dialect != dialect {
				continue
			}
			t.Measured.add(r.Measured, t.Done == 0)
			t.Done++
			kind := t.kinds[r.Kind]
			kind[1]++
			if r.Passed {
				t.Passed++
				kind[0]++
			}
			if r.Fault {
				t.Faults++
			}
			t.kinds[r.Kind] = kind
		}
		t.Whole = t.Done == expected
		all = append(all, t)
	}
	return all
}

// Table returns an Org table with a column for each dialect. kinds are the kinds of tasks in their order. Of
// a dialect that was not tried, and of a cost that is not known, nothing is shown.
func Table(tallies []Tally, kinds []string) string {
	rows := [][]string{{"tasks that passed"}, nil}
	for _, kind := range kinds {
		rows = append(rows, []string{kind})
	}
	rows = append(rows, nil, []string{"all"}, []string{"without an answer of the server"}, nil, []string{"tokens in"}, []string{"tokens out"}, []string{"seconds"}, []string{"dollars"})
	for _, t := range tallies {
		rows[0] = append(rows[0], t.Dialect)
		cells := make([]string, 0, len(rows))
		for _, kind := range kinds {
			cells = append(cells, share(t.kinds[kind][0], t.kinds[kind][1]))
		}
		cells = append(cells, share(t.Passed, t.Done), number(t.Done > 0, t.Faults), number(t.Done > 0, t.Input), number(t.Done > 0, t.Output))
		seconds, cost := "", ""
		if t.Done > 0 {
			seconds = fmt.Sprintf("%.1f", t.Seconds)
		}
		if t.Cost != nil {
			cost = fmt.Sprintf("%.4f", *t.Cost)
		}
		cells = append(cells, seconds, cost)
		at := 0
		for i := 1; i < len(rows); i++ {
			if rows[i] != nil {
				rows[i] = append(rows[i], cells[at])
				at++
			}
		}
	}
	return align(rows)
}

func share(passed, done int) string {
	if done == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", passed, done)
}

func number(known bool, n int) string {
	if !known {
		return ""
	}
	return fmt.Sprint(n)
}

// align returns rows as Org aligns them: text to the left, the columns of numbers to the right. A nil row is
// a rule.
func align(rows [][]string) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		if row == nil {
			for i, width := range widths {
				b.WriteString([]string{"|", "+"}[min(i, 1)] + strings.Repeat("-", width+2))
			}
			b.WriteString("|\n")
			continue
		}
		for i, cell := range row {
			blanks := strings.Repeat(" ", widths[i]-len(cell))
			if i == 0 {
				fmt.Fprintf(&b, "| %s%s ", cell, blanks)
			} else {
				fmt.Fprintf(&b, "| %s%s ", blanks, cell)
			}
		}
		b.WriteString("|\n")
	}
	return b.String()
}

// Recommendation is which dialect a model should be asked in.
type Recommendation struct {
	Dialect string `json:"dialect,omitempty"` // "" for none
	Text    string `json:"text"`              // one sentence
}

// Recommend compares the dialects that were tried. Where two did equally well, the one that was shown and
// wrote fewer tokens is better.
func Recommend(tallies []Tally) Recommendation {
	var tried []Tally
	for _, t := range tallies {
		if t.Whole && t.Faults*10 <= t.Done { // the others tell more of the server than of the model
			tried = append(tried, t)
		}
	}
	if len(tried) == 0 {
		return Recommendation{Text: "No dialect is recommended, because in none all tasks were done."}
	}
	slices.SortStableFunc(tried, func(a, b Tally) int {
		if a.Passed != b.Passed {
			return b.Passed - a.Passed
		}
		return a.Input + a.Output - b.Input - b.Output
	})
	best := tried[0]
	switch {
	case best.Passed == 0:
		return Recommendation{Text: "No dialect is recommended, because the model did no task in any: use another model."}
	case len(tried) == 1:
		return Recommendation{Dialect: best.Dialect, Text: fmt.Sprintf("In %s it did %d of %d tasks; no other dialect was done whole.", best.Dialect, best.Passed, best.Done)}
	}
	var others []string
	for _, t := range tried[1:] {
		other := fmt.Sprintf("%d in %s", t.Passed, t.Dialect)
		if t.Passed == best.Passed {
			other += " with more tokens"
		}
		others = append(others, other)
	}
	text := fmt.Sprintf("Use %s: it did %d of %d tasks in it, and %s", best.Dialect, best.Passed, best.Done, strings.Join(others, " and "))
	if less := best.Passed - tried[len(tried)-1].Passed; less > 0 && less*20 < best.Done { // a task in forty
		text += ", which may be chance"
	}
	if best.Passed*2 < best.Done {
		text += "; it is too weak to be left alone with tools"
	}
	return Recommendation{Dialect: best.Dialect, Text: text + "."}
}
