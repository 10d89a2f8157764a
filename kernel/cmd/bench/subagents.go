package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"org-agent/kernel/llm/llmtest"
)

// measureSubagents measures turns that start four subagents in parallel, four in sequence, and one. Each
// model thinks for the same time. Four in parallel should take this time only once.
func measureSubagents(ctx context.Context, p programs) ([]row, error) {
	const (
		n          = 20 // turns of each kind, of which the first does not count
		modelDelay = 20 * time.Millisecond
	)
	task := `(:tool "start_subagent" :args (:task "part"))`
	one := "(:type :request :target :tool :action :call " + task[1:]
	batch := "(:type :request :target :tool :action :batch :calls (" + strings.Repeat(task, 4) + "))"
	four, err := subagentTurns(ctx, p, n, modelDelay, batch)
	if err != nil {
		return nil, err
	}
	sequence, err := subagentTurns(ctx, p, n, modelDelay, one, one, one, one)
	if err != nil {
		return nil, err
	}
	alone, err := subagentTurns(ctx, p, n, modelDelay, one)
	if err != nil {
		return nil, err
	}
	return []row{{what: "4 subagents of scripted models in parallel", unit: seconds, values: four, peers: []peer{
		{name: "4 in sequence", values: sequence}, {name: "one alone", values: alone}}}}, nil
}

// subagentTurns runs n turns in which the model gives these replies, and returns the seconds of all but
// the first.
func subagentTurns(ctx context.Context, p programs, n int, modelDelay time.Duration, replies ...string) (values []float64, err error) {
	reply := func(text string) llmtest.Exchange {
		return llmtest.Exchange{Reply: text, FirstDelay: llmtest.Duration(modelDelay)}
	}
	part := reply("Done")
	part.Match, part.Times = "^part", -1
	exchanges := []llmtest.Exchange{part}
	for range n {
		for _, text := range replies {
			exchanges = append(exchanges, reply(text))
		}
		exchanges = append(exchanges, reply("Done"))
	}
	in, err := newInstance(exchanges...)
	if err != nil {
		return nil, err
	}
	defer in.close()
	rule := "* Rules\n| rule | matches | verdict | why | since |\n| tool start_subagent | | allow | | |\n"
	if err := os.MkdirAll(in.paths.Home, 0o755); err != nil {
		return nil, fmt.Errorf("make the home: %w", err)
	}
	if err := os.WriteFile(filepath.Join(in.paths.Home, "policy.org"), []byte(rule), 0o644); err != nil {
		return nil, fmt.Errorf("write the rules: %w", err)
	}
	k, err := in.start(ctx, p.kernel)
	if err != nil {
		return nil, err
	}
	times, err := in.converse(ctx, "handing on", n)
	for _, t := range times {
		values = append(values, t.total.Seconds())
	}
	return values, errors.Join(err, k.stop())
}
