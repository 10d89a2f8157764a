package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"org-agent/kernel/journal/pages"
)

// checkTime bounds the check of a journal that was not closed.
const checkTime = 3 * time.Second

// OpenMark ends the name of the file that says that a kernel has the journal open. If it is there and
// no kernel runs, the last one ended without closing the journal.
const OpenMark = "-open"

// IdentityFile is in the directory of the conversations. It has the identity of the journal in which they
// are.
const IdentityFile = ".journal"

// Incident is something that happened to the file of the journal. Text is for a person.
type Incident struct {
	Time time.Time
	Text string
}

// Start opens the journal for a kernel, as [Open] does, and looks first whether it is the one of the
// conversations in the directory sessions, and whether it is whole. It returns what a person must be
// told, which is also in the journal: that it was lost, emptied or exchanged, that the log of the last
// changes is missing, or that it was damaged. A damaged one is salvaged, see [SalvageFile]. A journal that
// was not closed is checked, for a few seconds at most. Before one of an older schema is brought up to
// date, a copy of it is kept; the last two copies stay. Meanwhile progress, which may be nil, is called from time
// to time with a text for a person that says how much is done. Start must be called by one process at a time.
func Start(ctx context.Context, path, sessions string, progress func(text string)) (*Journal, []Incident, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, nil, fmt.Errorf("find the journal %s: %w", path, err)
	}
	s := &start{path: absolute, identity: filepath.Join(sessions, IdentityFile), sessions: sessions, progress: progress}
	if err := s.look(ctx); err != nil {
		return nil, nil, err
	}
	j, err := s.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	if err := s.finish(ctx, j); err != nil {
		return nil, nil, errors.Join(j.database.failure(ctx, "open the journal", err), j.Close())
	}
	return j, s.incidents, nil
}

// start is what [Start] finds.
type start struct {
	path, sessions, identity string
	expected                 string // the identity that the conversations have, "" for none
	marked                   bool   // a kernel had it open and did not close it
	running                  bool   // that kernel had it open since the system was started, so that the power was not lost
	unclean                  bool   // it is to be checked
	incidents                []Incident
	unwritten                []Incident // those of them that the journal does not have
	progress                 func(text string)
}

func (s *start) tell(format string, args ...any) {
	incident := Incident{now(), fmt.Sprintf(format, args...)}
	s.incidents, s.unwritten = append(s.incidents, incident), append(s.unwritten, incident)
}

// Expected returns the identity of the journal in which the conversations of the directory sessions are, ""
// if they know none.
func Expected(sessions string) string {
	known, err := os.ReadFile(filepath.Join(sessions, IdentityFile))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(known))
}

// What is said of conversations whose journal is another one.
const (
	staySafe = "The conversations in %s stay as they are and nothing is sent again, but models do not know what was said in them"
	putBack  = "If you have a copy of it: \"org-agent stop\", put the copy in its place, and start again"
)

// look looks at the files before SQLite does, because SQLite would begin a new journal in the place of a
// missing or an empty one, and takes a missing log for an empty one.
func (s *start) look(ctx context.Context) error {
	s.expected = Expected(s.sessions)
	size, logged := fileSize(s.path), fileSize(s.path+"-wal")
	boot, err := os.ReadFile(s.path + OpenMark)
	s.marked = err == nil
	s.running = len(boot) > 0 && string(boot) == bootID()
	s.unclean = s.marked || logged > 0
	if size > 0 {
		if err := s.lookAtLog(ctx); err != nil {
			return err
		}
		if s.marked && logged < 0 {
			s.tell("the file %s-wal is missing: the kernel ended without closing the journal, and what was said last before that was in this file. "+
				"If another program has merged it, nothing is lost; otherwise put it back while no kernel runs", s.path)
		}
		return nil
	}
	if logged > 0 { // SQLite would remove it
		saved, err := SalvageFile(ctx, s.path, "was "+missingOrEmpty(size)+", but not the log beside it")
		if err == nil {
			s.incidents = append(s.incidents, saved.Incident)
			return nil
		}
		if !errors.Is(err, ErrNothingSalvaged) {
			return err
		}
	}
	if s.expected == "" && !s.marked && !s.conversations() {
		return nil // there never was one
	}
	state, aside := missingOrEmpty(size), ""
	if logged >= 0 || s.marked || size == 0 {
		kept, err := freeName(s.path, "empty")
		if err == nil {
			err = moveAside(s.path, kept)
		}
		if err != nil {
			return newDatabase(s.path).unusable(err)
		}
		aside = " What was in its place is kept as " + kept + "."
	}
	s.tell("the journal %s is %s, and a new one was begun.%s "+staySafe+". "+putBack+"%s", s.path, state, aside, s.sessions, s.copies())
	return nil
}

// lookAtLog keeps a log that SQLite would take for an empty one, because its beginning is overwritten, and saves what
// is behind a page of it that was changed, where SQLite would end it. After a loss of power such a page
// is one that was not flushed, so that all behind it was not either.
func (s *start) lookAtLog(ctx context.Context) error {
	source, err := pages.Open(s.path)
	if err != nil {
		return newDatabase(s.path).unusable(err)
	}
	faulty, changed := source.LogFaulty(), source.Changed()
	if err := source.Close(); err != nil {
		return newDatabase(s.path).unusable(err)
	}
	if changed > 0 && s.running {
		saved, err := SalvageFile(ctx, s.path, fmt.Sprintf("was damaged: in its log %s-wal, %d pages are not as they were written, and more was behind them", s.path, changed))
		if err == nil {
			s.incidents = append(s.incidents, saved.Incident)
		}
		return err
	}
	if !faulty {
		return nil
	}
	kept, err := freeName(s.path, "damaged")
	if err == nil {
		err = os.Rename(s.path+"-wal", kept+"-wal")
	}
	if err != nil {
		return newDatabase(s.path).unusable(err)
	}
	s.tell("the beginning of %s-wal is damaged, so that what was said last cannot be read from it. It is kept as %s-wal. "+
		"Answered questions that are not in the journal stay in %s and are not sent again", s.path, kept, s.sessions)
	return nil
}

