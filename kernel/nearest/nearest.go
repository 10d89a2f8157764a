// Package nearest finds the name that a misspelt one was probably meant to be. It keeps
// nothing and never blocks; however long the names are, it looks at 64 characters of each.
package nearest

// longest is the number of characters of a name that are looked at.
const longest = 64

// Of returns the candidate that name was probably meant to be, the first of equals; "" if
// none is near. A name that is a candidate is its own nearest.
func Of(name string, candidates []string) string {
	best, least := "", min(len(name), longest)/3+2
	for _, candidate := range candidates {
		if d := Distance(name, candidate); d < least {
			best, least = candidate, d
		}
	}
	return best
}

// Distance is the number of characters to insert, remove or replace to make a into b.
func Distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	from, to = from[:min(len(from), longest)], to[:min(len(to), longest)]
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
