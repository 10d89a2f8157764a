package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"org-agent/kernel/protocol"
)

// Snapshot writes a copy of the journal at path, as it is at one moment, to a file that must not
// exist. It may run beside a kernel, and with a journal of an older schema. CodeNotFound if there
// is no journal.
func Snapshot(ctx context.Context, path, to string) error {
	d, db, err := beside(path)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // SQLite would create a file that others can read
	if err != nil {
		return errors.Join(fmt.Errorf("write a picture of the journal: %w", err), db.Close())
	}
	err = file.Close()
	if err == nil {
		_, err = db.ExecContext(ctx, "VACUUM INTO ?", to)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return errors.Join(d.failure(ctx, "write a picture of the journal", err), os.Remove(to))
	}
	return nil
}

// Salvage writes the journal to a file that must not exist, also where the journal's own file was removed,
// which no other process can open then. If it succeeds, no later change is accepted.
func (j *Journal) Salvage(ctx context.Context, to string) error {
	const doing = "write the journal again"
	d := j.database
	select {
	case d.writing <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", doing, context.Cause(ctx))
	}
	defer func() { <-d.writing }()
	if d.writer == nil || d.closed {
		return fmt.Errorf("%s: %w", doing, errReadOnly)
	}
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // see Snapshot
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	err = errors.Join(file.Close(), d.withDeferred(ctx, func(context.Context, *writer) error { return nil }))
	if err == nil {
		_, err = d.writer.conn.ExecContext(ctx, "VACUUM INTO ?", to)
	}
	if err != nil {
		return errors.Join(d.failure(ctx, doing, err), os.Remove(to))
	}
	d.salvaged = true
	if gone := fileSize(d.archive.path) < 0; gone || filepath.Clean(to) != d.path {
		if _, err := d.archive.copyTo(ctx, ArchivePath(to)); err != nil {
			return fmt.Errorf("write the archive of the journal again: %w", err)
		}
	}
	return nil
}

// SnapshotArchive writes a copy of the archive of the journal at path to a file that must not exist. ok is false
// if there is none.
func SnapshotArchive(ctx context.Context, path, to string) (ok bool, err error) {
	f := &archiveFile{path: ArchivePath(path)}
	ok, err = f.copyTo(ctx, to)
	if err = errors.Join(err, f.close()); err != nil {
		return false, fmt.Errorf("write a picture of %s: %w", f.path, err)
	}
	return ok, nil
}

// CheckArchive returns the fault of the archive of the journal at path, nil if it is sound or is not there.
func CheckArchive(ctx context.Context, path string) error {
	f := &archiveFile{path: ArchivePath(path)}
	faults, err := f.check(ctx)
	if err = errors.Join(err, f.close()); err == nil && len(faults) > 0 {
		err = fmt.Errorf("%s is damaged: %s", f.path, faults[0])
	}
	return err
}

// Extent measures the content of a journal, to compare two journals: equal journals have equal
// extents.
type Extent struct {
	Sessions int
	Rows     int
	Last     string // the latest row
}

// ReadExtent returns the extent of the journal at path. A missing journal has the zero extent.
func ReadExtent(ctx context.Context, path string) (Extent, error) {
	var extent Extent
	d, db, err := beside(path)
	if protocol.ErrorCode(err) == protocol.CodeNotFound {
		return extent, nil
	}
	if err != nil {
		return extent, err
	}
	err = db.QueryRowContext(ctx, "SELECT count(*), (SELECT count(*) FROM journal), coalesce((SELECT id || ' ' || time || ' ' || data FROM journal ORDER BY seq DESC LIMIT 1), '') FROM session").
		Scan(&extent.Sessions, &extent.Rows, &extent.Last)
	return extent, d.failure(ctx, "look at the journal", errors.Join(err, db.Close()))
}

// beside opens an existing journal of any schema, without any use of its content.
func beside(path string) (*database, *sql.DB, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, nil, fmt.Errorf("find the journal %s: %w", path, err)
	}
	d := newDatabase(absolute)
	info, err := os.Stat(absolute)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && info.Size() == 0:
		return nil, nil, protocol.Errorf(protocol.CodeNotFound, "there is no journal %s yet: nothing has been said here", absolute)
	case err == nil && !info.Mode().IsRegular():
		err = errors.New("it is not a regular file")
	}
	if err != nil {
		return nil, nil, d.unusable(err)
	}
	db, err := sql.Open("sqlite", besideSource(absolute))
	if err != nil {
		return nil, nil, d.unusable(err)
	}
	return d, db, nil
}
