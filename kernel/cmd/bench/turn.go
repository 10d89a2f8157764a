package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"org-agent/kernel/llm/llmtest"
)

const (
	conversations = 200
	turns         = 4
	// turnModelDelay is how long the model waits before its first delta. Meanwhile all conversations are
	// in a turn at the same time.
	turnModelDelay = 5 * time.Second
)

// measureTurns runs many conversations at once, each with several turns. The values are the times from
// sending an event to receiving its act, without the delay of the model. They include both sockets, the
// stream of the reply, and the processor time of this process.
func measureTurns(ctx context.Context, p programs) ([]row, error) {
	answer := "Two of them\n\n" + strings.Repeat("Both are from *April*, and `silk-road` says **more** of it. ", 10)
	in, err := newInstance(
		llmtest.Exchange{Match: "^alone", Times: -1, Reply: answer, FirstDelay: llmtest.Duration(20 * time.Millisecond)},
		llmtest.Exchange{Times: -1, Reply: answer, FirstDelay: llmtest.Duration(turnModelDelay)})
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
	if err := errors.Join(err, k.stop()); err != nil {
		return nil, err
	}
	together99 := []float64{quantile(together, 0.99)}
	return []row{
		{what: "kernel's own time in a turn, one conversation", unit: seconds, values: kernelTimes(alone)},
		{what: fmt.Sprintf("the same, %d conversations at once", conversations), target: "p50 2 ms", unit: seconds, values: together},
		{what: "p99 of these", target: "10 ms", unit: seconds, values: together99},
	}, nil
}

// turnTime is the time from sending an event to receiving its act, and the model server's part of it. The
// part includes the reading of the request, and is known only if one conversation runs at a time.
type turnTime struct{ total, model time.Duration }

// kernelTimes returns the kernel's part of the times, in seconds. Only one conversation may have run at a
// time.
func kernelTimes(turns []turnTime) []float64 {
	values := make([]float64, len(turns))
	for i, t := range turns {
		values[i] = (t.total - t.model).Seconds()
	}
	return values
}

// converse runs n turns in a session, and returns the times of all but the first.
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

// converseTogether runs all conversations at once. Like those of people, they do not begin at the same
// moment, but spread over the delay of the model.
func (in *instance) converseTogether(ctx context.Context) ([]float64, error) {
	ctx, stop := context.WithTimeout(ctx, waitLimit)
	defer stop()
	times, errs := make([][]turnTime, conversations), make([]error, conversations)
	var running sync.WaitGroup
	for i := range conversations {
		running.Go(func() {
			time.Sleep(turnModelDelay * time.Duration(i) / conversations)
			times[i], errs[i] = in.converse(ctx, fmt.Sprintf("conversation %d", i), turns)
		})
	}
	running.Wait()
	var all []float64
	for _, conversation := range times {
		for _, t := range conversation {
			all = append(all, (t.total - turnModelDelay).Seconds())
		}
	}
	return all, errors.Join(errs...)
}
