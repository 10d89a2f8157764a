package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"org-agent/kernel/llm/llmtest"
)

// What measureRounds has in a turn, and how many turns of each kind.
const (
	roundCalls = 5
	roundTurns = 60
)

// Models think so long: one while the kernel's processors stay awake, one while they go to sleep.
const (
	quickModel = time.Millisecond
	slowModel  = 20 * time.Millisecond
)

// measureRounds has turns in which the model calls a tool that does next to nothing, and turns
// in which it answers at once. What counts is what a call adds, less the time that the model's
// server took: a request more, its reply, the verdicts, the tool and the journal. A turn is the
// second of its conversation, or one of a conversation that has had many such calls, all of which
// the model is shown.
func measureRounds(ctx context.Context, p programs) ([]row, error) {
	in, err := newInstance(roundExchanges()...)
	if err != nil {
		return nil, err
	}
	defer in.close()
	if err := in.addSkill("nothing", "Is found by round-0 round-1 round-2 round-3 round-4"); err != nil {
		return nil, err
	}
	k, err := in.start(ctx, p.kernel)
	if err != nil {
		return nil, err
	}
	fresh := func(kind string) ([]float64, error) {
		var values []float64
		for i := range roundTurns {
			turns, err := in.converse(ctx, fmt.Sprintf("%s %d", kind, i), 2)
			if err != nil {
				return nil, err
			}
			values = append(values, own(turns)...)
		}
		return values, nil
	}
	long := func(kind string) ([]float64, error) {
		turns, err := in.converse(ctx, kind, roundTurns)
		return own(turns), err
	}
	what := "a call of a tool that does nothing, beyond the model"
	rows := []row{{what: what, target: "1 ms", unit: seconds},
		{what: fmt.Sprintf("the same, after up to %d such calls in the conversation", roundCalls*(roundTurns-1)), unit: seconds},
		{what: fmt.Sprintf("the same in a new one, the model thinking %s, in which processors go to sleep", slowModel), unit: seconds}}
	for i, of := range []struct {
		pace  string
		turns func(kind string) ([]float64, error)
	}{{"quick", fresh}, {"quick", long}, {"slow", fresh}} {
		if rows[i].values, err = perCall(of.pace, of.turns); err != nil {
			break
		}
	}
	return rows, errors.Join(err, k.end())
}

// roundExchanges are those of all turns that measureRounds has, in their order; a turn in which
// the model answers at once begins with "quick plain" or "slow plain".
func roundExchanges() []llmtest.Exchange {
	var plain, calling []llmtest.Exchange
	for _, of := range []struct {
		pace  string
		model time.Duration
		turns int
	}{{"quick", quickModel, 2*roundTurns + roundTurns}, {"slow", slowModel, 2 * roundTurns}} {
		reply := func(text string) llmtest.Exchange {
			return llmtest.Exchange{Reply: text, FirstDelay: llmtest.Duration(of.model)}
		}
		atOnce := reply(envelope("Done"))
		atOnce.Match, atOnce.Times = "^"+of.pace+" plain", -1
		plain = append(plain, atOnce)
		for range of.turns {
			for i := range roundCalls { // each another, lest it be taken for a circle
				calling = append(calling, reply(fmt.Sprintf(`(:type :request :target :tool :action :call :tool "list_skills" :args (:query "round-%d"))`, i)))
			}
			calling = append(calling, reply(envelope("Done")))
		}
	}
	return append(plain, calling...)
}

// perCall has turns without calls and turns with them, and returns what a call takes in each of
// those with calls.
func perCall(pace string, turns func(kind string) ([]float64, error)) ([]float64, error) {
	without, err := turns(pace + " plain")
	if err != nil {
		return nil, err
	}
	with, err := turns(pace + " calling")
	if err != nil {
		return nil, err
	}
	once := quantile(without, 0.5)
	for i := range with {
		with[i] = (with[i] - once) / roundCalls
	}
	return with, nil
}
