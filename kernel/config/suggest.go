package config

import (
	"slices"
	"strings"

	"org-agent/kernel/suggest"
)

// nearestKey returns the most similar key of the table.
func nearestKey(table []property, key string) string {
	var keys []string
	for _, row := range table {
		keys = append(keys, row.key)
	}
	return mostSimilar(keys, key)
}

// mostSimilar returns the name that is most similar to the given one, or "". A name that contains
// it comes first: BASE_URL for URL.
func mostSimilar(names []string, name string) string {
	if len(names) == 0 {
		return ""
	}
	rate := func(candidate string) int {
		if strings.Contains(candidate, name) {
			return 0
		}
		return suggest.Distance(candidate, name)
	}
	return slices.MinFunc(names, func(a, b string) int { return rate(a) - rate(b) })
}
