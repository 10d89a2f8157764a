package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// journalState looks for damage in the journal.
func journalState(ctx context.Context, c Config) []Finding {
	j, err := journal.OpenToRead(ctx, c.Paths.Journal)
	if protocol.ErrorCode(err) == protocol.CodeNotFound {
		return []Finding{ok("there is no journal yet")}
	}
	if errors.Is(err, journal.ErrOlder) {
		return []Finding{ok("%v", err)}
	}
	if err != nil {
		return []Finding{c.damaged(fail("", "%v", err), journal.Damaged(err))}
	}
	defer j.Close()
	var found []Finding
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
	return append(found, ok("%s is sound, %d kB", c.Paths.Journal, j.Size()>>10))
}

// damaged adds advice to a finding about a journal and, if mendable is true, a repair that begins a
// new journal.
func (c Config) damaged(f Finding, mendable bool) Finding {
	f.Advice = "your conversations are in the home's sessions/ and stay; copy " + c.Paths.Journal + " before you try to recover it with: sqlite3 FILE .recover"
	if !mendable {
		return f
	}
	return f.by("rename it, so that the kernel begins a new one", func(context.Context) error {
		aside := fmt.Sprintf(".damaged-%s", time.Now().Format("2006-01-02-150405"))
		return c.eachFile(func(suffix string) error {
			return os.Rename(c.Paths.Journal+suffix, c.Paths.Journal+aside+suffix)
		})
	})
}

// eachFile calls do for the file of a database and for the files that SQLite puts beside it, while
// no kernel has them open. suffix is the part after the database's name.
func (c Config) eachFile(do func(suffix string) error) error {
	if alive(c) {
		return errors.New("the kernel runs and has it open: end it with \"org-agent stop\" first")
	}
	lock, err := config.LockInstance(c.Paths)
	if err != nil {
		return err
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if done := do(suffix); !errors.Is(done, fs.ErrNotExist) {
			err = errors.Join(err, done)
		}
	}
	return errors.Join(err, lock.Release())
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
