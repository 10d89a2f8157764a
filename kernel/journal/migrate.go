package journal

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"org-agent/kernel/protocol"
)

// schemas holds one file per version, N.sql, run once each in order.
//
//go:embed schema/*.sql
var schemas embed.FS

// schemaVersion is the version that this program reads and writes. SQLite stores the version of a
// file in user_version.
const schemaVersion = 22

// applicationID marks the file as a journal ("oajl"), so that the database of another program is
// refused and not written to.
const applicationID = 0x6f616a6c

// migrate brings the file to schemaVersion in one transaction, so that two processes that open a
// new file at once migrate it once. With kept it keeps a copy of a file
// of an older version.
func (d *database) migrate(ctx context.Context, kept bool) error {
	version, err := d.checkVersion(ctx, d.writer.conn)
	if err != nil {
		return err
	}
	if version == 0 { // later it would have to be written anew
		if _, err := d.writer.conn.ExecContext(ctx, shrinking); err != nil {
			return err
		}
	}
	if err := d.writeAhead(ctx); err != nil || version == schemaVersion {
		return err
	}
	u, copying := &upgrading{report: d.progress, size: fileSize(d.path)}, time.Duration(0)
	if version > 0 && kept {
		began := time.Now()
		err := u.during(0, upgradeCopied, func(time.Duration) float64 { return ratio(copyName(d.path), u.size) }, func() error { return keepCopy(ctx, d, version) })
		if err != nil {
			return err
		}
		copying = time.Since(began)
	}
	err = d.transact(ctx, "bring the journal up to date", func(ctx context.Context, tx *writer) error {
		version, err := d.checkVersion(ctx, tx)
		if err != nil {
			return err
		}
		for ; version < schemaVersion; version++ {
			script, err := schemas.ReadFile(fmt.Sprintf("schema/%d.sql", version+1))
			if err != nil {
				return fmt.Errorf("read schema %d: %w", version+1, err)
			}
			if version+1 == 5 {
				if err := putIndexAside(ctx, tx); err != nil {
					return err
				}
			}
			if _, err := tx.conn.ExecContext(ctx, string(script)); err != nil {
				return fmt.Errorf("apply schema %d: %w", version+1, err)
			}
		}
		_, err = tx.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, schemaVersion))
		return err
	})
	if err == nil && version > 0 && version < 18 {
		// SQLite makes a new file that nobody sees, which takes about as long as the copy took, and writes it to the log.
		part := func(spent time.Duration) float64 {
			return min(float64(spent)/float64(max(copying, time.Second)), 1)/2 + ratio(d.path+"-wal", u.size)/2
		}
		// Without room for it the journal stays as it is: what is freed in it is used again, and not given back.
		_ = u.during(upgradeMigrated, 100, part, func() error {
			_, err := d.writer.conn.ExecContext(ctx, shrinking+"; VACUUM")
			return err
		})
	}
	return err
}

// shrinking is the mode in which free pages can be given back, by [Archive.Move]. A file that is not new has
// to be written anew for it.
const (
	shrinking       = "PRAGMA auto_vacuum = 2"
	shrinksOnDemand = 2
)

// writeAhead switches the file to WAL mode, which is stored in the file. In this mode readers never
// wait for the writer, and a commit survives the process without a flush. SQLite does not wait for
// another process that does the same at this moment, so this function does.
func (d *database) writeAhead(ctx context.Context) error {
	for deadline := time.Now().Add(5 * time.Second); ; {
		var mode string
		err := d.writer.conn.QueryRowContext(ctx, "PRAGMA journal_mode = wal").Scan(&mode)
		if reason, ok := errors.AsType[*sqlite.Error](err); ok && reason.Code()&0xff == sqlite3.SQLITE_BUSY && time.Now().Before(deadline) {
			select {
			case <-time.After(5 * time.Millisecond):
				continue
			case <-ctx.Done():
			}
		}
		if err == nil && mode != "wal" {
			return protocol.Errorf(protocol.CodeStorage,
				"the file system of %s cannot hold the journal (it is in %s mode): set XDG_STATE_HOME to a directory on a local disk", filepath.Dir(d.path), mode)
		}
		return err
	}
}

// checkVersion returns the version of the file, 0 for an empty file, and an error if this program
// must not write the file.
func (d *database) checkVersion(ctx context.Context, from reader) (version int, err error) {
	var application, tables int
	err = from.QueryRowContext(ctx,
		"SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)",
	).Scan(&application, &version, &tables)
	switch {
	case err != nil:
		return 0, err
	case application != applicationID && (application != 0 || version != 0 || tables != 0):
		return 0, protocol.Errorf(protocol.CodeStorage,
			"%s is a database of another program: move it away, and org-agent begins a new journal", d.path)
	case version > schemaVersion:
		return 0, protocol.Errorf(protocol.CodeStorage,
			"the journal %s was written by a newer org-agent (schema %d, this one knows %d): run the newer one, or set XDG_STATE_HOME to another directory to begin a new journal",
			d.path, version, schemaVersion)
	}
	return version, nil
}
