package journal

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// archiveFile is the archive of a journal: a SQLite file of its own, in which rows are found by their number
// and the sum of their data. So it serves the journal, its copies, and one that takes its place. Every
// write is on the disk when it returns. It is safe for many goroutines.
type archiveFile struct {
	path string

	mu sync.Mutex
	db *sql.DB // opened when it is first needed
}

// ArchivePath returns the path of the archive of the journal at path.
func ArchivePath(path string) string { return strings.TrimSuffix(path, ".db") + "-archive.db" }

// errNoArchive is the error of a read where there is no archive.
var errNoArchive = errors.New("there is no such file")

// archiveSchema makes the table. The data is compressed. archiveID marks the file ("oaja").
const (
	archiveSchema = `CREATE TABLE IF NOT EXISTS body (
	row  INTEGER PRIMARY KEY,
	seq  INTEGER NOT NULL,
	sum  TEXT    NOT NULL,
	data BLOB    NOT NULL,
	UNIQUE (seq, sum)
) STRICT`
	archiveID = 0x6f616a61
)

// open returns the open archive. With create it makes a missing one, with mode 0600.
func (f *archiveFile) open(ctx context.Context, create bool) (*sql.DB, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Stat(f.path)
	missing := errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0
	if f.db != nil && (!missing || !create) {
		return f.db, nil // a removed file can be read on, but not written
	}
	switch {
	case missing && !create:
		return nil, errNoArchive
	case missing:
		err = f.create()
	case err == nil && !info.Mode().IsRegular():
		err = errors.New("it is not a regular file")
	}
	if err != nil {
		return nil, fmt.Errorf("open the archive %s: %w", f.path, err)
	}
	db, err := sql.Open("sqlite", dataSource(f.path, "journal_mode(DELETE)", "synchronous(EXTRA)"))
	if err != nil {
		return nil, fmt.Errorf("open the archive %s: %w", f.path, err)
	}
	db.SetMaxOpenConns(1)
	if err := prepareArchive(ctx, db, create); err != nil {
		return nil, errors.Join(fmt.Errorf("open the archive %s: %w", f.path, err), db.Close())
	}
	if f.db != nil {
		_ = f.db.Close() // of a file that was removed
	}
	f.db = db
	return db, nil
}

// create makes an empty file, whose name is on the disk.
func (f *archiveFile) create() error {
	file, err := os.OpenFile(f.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return syncFile(filepath.Dir(f.path))
}

// prepareArchive checks whose file it is and makes the table.
func prepareArchive(ctx context.Context, db *sql.DB, create bool) error {
	var id, tables int
	err := db.QueryRowContext(ctx, "SELECT (SELECT application_id FROM pragma_application_id), (SELECT count(*) FROM sqlite_schema)").Scan(&id, &tables)
	if err != nil {
		return err
	}
	if id != archiveID && (id != 0 || tables > 0) {
		return errors.New("it is a database of another program: move it away")
	}
	if !create {
		return nil
	}
	_, err = db.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; %s", archiveID, archiveSchema))
	return err
}

// put writes rows, and returns when they are on the disk.
func (f *archiveFile) put(ctx context.Context, rows []archivedRow) (err error) {
	db, err := f.open(ctx, true)
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("write the archive %s: %w", f.path, err)
	}
	var packed bytes.Buffer
	packer, _ := flate.NewWriter(&packed, flate.DefaultCompression) // the level is valid
	for _, row := range rows {
		packed.Reset()
		packer.Reset(&packed)
		if _, err = packer.Write(row.data); err == nil {
			err = packer.Close()
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, "INSERT OR IGNORE INTO body (seq, sum, data) VALUES (?, ?, ?)", row.seq, row.sum, packed.Bytes())
		}
		if err != nil {
			return errors.Join(fmt.Errorf("write the archive %s: %w", f.path, err), tx.Rollback())
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("write the archive %s: %w", f.path, err)
	}
	return nil
}

// get returns the data of a row that has this sum.
func (f *archiveFile) get(ctx context.Context, seq int64, sum string) (json.RawMessage, error) {
	db, err := f.open(ctx, false)
	if err != nil {
		return nil, err
	}
	var packed []byte
	err = db.QueryRowContext(ctx, "SELECT data FROM body WHERE seq = ? AND sum = ?", seq, sum).Scan(&packed)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("it has no row %d with this content", seq)
	}
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), dataLimit+1))
	if hash := sha256.Sum256(data); err != nil || hex.EncodeToString(hash[:]) != sum {
		return nil, fmt.Errorf("its row %d is damaged", seq)
	}
	return data, nil
}

// state does what [Archive.State] promises.
func (f *archiveFile) state(ctx context.Context) (state Archived, err error) {
	state.Path = f.path
	db, err := f.open(ctx, false)
	if errors.Is(err, errNoArchive) {
		return state, nil
	}
	if err == nil {
		err = db.QueryRowContext(ctx, "SELECT coalesce(max(row), 0) FROM body").Scan(&state.Rows)
	}
	state.Bytes = max(0, fileSize(f.path))
	return state, err
}

// check does what [Archive.Check] promises.
func (f *archiveFile) check(ctx context.Context) ([]string, error) {
	db, err := f.open(ctx, false)
	if errors.Is(err, errNoArchive) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	lines, err := collect(ctx, db, textColumn, "SELECT quick_check FROM pragma_quick_check")
	if err != nil || len(lines) == 1 && lines[0] == "ok" {
		return nil, err
	}
	return lines, nil
}

// copyTo writes the archive to a file that must not exist, also where its own file was removed. ok is false if
// there is none.
func (f *archiveFile) copyTo(ctx context.Context, to string) (ok bool, err error) {
	db, err := f.open(ctx, false)
	if errors.Is(err, errNoArchive) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // see Snapshot
	if err != nil {
		return false, err
	}
	err = file.Close()
	if err == nil {
		_, err = db.ExecContext(ctx, "VACUUM INTO ?", to)
	}
	if err != nil {
		return false, errors.Join(err, os.Remove(to))
	}
	return true, nil
}

func (f *archiveFile) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.db == nil {
		return nil
	}
	err := f.db.Close()
	f.db = nil
	return err
}
