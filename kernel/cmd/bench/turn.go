package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/plist"
)

const (
	conversations = 200
	turns         = 4
	// thinking is how long the model takes before it says anything: so long are
	// all conversations in a turn at once.
	thinking = 5 * time.Second
)

// envelope is the proposal that inserts text, as a model writes it.
func envelope(text string) string {
	return `(:type :request :target :emacs :action :insert-at-end :buffer "*org-agent-chat*" :text ` + plist.Print(plist.String(text)) + `)`
}

// measureTurns has many conversations at once, each turn after turn. What counts
// is the time from when a client sends its event to when the act reaches it, less
// the time for which the model was told to think: the way over both sockets, the
// reply's stream and this process's share of the processors are in it.
func measureTurns(ctx context.Context, p programs) ([]row, error) {
	answer := "Two of them\n\n" + strings.Repeat("Both are from *April*, and `silk-road` says **more** of it. ", 10)
	in, err := newInstance(
		llmtest.Exchange{Match: "^alone", Times: -1, Reply: envelope(answer), FirstDelay: llmtest.Duration(20 * time.Millisecond)},
		llmtest.Exchange{Times: -1, Reply: envelope(answer), FirstDelay: llmtest.Duration(thinking)})
	if err != nil {
		return nil, err
	}
	defer in.close()
	k, err := in.start(ctx, p.kernel)
	if err != nil {
		return nil, err
	}
	alone, err := in.converse(ctx, "alone", 100)
	var together []float64
	if err == nil {
		together, err = in.converseTogether(ctx)
	}
	if err := errors.Join(err, k.end()); err != nil {
		return nil, err
	}
	together99 := []float64{quantile(together, 0.99)}
	return []row{
		{what: "kernel's own time in a turn, one conversation", unit: seconds, values: own(alone)},
		{what: fmt.Sprintf("the same, %d conversations at once", conversations), target: "p50 2 ms", unit: seconds, values: together},
		{what: "p99 of these", target: "10 ms", unit: seconds, values: together99},
	}, nil
}

// turnTime is how long a turn took until its act was there, and what the model's server took of
// that, which is known of one conversation alone: reading a long request is its work.
type turnTime struct{ took, model time.Duration }

// own is what the kernel took of turns of one conversation alone.
func own(turns []turnTime) []float64 {
	values := make([]float64, len(turns))
	for i, t := range turns {
		values[i] = (t.took - t.model).Seconds()
	}
	return values
}

// converse has n turns in a session, and tells of all but the first.
func (in *instance) converse(ctx context.Context, session string, n int) ([]turnTime, error) {
	c, err := in.connect(ctx, session, true)
	if err != nil {
		return nil, err
	}
	defer c.conn.Close()
	var times []turnTime
	for i := range n {
		before := in.model.Took()
		took, err := c.ask(ctx, fmt.Sprintf("%s: which notes mention Samarkand? (%d)", session, i))
		if err != nil {
			return nil, err
		}
		if i > 0 {
			times = append(times, turnTime{took, in.model.Took() - before})
		}
	}
	return times, nil
}

// converseTogether has all conversations at once. They begin spread over the
// time in which the model thinks, as people do.
func (in *instance) converseTogether(ctx context.Context) ([]float64, error) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	times, errs := make([][]turnTime, conversations), make([]error, conversations)
	var talking sync.WaitGroup
	for i := range conversations {
		talking.Go(func() {
			time.Sleep(thinking * time.Duration(i) / conversations)
			times[i], errs[i] = in.converse(ctx, fmt.Sprintf("conversation %d", i), turns)
		})
	}
	talking.Wait()
	var all []float64
	for _, of := range times {
		for _, t := range of {
			all = append(all, (t.took - thinking).Seconds())
		}
	}
	return all, errors.Join(errs...)
}
