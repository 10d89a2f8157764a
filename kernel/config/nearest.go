package config

import (
	"slices"
	"strings"

	"org-agent/kernel/suggest"
)

// nearestKey is the key of the table that is most like key.
func nearestKey(table []property, key string) string {
	var keys []string
	for _, row := range table {
		keys = append(keys, row.key)
	}
	return mostLike(keys, key)
}

// mostLike is the name most like the one given, "" if there is none. One that
// holds it whole is nearest of all: URL is BASE_URL.
func mostLike(names []string, name string) string {
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
