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

// ErrOlder is the error of a journal that its kernel must bring up to date before it can be read.
var ErrOlder = errors.New("the journal was written by an older org-agent")

// Damaged reports whether an error of this package is about a damaged file, or one that is no
// database.
func Damaged(err error) bool {
	reason, ok := errors.AsType[*sqlite.Error](err)
	return ok && (reason.Code()&0xff == sqlite3.SQLITE_CORRUPT || reason.Code()&0xff == sqlite3.SQLITE_NOTADB)
}

// OpenToRead opens an existing journal, whether a kernel runs or not. It changes nothing: it
// neither creates nor migrates the file. Every write fails. CodeNotFound if there is no such file;
// otherwise it fails as [Open] does.
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
	if j.database.readers, err = newReaders(besideSource(absolute, "query_only(true)")); err != nil {
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

// checkedTables are all tables but the index of words: SQLite would read it whole to compare its words, which
// takes longer than all else, and it can be made again. The tables in which the index is stored are
// among them.
const checkedTables = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type <> 'virtual' AND type <> 'view'"

// Check examines the whole file with SQLite, except the words in the index, and returns its faults, none if it
// is sound. It takes some seconds for each gigabyte.
func (j *Journal) Check(ctx context.Context) (faults []string, err error) {
	tables, err := collect(ctx, j.database.readers, textColumn, checkedTables)
	if err != nil {
		return nil, j.database.failure(ctx, "check the journal", err)
	}
	for _, table := range tables {
		lines, err := collect(ctx, j.database.readers, textColumn, "SELECT quick_check FROM pragma_quick_check(?)", table)
		if err != nil {
			return nil, j.database.failure(ctx, "check the journal", err)
		}
		if len(lines) != 1 || lines[0] != "ok" {
			faults = append(faults, lines...)
		}
	}
	return faults, nil
}

// Size returns the size of the journal on the disk in bytes, with the part that is not merged yet.
func (j *Journal) Size() int64 {
	var size int64
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(j.database.path + suffix); err == nil {
			size += info.Size()
		}
	}
	return size
}
