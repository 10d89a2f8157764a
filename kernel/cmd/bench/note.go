package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// measureNote saves a note repeatedly in the home of a running kernel. The kernel's log has the time at
// which the new text was live.
func measureNote(ctx context.Context, p programs) ([]row, error) {
	in, err := newInstance()
	if err != nil {
		return nil, err
	}
	defer in.close()
	if err := in.addNotes(20); err != nil {
		return nil, err
	}
	k, err := in.start(ctx, p.kernel)
	if err != nil {
		return nil, err
	}
	time.Sleep(time.Second) // until the notes are watched
	path := filepath.Join(in.paths.Skills, "note-0.org")
	source, err := os.ReadFile(path)
	var times []float64
	for i := 0; i < 15 && err == nil; i++ {
		var took time.Duration
		took, err = in.saveNote(path, bytes.Replace(source, []byte(":priority 40"), fmt.Appendf(nil, ":priority %d", i), 1))
		times = append(times, took.Seconds())
	}
	if err := errors.Join(err, k.stop()); err != nil {
		return nil, err
	}
	return []row{{what: "note saved -> live", target: "100 ms", unit: seconds, values: times}}, nil
}

// saveNote writes a note, waits until it is live, and returns how long this took.
func (in *instance) saveNote(path string, text []byte) (time.Duration, error) {
	before, err := os.ReadFile(in.paths.Log)
	if err != nil {
		return 0, fmt.Errorf("read the kernel's log: %w", err)
	}
	saved := time.Now()
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return 0, fmt.Errorf("save a note: %w", err)
	}
	for time.Since(saved) < waitLimit {
		time.Sleep(20 * time.Millisecond)
		log, err := os.ReadFile(in.paths.Log)
		if err != nil {
			return 0, fmt.Errorf("read the kernel's log: %w", err)
		}
		for line := range strings.Lines(string(log[len(before):])) {
			var record struct {
				Time time.Time
				Msg  string
				File string
			}
			if json.Unmarshal([]byte(line), &record) == nil && record.Msg == "a note is live" && filepath.Base(record.File) == filepath.Base(path) {
				return record.Time.Sub(saved), nil
			}
		}
	}
	return 0, fmt.Errorf("%s was saved and did not become live", path)
}
