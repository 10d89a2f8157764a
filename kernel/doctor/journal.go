package doctor

import (
	"context"
	"errors"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// journalState looks for damage in the journal.
func journalState(ctx context.Context, c Config) []Finding {
	j, err := journal.OpenToRead(ctx, c.Paths.Journal)
	if protocol.ErrorCode(err) == protocol.CodeNotFound {
		return []Finding{noJournal(c)}
	}
	if errors.Is(err, journal.ErrOlder) {
		return []Finding{ok("%v", err)}
	}
	if err != nil {
		return []Finding{c.damaged(fail("", "%v", err), journal.Damaged(err))}
	}
	defer j.Close()
	found := incidents(ctx, j)
	if u, err := j.Search.Unindexed(ctx); err == nil && u.Rows > 0 {
		found = append(found, ok("%d %% of the journal is not in the search index yet: the kernel indexes it while it runs, and searches take longer until then", u.Percent()))
	}
	faults, err := j.Check(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return append(found, warn("with more patience: sqlite3 "+c.Paths.Journal+" 'PRAGMA quick_check'", "the journal of %d MB was not checked completely", j.Size()>>20))
	case err != nil:
		return append(found, c.damaged(fail("", "%v", err), journal.Damaged(err)))
	case len(faults) > 0:
		return append(found, c.damaged(fail("", "the journal %s is damaged: %s", c.Paths.Journal, faults[0]), true))
	}
	found = append(found, ok("%s is sound, %d kB", c.Paths.Journal, j.Size()>>10))
	return append(found, c.archiveState(ctx, j)...)
}

// archiveState looks for damage in the archive of old requests, and says which are moved there.
func (c Config) archiveState(ctx context.Context, j *journal.Journal) []Finding {
	faults, err := j.Archive.Check(ctx)
	state, unread := j.Archive.State(ctx)
	if err = errors.Join(err, unread); err == nil && len(faults) > 0 {
		err = errors.New(faults[0])
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return []Finding{warn("with more patience: sqlite3 "+state.Path+" 'PRAGMA quick_check'", "the archive %s of %d MB was not checked completely", state.Path, state.Bytes>>20)}
	case err != nil:
		return []Finding{fail("what was said, done and decided is in the journal", "the archive of old requests %s is damaged: %v", state.Path, err).
			by("save what can be read of it into a new one, and keep the damaged file beside it", func(ctx context.Context) error {
				return c.alone(func() error {
					_, err := journal.SalvageArchive(ctx, c.Paths.Journal)
					return err
				})
			})}
	case state.Bytes > 0:
		return []Finding{ok("%s is sound, %d kB: what models were sent long ago (KEEP_REQUESTS in config.org)", state.Path, state.Bytes>>10)}
	}
	return nil
}

// noJournal says whether a journal was lost, or never was.
func noJournal(c Config) Finding {
	if journal.Expected(c.Paths.Sessions) == "" {
		return ok("there is no journal yet")
	}
	return warn("if you have a copy of it, put it there before a kernel starts; your conversations are in the home's sessions/ and stay",
		"the journal of your conversations, %s, is missing or empty: the kernel begins a new one", c.Paths.Journal)
}

// incidentTime is how long the doctor tells what happened to the journal.
const incidentTime = 30 * 24 * time.Hour

// incidents tells what happened to the journal lately.
func incidents(ctx context.Context, j *journal.Journal) (found []Finding) {
	happened, err := j.Incidents(ctx, time.Now().Add(-incidentTime))
	if err != nil {
		return []Finding{fail("", "%v", err)}
	}
	for _, i := range happened {
		found = append(found, ok("on %s: %s", i.Time.Local().Format(time.DateTime), i.Text))
	}
	return found
}

// damaged adds advice to a finding about a journal and, if mendable is true, a repair that saves what can
// be read into a new journal, and begins an empty one if nothing can.
func (c Config) damaged(f Finding, mendable bool) Finding {
	f.Advice = "your conversations are in the home's sessions/ and stay"
	if !mendable {
		return f
	}
	return f.by("save what can be read of it into a new one, and keep the damaged file beside it", func(ctx context.Context) error {
		return c.alone(func() error {
			_, err := journal.SalvageFile(ctx, c.Paths.Journal, "was damaged")
			if !errors.Is(err, journal.ErrNothingSalvaged) {
				return err
			}
			_, err = journal.MoveAside(c.Paths.Journal)
			return err
		})
	})
}

// alone calls do while no kernel has the instance.
func (c Config) alone(do func() error) error {
	if alive(c) {
		return errors.New("the kernel runs and has it open: end it with \"org-agent stop\" first")
	}
	lock, err := config.LockInstance(c.Paths)
	if err != nil {
		return err
	}
	return errors.Join(do(), lock.Release())
}

// clock checks whether the time can be right. The ids of events and the log depend on it.
func clock(ctx context.Context, c Config) []Finding {
	now := time.Now()
	const advice = "set the clock of this machine"
	if now.Year() < 2025 {
		return []Finding{fail(advice, "the clock says %s", now.Format(time.DateOnly))}
	}
	j, err := journal.OpenToRead(ctx, c.Paths.Journal)
	if err == nil {
		defer j.Close()
		rows, err := j.Records.Entries(ctx, journal.Query{Latest: true, Limit: 1})
		if err == nil && len(rows) > 0 && rows[0].Time.After(now.Add(5*time.Minute)) {
			return []Finding{warn(advice, "the clock says %s, and the journal's last row is of %s", now.Format(time.DateTime), rows[0].Time.Local().Format(time.DateTime))}
		}
	}
	return []Finding{ok("%s", now.Format(time.RFC3339))}
}
