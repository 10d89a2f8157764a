package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"org-agent/kernel/journal/pages"
	"org-agent/kernel/protocol"
)

// Salvaged is the result of [SalvageFile].
type Salvaged struct {
	// Kept is where the damaged file is now. The files that SQLite puts beside a database are beside it.
	Kept string
	// Rows is the number of rows of the journal that could be read. Missing is the number of those
	// before the last one that could not. How many came after that one nobody can know.
	Rows, Missing int
	Turns         int
	// Incident is what a person is told. It is in the new journal.
	Incident Incident
}

// String says in a sentence for a person what was saved.
func (s Salvaged) String() string {
	text := fmt.Sprintf("%d of its rows, with %d questions, were saved into a new file", s.Rows, s.Turns)
	if s.Missing > 0 {
		text += fmt.Sprintf(", and at least %d could not be read", s.Missing)
	}
	return text + ". The former file is kept as " + s.Kept + ". Answered questions that are not in the new one stay in the conversations and are not sent again"
}

// ErrNothingSalvaged is the error of [SalvageFile] for a file without a row that can be read.
var ErrNothingSalvaged = errors.New("no row of a journal can be read in it")

// SalvageFile puts a new journal in the place of a damaged one, with all rows that can be read from the pages
// of the file and its log. The damaged files are renamed and not changed. No process may have the
// journal open. reason says what is wrong with it. If nothing can be read, or anything fails, the files
// stay as they are.
func SalvageFile(ctx context.Context, path, reason string) (saved Salvaged, err error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return saved, fmt.Errorf("find the journal %s: %w", path, err)
	}
	source, err := pages.Open(absolute)
	if err != nil {
		return saved, protocol.Errorf(protocol.CodeStorage, "salvage the journal: %w", err)
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	fresh := newDatabase(absolute + ".salvaging")
	if err := removeDatabase(fresh.path); err != nil {
		return saved, fresh.unusable(err)
	}
	kept, err := freeName(absolute, "damaged")
	if err != nil {
		return saved, fresh.unusable(err)
	}
	if saved, err = fill(ctx, fresh, source); err == nil {
		saved.Kept = kept
		saved.Incident = Incident{now(), fmt.Sprintf("the journal %s %s: %s", absolute, reason, saved)}
		err = fresh.writeIncidents(ctx, saved.Incident)
	}
	if err = errors.Join(err, fresh.close()); err == nil {
		err = syncFile(fresh.path)
	}
	if err != nil {
		return Salvaged{}, errors.Join(fresh.failure(ctx, "salvage the journal "+absolute, err), removeDatabase(fresh.path))
	}
	if err = moveAside(absolute, kept); err == nil {
		err = os.Rename(fresh.path, absolute)
	}
	if err = errors.Join(err, syncFile(filepath.Dir(absolute))); err != nil {
		return saved, fresh.unusable(err)
	}
	return saved, nil
}

// fill makes the database with the rows of the source.
func fill(ctx context.Context, d *database, source *pages.Source) (saved Salvaged, err error) {
	version := schemaVersion
	if known := source.Version(); source.HasHeader() && known > 0 {
		version = known
	}
	if version > schemaVersion {
		return saved, protocol.Errorf(protocol.CodeStorage, "the damaged journal was written by a newer org-agent (schema %d): salvage it with that one", version)
	}
	if err := d.createFile(); err != nil {
		return saved, err
	}
	if err := openAlone(ctx, d); err != nil {
		return saved, err
	}
	if err := makeSchema(ctx, d, version); err != nil {
		return saved, err
	}
	err = d.writer.transaction(ctx, syncNormal, func(ctx context.Context, tx *writer) error {
		return (&salvage{tx: tx, reader: pages.NewReader(source), version: version}).copyTables(ctx)
	})
	if err != nil {
		return saved, err
	}
	if err := d.migrate(ctx, false); err != nil {
		return saved, err
	}
	err = d.writer.transaction(ctx, syncNormal, rebuild)
	if err != nil {
		return saved, err
	}
	row := d.writer.QueryRowContext(ctx, "SELECT count(*), coalesce(max(seq), 0) - count(*), (SELECT count(*) FROM turn) FROM journal")
	if err := row.Scan(&saved.Rows, &saved.Missing, &saved.Turns); err != nil {
		return saved, err
	}
	if saved.Rows == 0 {
		return saved, ErrNothingSalvaged
	}
	return saved, nil
}

// openAlone opens a connection that writes and does not check references between tables.
func openAlone(ctx context.Context, d *database) (err error) {
	if err := d.openWriter(ctx); err != nil {
		return err
	}
	_, err = d.writer.conn.ExecContext(ctx, shrinking+"; PRAGMA foreign_keys = OFF")
	return err
}

// makeSchema makes the tables of a version in a new database.
func makeSchema(ctx context.Context, d *database, version int) error {
	for v := 1; v <= version; v++ {
		script, err := schemas.ReadFile(fmt.Sprintf("schema/%d.sql", v))
		if err != nil {
			return fmt.Errorf("read schema %d: %w", v, err)
		}
		if _, err := d.writer.conn.ExecContext(ctx, string(script)); err != nil {
			return fmt.Errorf("apply schema %d: %w", v, err)
		}
	}
	_, err := d.writer.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, version))
	return err
}

// besides are the ends of the names of the files of a journal: SQLite's, and the mark of a kernel that
// has it open.
var besides = [...]string{"", "-wal", "-shm", OpenMark}

// MoveAside renames the files of a journal, so that the next kernel begins a new one. It returns the new
// name.
func MoveAside(path string) (kept string, err error) {
	if kept, err = freeName(path, "damaged"); err != nil {
		return "", err
	}
	return kept, moveAside(path, kept)
}

// moveAside renames the files of a journal.
func moveAside(path, kept string) (err error) {
	for _, suffix := range besides {
		if moved := os.Rename(path+suffix, kept+suffix); !errors.Is(moved, fs.ErrNotExist) {
			err = errors.Join(err, moved)
		}
	}
	return err
}

// removeDatabase removes the files of a database, if there are any.
func removeDatabase(path string) (err error) {
	for _, suffix := range besides {
		if removed := os.Remove(path + suffix); !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, removed)
		}
	}
	return err
}

// syncFile waits until a file, or the names in a directory, are on the disk.
func syncFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
