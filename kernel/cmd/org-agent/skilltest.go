package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"org-agent/kernel/agent"
	"org-agent/kernel/journal"
	"org-agent/kernel/skill"
)

// skillTest is "org-agent skill test".
type skillTest struct {
	Paths []string `arg:"" optional:"" help:"Notes or directories (default: the home's skills)." name:"path"`
	Watch bool     `help:"Run again whenever a note is saved, until interrupted."`
	JSON  bool     `help:"Print JSON, one criterion a line."`
}

// watchInterval is how often --watch looks for changed notes.
const watchInterval = 200 * time.Millisecond

func (c *skillTest) Run(ctx context.Context, proc *process) error {
	options, closeJournal, err := c.options(ctx, proc)
	if err != nil {
		return err
	}
	defer closeJournal()
	if !c.Watch {
		return c.testAll(ctx, proc, options)
	}
	var last []string
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	for {
		granted := options.Grants.Refresh()
		if now := c.stamps(proc); granted || !slices.Equal(now, last) {
			last = now
			err := c.testAll(ctx, proc, options)
			if ctx.Err() != nil {
				return nil
			}
			if err != nil {
				fmt.Fprintln(proc.stderr, "org-agent:", err)
			}
			fmt.Fprintf(proc.stderr, "org-agent: waiting for a change (%s)\n", time.Now().Format(time.TimeOnly))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// options returns the options for the notes. Tests that replay a turn read the journal of the home,
// if there is one.
func (c *skillTest) options(ctx context.Context, proc *process) (skill.Options, func(), error) {
	paths, err := proc.paths()
	if err != nil {
		return skill.Options{}, nil, err
	}
	options, err := proc.noteOptions()
	if err != nil {
		return skill.Options{}, nil, err
	}
	if _, err := os.Stat(paths.Journal); errors.Is(err, fs.ErrNotExist) {
		return options, func() {}, nil
	}
	j, err := journal.OpenToRead(ctx, paths.Journal)
	if err != nil {
		return skill.Options{}, nil, err
	}
	options.Recorded = agent.Recordings{Turns: j.Turns, Rows: j.Records, Acts: j.Acts}.Recording
	return options, func() { _ = j.Close() }, nil // the journal was only read
}

// stamps returns a list that changes when a note is saved, added or removed.
func (c *skillTest) stamps(proc *process) []string {
	notes, err := notesAt(proc, c.Paths)
	if err != nil {
		return []string{err.Error()}
	}
	for i, path := range notes {
		if info, err := os.Stat(path); err == nil {
			notes[i] = fmt.Sprint(path, info.ModTime().UnixNano(), info.Size())
		}
	}
	return notes
}

// testAll tests every note. It returns an error if any failed.
func (c *skillTest) testAll(ctx context.Context, proc *process, options skill.Options) error {
	notes, err := notesAt(proc, c.Paths)
	if err != nil {
		return err
	}
	failed := 0
	for _, path := range notes {
		source, err := skill.Read(path)
		if err != nil {
			fmt.Fprintln(proc.stdout, skill.Unread(path, err))
			failed++
			continue
		}
		proofs, hash, err := skill.Prove(ctx, path, source, options)
		faults := skill.FaultsOf(err)
		if err != nil && faults == nil {
			return err
		}
		for _, d := range faults {
			fmt.Fprintln(proc.stdout, d)
		}
		if faults != nil || slices.ContainsFunc(proofs, func(p skill.Proof) bool { return p.Result == skill.Fail }) {
			failed++
		}
		for _, p := range proofs {
			if err := c.print(proc, path, hash, p); err != nil {
				return err
			}
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d notes failed", failed, len(notes))
	}
	return nil
}

// print prints "PASS|FAIL|NONE CRITERION (NOTE:LINE)", and the reasons of a failure below.
func (c *skillTest) print(proc *process, path, hash string, p skill.Proof) error {
	if c.JSON {
		return proc.printJSON(struct {
			File string `json:"file"`
			Hash string `json:"hash"`
			skill.Proof
		}{path, hash, p})
	}
	_, err := fmt.Fprintf(proc.stdout, "%s %s (%s:%d)\n", p.Result, p.Criterion, path, p.Line)
	for _, d := range p.Faults {
		if err == nil {
			_, err = fmt.Fprintf(proc.stdout, "     %s\n", d)
		}
	}
	return err
}
