package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"org-agent/kernel/protocol"
)

// ErrOlder is why a journal cannot be read before its kernel has brought it up to date.
var ErrOlder = errors.New("the journal was written by an older org-agent")

// Damaged reports whether an error of this package is that of a file that is damaged, or no
// database at all.
func Damaged(err error) bool {
	reason, ok := errors.AsType[*sqlite.Error](err)
	return ok && (reason.Code()&0xff == sqlite3.SQLITE_CORRUPT || reason.Code()&0xff == sqlite3.SQLITE_NOTADB)
}

// OpenToRead opens a journal that exists, beside a kernel or without one, and changes
// nothing: it is neither made nor brought up to date. What writes fails. CodeNotFound if
// there is no such file; else it fails as [Open] does.
func OpenToRead(ctx context.Context, path string) (*Journal, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find the journal %s: %w", path, err)
	}
	j := newJournal(absolute)
	info, err := os.Stat(absolute)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, protocol.Errorf(protocol.CodeNotFound, "there is no journal %s yet: nothing has been said here", absolute)
	case err == nil && !info.Mode().IsRegular():
		err = errors.New("it is not a regular file")
	}
	if err != nil {
		return nil, j.database.unusable(err)
	}
	if j.database.readers, err = newReaders(dataSource(absolute, "query_only(true)")); err != nil {
		return nil, j.database.failure(ctx, "open the journal", err)
	}
	version, err := j.database.checkVersion(ctx, j.database.readers)
	if err == nil && version == 0 {
		err = protocol.Errorf(protocol.CodeNotFound, "the journal %s is empty: nothing has been said here", absolute)
	}
	if err == nil && version < schemaVersion {
		err = protocol.Errorf(protocol.CodeStorage, "%w: %s has schema %d, this one reads %d; the kernel brings it up to date when it starts", ErrOlder, absolute, version, schemaVersion)
	}
	if err != nil {
		return nil, errors.Join(j.database.failure(ctx, "open the journal", err), j.Close())
	}
	return j, nil
}

// Check has SQLite look through the whole file, and returns what is wrong with it, at most
// a hundred lines; none means that it is sound. It takes a second or so for each gigabyte.
func (j *Journal) Check(ctx context.Context) ([]string, error) {
	lines, err := collect(ctx, j.database.readers, textColumn, "PRAGMA quick_check(100)")
	if err != nil {
		return nil, j.database.failure(ctx, "check the journal", err)
	}
	if len(lines) == 1 && lines[0] == "ok" {
		return nil, nil
	}
	return lines, nil
}

// Size is how many bytes the journal takes on the disk, with what is not merged yet.
func (j *Journal) Size() int64 {
	var size int64
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(j.database.path + suffix); err == nil {
			size += info.Size()
		}
	}
	return size
}
