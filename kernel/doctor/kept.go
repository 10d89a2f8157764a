package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// keptJournal looks through the journal.
func keptJournal(ctx context.Context, c Config) []Finding {
	j, err := journal.OpenToRead(ctx, c.Paths.Journal)
	if protocol.ErrorCode(err) == protocol.CodeNotFound {
		return []Finding{ok("there is none yet: nothing has been said here")}
	}
	if errors.Is(err, journal.ErrOlder) {
		return []Finding{ok("%v", err)}
	}
	if err != nil {
		return []Finding{c.damaged(fail("", "%v", err), journal.Damaged(err))}
	}
	defer j.Close()
	faults, err := j.Check(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return []Finding{warn("with more patience: sqlite3 "+c.Paths.Journal+" 'PRAGMA quick_check'", "the journal of %d MB was not looked through to its end", j.Size()>>20)}
	case err != nil:
		return []Finding{c.damaged(fail("", "%v", err), journal.Damaged(err))}
	case len(faults) > 0:
		return []Finding{c.damaged(fail("", "the journal %s is damaged: %s", c.Paths.Journal, faults[0]), true)}
	}
	return []Finding{ok("%s is sound, %d kB", c.Paths.Journal, j.Size()>>10)}
}

// damaged gives a finding about a journal the advice, and if it is mendable the means to
// begin a new one.
func (c Config) damaged(f Finding, mendable bool) Finding {
	f.Advice = "your conversations are in the home's sessions/ and stay; copy " + c.Paths.Journal + " before you try to recover it with: sqlite3 FILE .recover"
	if !mendable {
		return f
	}
	return f.by("keep it beside, under another name, so that the kernel begins a new one", func(context.Context) error {
		if alive(c) {
			return errors.New("the kernel runs and has it open: end it with \"org-agent stop\" first")
		}
		lock, err := config.LockInstance(c.Paths)
		if err != nil {
			return err
		}
		aside := fmt.Sprintf("%s.damaged-%s", c.Paths.Journal, time.Now().Format("2006-01-02-150405"))
		for _, suffix := range []string{"", "-wal", "-shm"} {
			if moved := os.Rename(c.Paths.Journal+suffix, aside+suffix); moved != nil && !errors.Is(moved, fs.ErrNotExist) {
				err = errors.Join(err, moved)
			}
		}
		return errors.Join(err, lock.Release())
	})
}

// clock looks whether the time can be right: ids of events and the log stand on it.
func clock(ctx context.Context, c Config) []Finding {
	now := time.Now()
	const advice = "set the clock of this machine"
	if now.Year() < 2025 {
		return []Finding{fail(advice, "the clock says %s", now.Format(time.DateOnly))}
	}
	j, err := journal.OpenToRead(ctx, c.Paths.Journal)
	if err == nil {
		defer j.Close()
		rows, err := j.Entries(ctx, journal.Query{Latest: true, Limit: 1})
		if err == nil && len(rows) > 0 && rows[0].Time.After(now.Add(5*time.Minute)) {
			return []Finding{warn(advice, "the clock says %s, and the journal's last row is of %s", now.Format(time.DateTime), rows[0].Time.Local().Format(time.DateTime))}
		}
	}
	return []Finding{ok("%s", now.Format(time.RFC3339))}
}

// sandbox tells what this system has to shut programs in with. Nothing needs it yet.
func sandbox(context.Context, Config) []Finding {
	var has, lacks []string
	note := func(name string, there bool) {
		if there {
			has = append(has, name)
		} else {
			lacks = append(lacks, name)
		}
	}
	lsm, _ := os.ReadFile("/sys/kernel/security/lsm")
	_, unprivileged := os.Stat("/proc/self/ns/user")
	limit, _ := os.ReadFile("/proc/sys/user/max_user_namespaces")
	allowed, err := os.ReadFile("/proc/sys/kernel/unprivileged_userns_clone")
	note("Landlock", strings.Contains(string(lsm), "landlock"))
	note("user namespaces", unprivileged == nil && strings.TrimSpace(string(limit)) != "0" && (err != nil || strings.TrimSpace(string(allowed)) == "1"))
	text := "this system has " + strings.Join(has, " and ")
	if len(has) == 0 {
		text = "this system has nothing to shut programs in with"
	}
	if len(lacks) > 0 {
		text += ", not seen: " + strings.Join(lacks, ", ")
	}
	return []Finding{ok("%s; nothing needs it yet", text)}
}
