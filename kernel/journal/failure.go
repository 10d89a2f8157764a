package journal

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"org-agent/kernel/protocol"
)

// failure returns an error with advice for a person in place of an error of SQLite. Errors that
// have advice, and those of the context, stay as they are. nil stays nil.
func (d *database) failure(ctx context.Context, doing string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*protocol.Error](err); ok {
		return err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", doing, context.Cause(ctx))
	}
	reason, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return protocol.Errorf(protocol.CodeStorage, "%s in %s: %w", doing, d.path, err)
	}
	return protocol.Errorf(protocol.CodeStorage, "%s: %w", d.advice(reason.Code()), err)
}

// advice describes the fault of the file and its remedy by SQLite's result code, of which the low
// byte is the code and the rest is detail.
func (d *database) advice(code int) string {
	directory := filepath.Dir(d.path)
	switch code & 0xff {
	case sqlite3.SQLITE_FULL:
		return fmt.Sprintf("the disk of %s is full: free space and send again", directory)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH, sqlite3.SQLITE_CANTOPEN:
		return fmt.Sprintf("the journal %s cannot be written: the file and its directory must be yours and writable", d.path)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fmt.Sprintf("the journal %s is damaged: \"org-agent stop\" and \"org-agent doctor --fix\" save what can be read of it (your conversations are in the home's sessions/ and stay)", d.path)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Sprintf("another process is holding the journal %s: try again, or find it with: fuser %s", d.path, d.path)
	case sqlite3.SQLITE_IOERR:
		return fmt.Sprintf("the disk of %s could not be read or written: look at the system's log, then send again", directory)
	case sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_NOMEM:
		return "this is too large for the journal: send a part, or name a file"
	}
	return fmt.Sprintf("the journal %s could not be used", d.path)
}

// unusable returns an error that explains why the file could not be created or examined. nil stays
// nil.
func (d *database) unusable(err error) error {
	if err == nil {
		return nil
	}
	directory := filepath.Dir(d.path)
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return protocol.Errorf(protocol.CodeStorage, "%s: %w", d.advice(sqlite3.SQLITE_FULL), err)
	}
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR) {
		return protocol.Errorf(protocol.CodeStorage, "the journal needs the directory %s: make it, or set XDG_STATE_HOME to one that exists: %w", directory, err)
	}
	return protocol.Errorf(protocol.CodeStorage, "%s: %w", d.advice(sqlite3.SQLITE_CANTOPEN), err)
}