func missingOrEmpty(size int64) string {
	if size < 0 {
		return "missing"
	}
	return "empty"
}

// fileSize returns the size of a file, -1 if there is none.
func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return -1
	}
	return info.Size()
}

// conversations reports whether a conversation has a question.
func (s *start) conversations() bool {
	files, _ := os.ReadDir(s.sessions) // none where there is no directory
	for _, file := range files {
		if filepath.Ext(file.Name()) != ".org" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(s.sessions, file.Name()))
		if err == nil && bytes.Contains(text, []byte(":user:")) && bytes.Contains(text, []byte(":ID:")) {
			return true
		}
	}
	return false
}

// copies names the newest copy of the journal that there is.
func (s *start) copies() string {
	found, err := namesBeside(s.path, ".schema-")
	if err != nil || len(found) == 0 {
		return ""
	}
	return ". A copy from before an update is " + found[len(found)-1]
}

// open opens the journal, and salvages it first if it is damaged.
func (s *start) open(ctx context.Context) (*Journal, error) {
	reason := ""
	j, err := open(ctx, s.path, true, s.progress)
	switch {
	case Damaged(err):
		reason = err.Error()
	case err != nil:
		return nil, err
	case !s.unclean:
		return j, nil
	default:
		if reason = s.check(ctx, j); reason == "" {
			return j, nil
		}
		if err := j.Close(); err != nil && !Damaged(err) {
			return nil, err
		}
	}
	saved, failed := SalvageFile(ctx, s.path, fmt.Sprintf("was damaged (%s)", reason))
	if failed != nil {
		return nil, errors.Join(err, failed)
	}
	s.incidents = append(s.incidents, saved.Incident)
	return open(ctx, s.path, true, s.progress)
}

// check returns the first fault of the journal, "" for none. It ends after checkTime.
func (s *start) check(ctx context.Context, j *Journal) (fault string) {
	within, stop := context.WithTimeout(ctx, checkTime)
	defer stop()
	faults, err := j.Check(within)
	switch {
	case len(faults) > 0:
		return faults[0]
	case Damaged(err):
		return err.Error()
	}
	return "" // an end of the time is no fault: "doctor" takes longer
}

// finish compares the identities and writes what happened.
func (s *start) finish(ctx context.Context, j *Journal) error {
	id, _, err := j.Identity(ctx)
	if err != nil {
		return err
	}
	if s.expected != "" && s.expected != id && len(s.incidents) == 0 {
		s.tell("the journal %s is another one than that of your conversations. "+staySafe+". "+putBack, s.path, s.sessions)
	}
	if s.expected != id {
		// Without the directory, or where it is read-only, the next start tells of it again.
		_ = os.WriteFile(s.identity, []byte(id+"\n"), 0o600)
	}
	if err := j.database.writeIncidents(ctx, s.unwritten...); err != nil {
		return err
	}
	return mark(j.database)
}

// Identity returns the random id that was made with the journal, and when that was.
func (j *Journal) Identity(ctx context.Context) (id string, made time.Time, err error) {
	var at int64
	err = j.database.readers.QueryRowContext(ctx, "SELECT id, made FROM identity").Scan(&id, &at)
	return id, instant(at), j.database.failure(ctx, "read the identity of the journal", err)
}

// Incidents returns what happened to the file of the journal since a time, in order.
func (j *Journal) Incidents(ctx context.Context, since time.Time) ([]Incident, error) {
	found, err := collect(ctx, j.database.readers, func(row scanner) (i Incident, err error) {
		var at int64
		err = row.Scan(&at, &i.Text)
		i.Time = instant(at)
		return i, err
	}, "SELECT time, text FROM incident WHERE time >= ? ORDER BY rowid", micros(since))
	return found, j.database.failure(ctx, "read what happened to the journal", err)
}

// writeIncidents writes what happened to the file of the journal.
func (d *database) writeIncidents(ctx context.Context, incidents ...Incident) error {
	if len(incidents) == 0 {
		return nil
	}
	return d.transact(ctx, "write what happened to the journal", func(ctx context.Context, tx *writer) error {
		for _, i := range incidents {
			if _, err := tx.ExecContext(ctx, "INSERT INTO incident (time, text) VALUES (?, ?)", micros(i.Time), i.Text); err != nil {
				return err
			}
		}
		return nil
	})
}

// bootID is of the present run of the system, "" where it does not tell.
func bootID() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return string(id)
}

// mark writes the file that says that a kernel has the journal open, and in which run of the system.
func mark(d *database) error {
	err := os.WriteFile(d.path+OpenMark, []byte(bootID()), 0o600)
	d.marked = err == nil
	return d.unusable(err)
}

// unmark merges the log and removes the mark. Then no change is in the log only. If the log cannot be
// merged now, because another process reads, the mark stays and the next start checks the journal.
func unmark(d *database) error {
	if !d.salvaged { // then the file is a new one, which has no log
		var busy, frames, merged int
		err := d.writer.conn.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &merged)
		if err != nil || busy != 0 {
			return nil // a failure to merge loses nothing
		}
	}
	if err := os.Remove(d.path + OpenMark); !errors.Is(err, fs.ErrNotExist) {
		return d.unusable(err)
	}
	return nil
}
