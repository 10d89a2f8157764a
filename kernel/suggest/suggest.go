// Package suggest finds the name that a misspelt one was probably meant to be. It has no state and
// never blocks. It reads only 64 characters of each name.
package suggest

import (
	"fmt"
	"strings"
)

// nameLimit is how many characters of a name are compared.
const nameLimit = 64

// Of returns the candidate that is most similar to name, the first of equals, or "" if none is
// similar. A candidate is most similar to itself. If a third or more of the characters differ, an
// abbreviation is preferred: cmd means command rather than cwd. A name that is similar to none may
// begin with a candidate: old-string means old.
func Of(name string, candidates []string) string {
	length := min(len(name), nameLimit)
	best, least := "", length/3+2
	for _, candidate := range candidates {
		if d := Distance(name, candidate); d < least {
			best, least = candidate, d
		}
	}
	if best != "" && 3*least < length || least == 0 {
		return best
	}
	short, part := "", ""
	for _, candidate := range candidates {
		if abbreviates(name, candidate) && (short == "" || len(candidate) < len(short)) {
			short = candidate
		}
		if len(candidate) > max(len(part), 2) && (strings.HasPrefix(name, candidate) || strings.HasSuffix(name, candidate)) {
			part = candidate
		}
	}
	switch {
	case short != "":
		return short
	case best != "":
		return best
	}
	return part
}

// Question returns the end of a message about a misspelt name, such as `; did you mean "edit"?`.
// near is the result of [Of], and format says how names are written, such as %q. Question returns
// "" if near is empty.
func Question(near, format string) string {
	if near == "" {
		return ""
	}
	return "; did you mean " + fmt.Sprintf(format, near) + "?"
}

// abbreviates reports whether short consists of two or more characters of whole in their order,
// with the first of whole among them.
func abbreviates(short, whole string) bool {
	from, of := []rune(short), []rune(whole)
	from, of = from[:min(len(from), nameLimit)], of[:min(len(of), nameLimit)]
	if len(from) < 2 || len(from) >= len(of) || from[0] != of[0] {
		return false
	}
	for _, c := range of {
		if len(from) > 0 && from[0] == c {
			from = from[1:]
		}
	}
	return len(from) == 0
}

// Distance returns how many characters must be inserted, removed or replaced to turn a into b.
func Distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	from, to = from[:min(len(from), nameLimit)], to[:min(len(to), nameLimit)]
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range to {
			replaced := diagonal
			if x != y {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}
