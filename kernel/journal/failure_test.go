package journal_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// wantAdvice fails the test unless err says with CodeStorage what is in advice.
func wantAdvice(t *testing.T, err error, advice ...string) {
	t.Helper()
	wantCode(t, err, protocol.CodeStorage)
	for _, part := range advice {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error %q does not say %q", err, part)
		}
	}
}

// limitPages lets the file grow to so many pages, as a small disk would.
func limitPages(t *testing.T, j *journal.Journal, pages int) {
	t.Helper()
	must(t, j.Exec(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", pages)))
}

func TestFullDisk(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	turn := accepted(t, j, "q1", "main", "before")
	limitPages(t, j, 1) // SQLite takes the size the file has

	long := strings.Repeat("x", 1<<20)
	_, _, err := j.Turns.Accept(ctx, message("q2", "other", long), "t2")
	wantAdvice(t, err, "the disk of "+filepath.Dir(j.Path())+" is full: free space and send again")
	wantAdvice(t, j.Acts.PutAct(ctx, journal.Act{ID: "a1", Session: "main", Turn: turn.ID, Kind: journal.ActAnswer, Raw: long}), "free space")
	_, err = j.Records.Append(ctx, journal.Entry{Kind: journal.KindLog, Data: []byte(`"` + long + `"`)})
	wantAdvice(t, err, "free space")

	_, err = j.Turns.TurnOfEvent(ctx, "q2")
	wantCode(t, err, protocol.CodeNotFound)
	known, err := j.Sessions.KnownIDs(ctx, "main", []string{"q1", "q2", "a1"})
	must(t, err)
	if len(known) != 1 || !known["q1"] {
		t.Errorf("known after a full disk: %v", known)
	}
	checkWhole(t, j)

	limitPages(t, j, 1<<30)
	if _, fresh, err := j.Turns.Accept(ctx, message("q2", "other", long), "t2"); err != nil || !fresh {
		t.Errorf("sent again with space: fresh %v, %v", fresh, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	directory := t.TempDir()
	in := func(name string) string { return filepath.Join(directory, name) }
	must(t, os.WriteFile(in("file"), nil, 0o600))
	must(t, os.Mkdir(in("directory"), 0o700))
	must(t, os.WriteFile(in("garbage"), bytes.Repeat([]byte("not a database. "), 1000), 0o600))
	makeDatabase(t, in("foreign"), "CREATE TABLE bookmarks (url TEXT)")
	makeDatabase(t, in("newer"), fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", journal.ApplicationID, journal.SchemaVersion+6))

	for _, test := range []struct{ path, advice string }{
		{in("file/journal.db"), "the journal needs the directory " + in("file")},
		{in("nowhere/journal.db"), "the journal needs the directory " + in("nowhere")},
		{in("directory"), "not a regular file"},
		{in("garbage"), "is damaged: \"org-agent stop\""},
		{in("foreign"), "is a database of another program"},
		{in("newer"), fmt.Sprintf("written by a newer org-agent (schema %d, this one knows %d)", journal.SchemaVersion+6, journal.SchemaVersion)},
	} {
		t.Run(filepath.Base(test.path), func(t *testing.T) {
			before, _ := os.ReadFile(test.path)
			_, err := journal.Open(t.Context(), test.path)
			wantAdvice(t, err, test.path, test.advice)
			if after, _ := os.ReadFile(test.path); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
}

func makeDatabase(t *testing.T, path, script string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	must(t, err)
	_, err = db.ExecContext(t.Context(), script)
	must(t, errors.Join(err, db.Close()))
}

// manyPages is a journal of many pages that was closed: its path and its bytes.
func manyPages(t *testing.T) (path string, data []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "journal.db")
	j, err := journal.Open(t.Context(), path)
	must(t, err)
	for i := range 50 {
		accepted(t, j, fmt.Sprint("q", i), "main", strings.Repeat("text ", 1000))
	}
	must(t, j.Close())
	data, err = os.ReadFile(path)
	must(t, err)
	return path, data
}

// TestDamagedPages: a file whose first page is right and whose others are
// not is told as damaged, when it is opened or when they are read, and nothing panics.
func TestDamagedPages(t *testing.T) {
	path, data := manyPages(t)
	damage := func(from int) {
		damaged := slices.Clone(data)
		for i := from; i < len(damaged); i++ {
			damaged[i] ^= 0x5a
		}
		must(t, os.WriteFile(path, damaged, 0o600))
	}

	damage(4096)
	_, err := journal.Open(t.Context(), path)
	wantAdvice(t, err, "is damaged: \"org-agent stop\"")

	damage(len(data) / 2)
	j := reopen(t, path)
	_, err = j.Records.Entries(t.Context(), journal.Query{})
	wantAdvice(t, err, "is damaged: \"org-agent stop\"")
	_, _, err = j.Turns.Accept(t.Context(), message("new", "main", "text"), "t-new")
	wantAdvice(t, err, "is damaged: \"org-agent stop\"")
}

// openAsNobody opens the journal as a user who may read it only, and prints
// the error.
func openAsNobody(path string) int {
	if os.Geteuid() == 0 {
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(65534), syscall.Setuid(65534)); err != nil {
			return complain(err)
		}
	}
	_, err := journal.Open(context.Background(), path)
	fmt.Print(protocol.ErrorCode(err), " ", err)
	return 0
}

// TestUnwritable runs Open as a user without rights: in a process of its own,
// since nothing is forbidden to root.
func TestUnwritable(t *testing.T) {
	directory := t.TempDir()
	existing := filepath.Join(directory, "journal.db")
	j, err := journal.Open(t.Context(), existing)
	must(t, err)
	must(t, j.Close())
	must(t, os.Chmod(existing, 0o400))
	must(t, os.Chmod(directory, 0o555))
	defer func() { must(t, os.Chmod(directory, 0o755)) }()
	for _, path := range []string{existing, filepath.Join(directory, "new.db")} {
		output, err := child(t, "open as nobody", path).Output()
		must(t, err)
		want := fmt.Sprintf("%d the journal %s cannot be written: the file and its directory must be yours and writable", protocol.CodeStorage, path)
		if !strings.HasPrefix(string(output), want) {
			t.Errorf("open %s: %s", path, output)
		}
	}
}

func TestFileMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b%20?#.db")
	j, err := journal.Open(t.Context(), path)
	must(t, err)
	accepted(t, j, "q1", "main", "text")
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(name)
		must(t, err)
		if mode := info.Mode().Perm(); mode != 0o600 {
			t.Errorf("%s has mode %o", name, mode)
		}
	}
	must(t, j.Close())
	must(t, os.Chmod(path, 0o644))
	reopen(t, path)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("opened again: %v, %v", info.Mode(), err)
	}
}

func TestCancelledContext(t *testing.T) {
	j := fresh(t)
	ctx, cancel := context.WithCancel(t.Context())
	release := j.HoldWriter()
	errs := make(chan error)
	go func() {
		_, _, err := j.Turns.Accept(ctx, message("q1", "main", "text"), "t1")
		errs <- err
	}()
	go func() {
		_, err := j.Records.Append(ctx, journal.Entry{Kind: journal.KindLog})
		errs <- err
	}()
	cancel()
	for range 2 {
		if err := <-errs; !errors.Is(err, context.Canceled) {
			t.Errorf("want the context's error, got %v", err)
		}
	}
	release()
	if rows := entries(t, j, journal.Query{}); len(rows) != 0 {
		t.Errorf("written all the same: %+v", rows)
	}
	_, err := j.Turns.Unfinished(ctx)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a read with a cancelled context: %v", err)
	}
}

func TestRowsNeverChange(t *testing.T) {
	j := fresh(t)
	accepted(t, j, "q1", "main", "text")
	for _, statement := range []string{"UPDATE journal SET data = '{}'", "DELETE FROM journal", "REPLACE INTO journal SELECT * FROM journal"} {
		if err := j.Exec(t.Context(), statement); err == nil {
			t.Errorf("%s was done", statement)
		}
	}
}

func TestAfterClose(t *testing.T) {
	j := fresh(t)
	must(t, j.Close())
	_, _, err := j.Turns.Accept(t.Context(), message("q1", "main", "text"), "t1")
	wantCode(t, err, protocol.CodeStorage)
	_, err = j.Sessions.List(t.Context())
	wantCode(t, err, protocol.CodeStorage)
}
