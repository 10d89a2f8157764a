package main

import (
	"context"
	"fmt"
)

// measurePrompt measures how the kernel's packages compose the complete prompt of a model.
func measurePrompt(ctx context.Context, p programs) ([]row, error) {
	results, err := runBenchmark(ctx, p, "agent", "Prompt$", "100x")
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, r := range []struct{ name, what, target string }{
		{"composed", "a prompt of 100 skills, 50 tools and 200 turns", "2 ms"},
		{"later", "the same, with the choice among 100 notes and what is recalled", ""},
		{"first", "the same when nothing of the conversation was read before", ""},
	} {
		result := results["Prompt/"+r.name]
		if len(result.times) == 0 {
			return nil, fmt.Errorf("kernel/agent did not report %s", r.name)
		}
		rows = append(rows, row{what: r.what, target: r.target, values: result.times})
	}
	return rows, nil
}
