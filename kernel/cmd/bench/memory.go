package main

import (
	"context"
	"fmt"
)

// measureMemory indexes 100 MB of Org with an empty index. It does this only once, because it takes long.
// Then it indexes an edited file and searches.
func measureMemory(ctx context.Context, p programs) ([]row, error) {
	results, err := runBenchmark(ctx, p, "memory", "Index$", "1x", "-count", "1")
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, r := range []struct{ name, what, target string }{
		{"all", "100 MB of notes indexed, from nothing", "20 s"},
		{"edited", "a note among 100 MB, edited, until it is found", "50 ms"},
		{"search", "a search for two words, of which one is enough, in 100 MB of notes", "50 ms"},
	} {
		result := results["Index/"+r.name]
		if len(result.times) == 0 {
			return nil, fmt.Errorf("kernel/memory did not report %s", r.name)
		}
		rows = append(rows, row{what: r.what, target: r.target, values: result.times})
	}
	return rows, nil
}
