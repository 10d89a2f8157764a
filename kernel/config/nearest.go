package config

import (
	"slices"
	"strings"
)

// nearestKey is the key of the table that is most like key.
func nearestKey(table []property, key string) string {
	var keys []string
	for _, row := range table {
		keys = append(keys, row.key)
	}
	return nearest(keys, key)
}

// nearest is the name most like the one given, "" if there is none. One that
// holds it whole is nearest of all: URL is BASE_URL.
func nearest(names []string, name string) string {
	if len(names) == 0 {
		return ""
	}
	rate := func(candidate string) int {
		if strings.Contains(candidate, name) {
			return 0
		}
		return distance(candidate, name)
	}
	return slices.MinFunc(names, func(a, b string) int { return rate(a) - rate(b) })
}

// nameLimit is the number of letters that distance looks at.
const nameLimit = 64

// distance is the number of letters to insert, remove or replace to make a
// into b (Levenshtein).
func distance(a, b string) int {
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
