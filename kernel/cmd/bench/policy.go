package main

import "context"

// measurePolicy judges a pipeline of ten commands with ten rules.
func measurePolicy(ctx context.Context, p programs) ([]row, error) {
	results, err := runBenchmark(ctx, p, "policy", "Verdict$", "1s")
	if err != nil {
		return nil, err
	}
	return []row{{what: "verdict on a pipeline of ten commands", target: "50 µs", unit: seconds, values: results["Verdict"].times}}, nil
}
