package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
)

// database is the file of a journal: one connection that writes, a few that read, and the writes
// that wait for the next change. Each part of a [Journal] has it. It is safe for many goroutines.
type database struct {
	path     string
	readers  *readers
	writers  *sql.DB
	writer   *writer       // the only one: a second one would have to read again what the first one wrote
	writing  chan struct{} // holds one value while a goroutine uses the writer, or after close
	closed   bool
	salvaged bool // it was written elsewhere, and this file is not used any more
	marked   bool // by [Start], while a kernel has it open
	deferred deferredQueue
	flushes  flushTimes
	archive  *archiveFile
	// progress is called while a journal of an older schema is brought up to date. May be nil.
	progress func(text string)
}

func newDatabase(path string) *database {
	return &database{path: path, writing: make(chan struct{}, 1), deferred: deferredQueue{longest: deferredTime}, archive: &archiveFile{path: ArchivePath(path)}}
}

// open opens the connection that writes, then those that read. With kept it keeps a copy of a journal of an
// older schema.
func (d *database) open(ctx context.Context, kept bool) (err error) {
	if err := d.openWriter(ctx); err != nil {
		return err
	}
	if err := d.migrate(ctx, kept); err != nil {
		return err
	}
	d.readers, err = newReaders(dataSource(d.path, "query_only(true)"))
	return err
}

// openWriter opens the connection that writes.
func (d *database) openWriter(ctx context.Context) (err error) {
	if d.writers, err = sql.Open("sqlite", dataSource(d.path)); err != nil {
		return err
	}
	d.writer, err = newWriter(ctx, d.writers, &d.flushes)
	return err
}

// close does what [Journal.Close] promises.
func (d *database) close() error {
	waiting := d.deferred.close()
	d.writing <- struct{}{}
	defer func() { <-d.writing }()
	if d.closed {
		return nil
	}
	d.closed = true
	var err error
	if !d.salvaged {
		err = d.flushDeferred(context.Background(), waiting)
	}
	if d.marked && err == nil {
		err = unmark(d)
	}
	if d.writer != nil {
		err = errors.Join(err, d.writer.close())
	}
	if d.readers != nil {
		err = errors.Join(err, d.readers.close())
	}
	if d.writers != nil {
		err = errors.Join(err, d.writers.Close())
	}
	if err = errors.Join(err, d.archive.close()); err != nil {
		return fmt.Errorf("close the journal %s: %w", d.path, err)
	}
	return nil
}

// createFile creates a missing file with mode 0600, because SQLite would create one that others can
// read. It removes the rights of others from an existing file. It does not open an existing file,
// because closing it would drop the locks that SQLite holds in this process.
func (d *database) createFile() error {
	info, err := os.Stat(d.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		file, err := os.OpenFile(d.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return nil // another process created it
		}
		if err != nil {
			return d.unusable(err)
		}
		return d.unusable(file.Close())
	case err != nil:
		return d.unusable(err)
	case !info.Mode().IsRegular():
		return d.unusable(errors.New("it is not a regular file"))
	case info.Mode().Perm()&0o077 != 0:
		return d.unusable(os.Chmod(d.path, 0o600))
	}
	return nil
}

// besideSource is dataSource for a process that only reads. Where there is a log, a kernel has the journal
// open or has died, and the log is left to it: the last process that closes a database would merge and
// remove it.
func besideSource(path string, pragmas ...string) string {
	source := dataSource(path, pragmas...)
	if _, err := os.Stat(path + "-wal"); err == nil {
		source += "&mode=ro"
	}
	return source
}

// dataSource returns the driver's name for the file. Every connection waits up to five seconds for
// another process. With recursive triggers, a REPLACE runs the triggers of a removal.
func dataSource(path string, pragmas ...string) string {
	query := url.Values{}
	for _, pragma := range append([]string{
		"busy_timeout(5000)", "foreign_keys(true)", "recursive_triggers(true)", "journal_size_limit(67108864)",
	}, pragmas...) {
		query.Add("_pragma", pragma)
	}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: query.Encode()}).String()
}

// errReadOnly is the error of a write to a journal that was opened by [OpenToRead].
var errReadOnly = errors.New("the journal was opened to be read")

// transact waits until the caller may write and then runs change in a transaction. doing names the
// change in errors.
func (d *database) transact(ctx context.Context, doing string, change func(context.Context, *writer) error) error {
	select {
	case d.writing <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", doing, context.Cause(ctx))
	}
	defer func() { <-d.writing }()
	if d.writer == nil {
		return fmt.Errorf("%s: %w", doing, errReadOnly)
	}
	if d.salvaged {
		return d.unusable(errors.New("it was removed, and the kernel ends: send again when the next one runs"))
	}
	ctx = context.WithoutCancel(ctx)
	return d.failure(ctx, doing, d.withDeferred(ctx, change))
}
