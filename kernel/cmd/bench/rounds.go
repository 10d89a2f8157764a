package main

import (
	"context"
	"errors"
	"time"

	"org-agent/kernel/llm/llmtest"
)

// measureRounds has turns in which the model calls a tool that has next to nothing to do, and
// turns in which it answers at once. What counts is what a call adds, less the time for which the
// model was told to think: a request more, its reply, the verdicts, the tool and the journal.
func measureRounds(ctx context.Context, p programs) ([]row, error) {
	const (
		calls = 5
		n     = 40 // turns of each kind, the first not counted
		model = 20 * time.Millisecond
	)
	reply := func(text string) llmtest.Exchange {
		return llmtest.Exchange{Reply: text, FirstDelay: llmtest.Duration(model)}
	}
	plain := reply(envelope("Done"))
	plain.Match, plain.Times = "^plain", -1
	exchanges := []llmtest.Exchange{plain}
	for range n {
		for range calls {
			exchanges = append(exchanges, reply(`(:type :request :target :tool :action :call :tool "list_sessions")`))
		}
		exchanges = append(exchanges, reply(envelope("Done")))
	}
	in, err := newInstance(exchanges...)
	if err != nil {
		return nil, err
	}
	defer in.close()
	k, err := in.start(ctx, p.kernel)
	if err != nil {
		return nil, err
	}
	without, err := in.converse(ctx, "plain", n, model)
	var with []float64
	if err == nil {
		with, err = in.converse(ctx, "calling", n, (calls+1)*model)
	}
	if err := errors.Join(err, k.end()); err != nil {
		return nil, err
	}
	once := quantile(without, 0.5)
	rounds := make([]float64, len(with))
	for i, took := range with {
		rounds[i] = (took - once) / calls
	}
	return []row{{what: "a call of a tool that does nothing, beyond the model", target: "1 ms", unit: seconds, values: rounds}}, nil
}
