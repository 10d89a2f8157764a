package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// measureStart starts the kernel on a home of twenty notes, again and again: as at a first start,
// when it waits for all their tests, and as at a later one, when they passed before.
func measureStart(ctx context.Context, p programs) ([]row, error) {
	in, err := newInstance()
	if err != nil {
		return nil, err
	}
	defer in.close()
	if err := in.addNotes(20); err != nil {
		return nil, err
	}
	const starts = 15
	var tested, proven, memory []float64
	for i := range 2 * starts {
		if i < starts {
			if err := os.Remove(filepath.Join(in.paths.State, "proven.json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("forget which notes passed: %w", err)
			}
		}
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
		if memory = append(memory, used); i < starts {
			tested = append(tested, k.ready.Seconds())
		} else {
			proven = append(proven, k.ready.Seconds())
		}
	}
	return []row{
		{what: "start to ready, 20 notes, all their tests run", target: "60 ms", unit: seconds, values: tested},
		{what: "the same with notes that passed before", target: "60 ms", unit: seconds, values: proven},
		{what: "greatest resident size then", target: "80 MB", unit: size, values: memory},
	}, nil
}
