package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"org-agent/kernel/llm/llmtest"
)

// roundCalls is how many calls a turn has, and roundTurns how many turns of each kind are measured.
const (
	roundCalls = 5
	roundTurns = 60
)

// The times that models think. The processors stay awake during the first, and go to sleep during the
// second.
const (
	quickModel = time.Millisecond
	slowModel  = 20 * time.Millisecond
)

// measureRounds measures what a call of a tool adds to a turn: another request, its reply, the verdicts,
// the tool and the journal, without the time of the model's server. For this it compares turns in which
// the model calls a tool that does next to nothing with turns in which it answers immediately. The turns
// are the second turns of new conversations, or those of a conversation with many such calls, all of which
// the model is shown.
func measureRounds(ctx context.Context, p programs) ([]row, error) {
	in, err := newInstance(roundExchanges()...)
	if err != nil {
		return nil, err
	}
	defer in.close()
	if err := in.addPromptSkill("nothing", "Is found by round-0 round-1 round-2 round-3 round-4"); err != nil {
		return nil, err
	}
	k, err := in.start(ctx, p.kernel)
	if err != nil {
		return nil, err
	}
	inNewConversations := func(kind string) ([]float64, error) {
		var values []float64
		for i := range roundTurns {
			turns, err := in.converse(ctx, fmt.Sprintf("%s %d", kind, i), 2)
			if err != nil {
				return nil, err
			}
			values = append(values, kernelTimes(turns)...)
		}
		return values, nil
	}
	inOneConversation := func(kind string) ([]float64, error) {
		turns, err := in.converse(ctx, kind, roundTurns)
		return kernelTimes(turns), err
	}
	what := "a call of a tool that does nothing, beyond the model"
	rows := []row{{what: what, target: "1 ms", unit: seconds},
		{what: fmt.Sprintf("the same, after up to %d such calls in the conversation", roundCalls*(roundTurns-1)), unit: seconds},
		{what: fmt.Sprintf("the same in a new one, the model thinking %s, in which processors go to sleep", slowModel), unit: seconds}}
	for i, kind := range []struct {
		pace  string
		turns func(kind string) ([]float64, error)
	}{{"quick", inNewConversations}, {"quick", inOneConversation}, {"slow", inNewConversations}} {
		if rows[i].values, err = timePerCall(kind.pace, kind.turns); err != nil {
			break
		}
	}
	return rows, errors.Join(err, k.stop())
}

// roundExchanges returns the exchanges of all turns of measureRounds, in their order. The messages of
// turns in which the model answers immediately begin with "quick plain" or "slow plain".
func roundExchanges() []llmtest.Exchange {
	var plain, calling []llmtest.Exchange
	for _, kind := range []struct {
		pace  string
		model time.Duration
		turns int
	}{{"quick", quickModel, 2*roundTurns + roundTurns}, {"slow", slowModel, 2 * roundTurns}} {
		reply := func(text string) llmtest.Exchange {
			return llmtest.Exchange{Reply: text, FirstDelay: llmtest.Duration(kind.model)}
		}
		answer := reply("Done")
		answer.Match, answer.Times = "^"+kind.pace+" plain", -1
		plain = append(plain, answer)
		for range kind.turns {
			for i := range roundCalls { // all differ, because the kernel detects repeated calls
				calling = append(calling, reply(fmt.Sprintf(`(:type :request :target :tool :action :call :tool "list_skills" :args (:query "round-%d"))`, i)))
			}
			calling = append(calling, reply("Done"))
		}
	}
	return append(plain, calling...)
}

// timePerCall runs turns without calls and turns with calls. It returns the time of a call in each turn
// with calls.
func timePerCall(pace string, turns func(kind string) ([]float64, error)) ([]float64, error) {
	without, err := turns(pace + " plain")
	if err != nil {
		return nil, err
	}
	with, err := turns(pace + " calling")
	if err != nil {
		return nil, err
	}
	plain := quantile(without, 0.5)
	for i := range with {
		with[i] = (with[i] - plain) / roundCalls
	}
	return with, nil
}
