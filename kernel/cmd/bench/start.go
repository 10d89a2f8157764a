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

// measureStart starts the kernel repeatedly in a home with twenty notes. In the first half of the starts
// the kernel must run all tests of the notes before it is ready. In the second half it knows that they
// passed.
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
	var tested, testedBefore, memory []float64
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
		time.Sleep(200 * time.Millisecond) // the memory also includes the work after "ready"
		used, err := k.peakMemory()
		if err != nil {
			return nil, err
		}
		if err := k.stop(); err != nil {
			return nil, err
		}
		if memory = append(memory, used); i < starts {
			tested = append(tested, k.ready.Seconds())
		} else {
			testedBefore = append(testedBefore, k.ready.Seconds())
		}
	}
	return []row{
		{what: "start to ready, 20 notes, all their tests run", target: "60 ms", unit: seconds, values: tested},
		{what: "the same with notes that passed before", target: "60 ms", unit: seconds, values: testedBefore},
		{what: "greatest resident size then", target: "80 MB", unit: size, values: memory},
	}, nil
}
