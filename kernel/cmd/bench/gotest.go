package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// benchmarkCount is how often each Benchmark function runs.
const benchmarkCount = 5

// benchmarkResult holds the values of a Benchmark function, one for each run.
type benchmarkResult struct {
	times []float64 // seconds for one operation
	rates []float64 // bytes per second, if the function sets its bytes
	p95   []float64 // seconds, if the function reports the 95th percentile
}

// runBenchmark runs the benchmarks below kernel/ in this directory that match the pattern. benchtime is
// the flag of "go test", such as "1s" or "3x". flags are flags of the package's tests, or another
// "-count". The keys of the result are the names without "Benchmark" and the number of processors. It
// returns an error if no benchmark matches.
func runBenchmark(ctx context.Context, p programs, directory, pattern, benchtime string, flags ...string) (map[string]benchmarkResult, error) {
	arguments := append([]string{"test", "-run", "^$", "-bench", "^Benchmark" + pattern, "-benchtime", benchtime,
		"-count", strconv.Itoa(benchmarkCount), "./kernel/" + directory}, flags...)
	printed, err := runProgram(ctx, p.golang, arguments...)
	if err != nil {
		return nil, err
	}
	results := make(map[string]benchmarkResult)
	for line := range strings.Lines(printed) {
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name := strings.TrimPrefix(fields[0], "Benchmark")
		if dash := strings.LastIndex(name, "-"); dash > 0 {
			name = name[:dash]
		}
		name, _, _ = strings.Cut(name, "#") // "go test" numbers sub-benchmarks with the same name
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
		return nil, fmt.Errorf("kernel/%s has no benchmark like %s", directory, pattern)
	}
	return results, nil
}
