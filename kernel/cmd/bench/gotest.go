package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// benchmarkCount is how often each Benchmark function runs.
const benchmarkCount = 5

// benchmarked is what a Benchmark function measured, a value for each run.
type benchmarked struct {
	times []float64 // seconds for one operation
	rates []float64 // bytes per second, where the function says its bytes
	p95   []float64 // seconds, where the function tells the 95th of a hundred
}

// runBenchmark runs the benchmarks of a package that match the pattern, each for
// the given time or number ("1s", "3x"). The result's keys are their names
// without "Benchmark" and the number of processors. It is an error if there is
// none. The flags are the package's own, or another "-count".
func runBenchmark(ctx context.Context, p programs, room, pattern, time string, flags ...string) (map[string]benchmarked, error) {
	arguments := append([]string{"test", "-run", "^$", "-bench", "^Benchmark" + pattern, "-benchtime", time,
		"-count", strconv.Itoa(benchmarkCount), "./kernel/" + room}, flags...)
	printed, err := output(ctx, p.golang, arguments...)
	if err != nil {
		return nil, err
	}
	results := make(map[string]benchmarked)
	for line := range strings.Lines(printed) {
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name := strings.TrimPrefix(fields[0], "Benchmark")
		if dash := strings.LastIndex(name, "-"); dash > 0 {
			name = name[:dash]
		}
		name, _, _ = strings.Cut(name, "#") // what one function runs under one name is numbered
		result := results[name]
		for i := 2; i+1 < len(fields); i += 2 {
			value, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return nil, fmt.Errorf("read the line %q: %w", line, err)
			}
			switch fields[i+1] {
			case "ns/op":
				result.times = append(result.times, value/1e9)
			case "MB/s":
				result.rates = append(result.rates, value*1e6)
			case "p95-ms":
				result.p95 = append(result.p95, value/1e3)
			}
		}
		results[name] = result
	}
	if len(results) == 0 {
		return nil, fmt.Errorf("kernel/%s has no benchmark like %s", room, pattern)
	}
	return results, nil
}
