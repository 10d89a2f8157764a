package tasks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// Arming says whether a task may begin at its times.
type Arming string

// The states of tasks. Those of the file of tasks are always armed.
const (
	Armed    Arming = ""
	NotArmed Arming = "not armed" // nobody armed it yet
	Changed  Arming = "changed"   // it is another one than the person armed
)

// others returns the tasks outside of the file of tasks. What is not as the person armed it is not armed any more.
func (s *Sensor) others(ctx context.Context, consents map[string]journal.Consent) (all []*watched) {
	seen, disarm := map[string]bool{}, arming{s.config}
	now := s.config.Now()
	for _, one := range s.sources.all[1:] {
		if one.fault != "" {
			continue
		}
		for _, t := range one.file.Tasks {
			w := &watched{Task: t, file: one.path, arming: NotArmed}
			consent, has := consents[t.ID]
			if has = has && consent.File == one.path; has {
				w.since, w.last, seen[t.ID] = consent.Since, consent.Last, true
			}
			switch {
			case !has:
			case consent.Withdrawn != "":
				w.arming = Changed
			case consent.Hash == t.Hash:
				w.arming = Armed
			case one.fresh(now):
				w.arming, s.stale = Changed, true
			default:
				w.arming = Changed
				s.stale = !disarm.withdraw(ctx, consent, "it was changed") || s.stale
			}
			all = append(all, w)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(consents)) {
		if one := s.sources.of(consents[id].File); !seen[id] && one.file != nil && one.fault == "" {
			if one.fresh(now) && !one.file.Done(id) {
				s.stale = true
				continue
			}
			s.stale = !disarm.forget(ctx, one, consents[id]) || s.stale
		}
	}
	// Of two that are the same the armed one is the task.
	slices.SortStableFunc(all, func(a, b *watched) int { return cmp.Compare(rank(a), rank(b)) })
	return all
}

// rank orders tasks by whether they may begin.
func rank(w *watched) int {
	if w.arming == Armed {
		return 0
	}
	return 1
}

// arming withdraws consents. Its functions report whether that was told and recorded; what was not is tried again when the
// files are read the next time, and does not begin until then either.
type arming struct{ Config }

// withdraw records that a task is not armed any more, and tells the person why.
func (a arming) withdraw(ctx context.Context, c journal.Consent, why string) bool {
	if !a.tell(ctx, c, why) {
		return false
	}
	c.Withdrawn = why
	return a.succeeded(ctx, c, a.Leases.SetConsent(ctx, c))
}

// forget forgets the consent to a task that is not there any more, and tells the person, unless it is done.
func (a arming) forget(ctx context.Context, one *source, c journal.Consent) bool {
	if c.Withdrawn == "" && !one.file.Done(c.Task) && !a.tell(ctx, c, "it is not there any more under that title and with that tag") {
		return false
	}
	c.Withdrawn = "it is not there any more"
	return a.succeeded(ctx, c, a.Leases.Forget(ctx, c))
}

// tell tells the person that a task is not armed any more.
func (a arming) tell(ctx context.Context, c journal.Consent, why string) bool {
	text := fmt.Sprintf("The task of %s is not done at its times: %s. M-x org-agent-tasks shows it, and arms it.", c.File, why)
	return a.succeeded(ctx, c, a.Tell(ctx, fmt.Sprintf("disarmed-%s-%d", c.Hash, c.Since.UnixMicro()), c.Title+": not armed any more", text))
}

// succeeded logs that a change of what is armed failed.
func (a arming) succeeded(ctx context.Context, c journal.Consent, err error) bool {
	if err != nil && ctx.Err() == nil {
		a.Logger.Error("it is not told or recorded that a task is not armed any more", "task", c.Title, "file", c.File, "err", err)
	}
	return err == nil
}

// Announce says which files the person's Emacs wants to be looked at. What is armed stays so.
func (s *Sensor) Announce(ctx context.Context, files Watched) error {
	if err := s.config.hold(ctx, files.Tag); err != nil {
		return err
	}
	return s.do(ctx, func(ctx context.Context) {
		s.sources.emacs = files
		s.load(ctx)
	})
}

// hold has a tag held.
func (c Config) hold(ctx context.Context, tag string) error {
	if c.Hold == nil {
		return nil
	}
	return c.Hold(ctx, tag)
}

// Arm arms a task, or disarms it. The hash is that of the task as the person saw it: the error has the code CodeNotFound
// if there is none of it any more, and CodeConflict if it needs no arming.
func (s *Sensor) Arm(ctx context.Context, hash string, arm bool) (p Planned, err error) {
	ended := s.do(ctx, func(ctx context.Context) {
		s.load(ctx)
		p, err = s.setArmed(ctx, hash, arm)
	})
	return p, errors.Join(ended, err)
}

func (s *Sensor) setArmed(ctx context.Context, hash string, arm bool) (p Planned, err error) {
	at := slices.IndexFunc(s.tasks, func(w *watched) bool { return w.Hash == hash })
	if at < 0 {
		return p, protocol.Errorf(protocol.CodeNotFound, "the task is not any more what was shown: look at it again")
	}
	w := s.tasks[at]
	if w.file == s.config.File.Path {
		return p, protocol.Errorf(protocol.CodeConflict, "the tasks of %s need no arming: the property ENABLED with the value nil holds one up", w.file)
	}
	one := s.sources.of(w.file)
	c := journal.Consent{Task: w.ID, Title: w.Title, File: w.file, Hash: w.Hash, Tag: one.tag, Sequences: one.sequences, Since: s.config.Now()}
	if arm {
		err = s.config.Leases.SetConsent(ctx, c)
	} else {
		c.Withdrawn = "the person disarmed it"
		err = s.config.Leases.Forget(ctx, c)
	}
	if err != nil {
		return p, err
	}
	s.stale = true
	s.load(ctx)
	if w = s.byID[c.Task]; w == nil {
		return p, protocol.Errorf(protocol.CodeNotFound, "the task is not there any more")
	}
	return s.planned(w, 1), nil
}
