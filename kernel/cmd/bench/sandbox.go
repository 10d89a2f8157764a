package main

import "context"

// measureSandbox runs a command that does nothing, in a new sandbox and without one.
func measureSandbox(ctx context.Context, p programs) ([]row, error) {
	results, err := runBenchmark(ctx, p, "sandbox", "(True|Plain)$", "40x")
	if err != nil {
		return nil, err
	}
	return []row{{what: "a command that does nothing, in a sandbox", target: "25 ms", unit: seconds, values: results["True"].times,
		peers: []peer{{name: "bash without one", values: results["Plain"].times}}}}, nil
}
