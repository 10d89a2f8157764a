package main

import (
	"context"
	"time"
)

// measureStart starts the kernel on a home of twenty notes, again and again: the
// first time the home has no journal yet.
func measureStart(ctx context.Context, p programs) ([]row, error) {
	in, err := newInstance()
	if err != nil {
		return nil, err
	}
	defer in.close()
	if err := in.addNotes(20); err != nil {
		return nil, err
	}
	var ready, memory []float64
	for range 15 {
		k, err := in.start(ctx, p.kernel)
		if err != nil {
			return nil, err
		}
		time.Sleep(200 * time.Millisecond) // what goes on behind "ready" counts too
		used, err := k.memory()
		if err != nil {
			return nil, err
		}
		if err := k.end(); err != nil {
			return nil, err
		}
		ready, memory = append(ready, k.ready.Seconds()), append(memory, used)
	}
	return []row{
		{what: "start to ready, 20 notes", target: "60 ms", unit: seconds, values: ready},
		{what: "greatest resident size then", target: "80 MB", unit: size, values: memory},
	}, nil
}
