package journal

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Files is a full-text index of the files that people write. It is a file of its own beside the
// journal. It may be deleted at any time, because it can be made again from the files. A [Files] is
// safe for many goroutines of one process.
//
// Changes are made one at a time, and searches run beside them, as in a [Journal]. Committed
// changes survive the death of the process, but not a loss of power.
type Files struct {
	path    string
	readers *readers
	writers *sql.DB
	writer  *writer
	writing chan struct{} // holds one value while a goroutine changes the index
	vectors vectors
}

// Document is a file as it was indexed.
type Document struct {
	Path            string
	Size            int64
	Changed         time.Time
	Hash            string // of its content, as computed by the indexer
	DependencyState string // the state of all else that its parts depend on, as computed by the indexer
	Parts           []Part // for Put only: Documents does not return them
}

// Part is a piece of a document that is found as a unit: a heading with its text.
type Part struct {
	ID    string // the id of the piece, or ""
	Title string
	Text  string
	Tags  []string
	Scope string // the scope in which it may be shown; "" for the person alone
	Day   time.Time
	Own   bool // the agent wrote it
	Line  int  // from 1
	Start int  // bytes from the beginning of the document
	End   int
	Sum   string // of the text from which its vector is made

	words *partWords // set by [Document.Cut]
}

// partWords are the words of a part in the form of the index.
type partWords struct{ title, text, tags string }

// Cut splits the parts into words. Otherwise Put does it, while other changes wait.
func (d *Document) Cut() {
	for i := range d.Parts {
		d.Parts[i].cut()
	}
}

func (p *Part) cut() {
	if p.words == nil {
		p.words, p.Text = &partWords{indexed(p.Title), indexed(p.Text), tagWords(p.Tags)}, ""
	}
}

//go:embed files.sql
var filesSchema string

// OpenFiles opens the index at path. It creates the index anew if it is missing, damaged or of
// another version. fresh reports that the index is empty.
func OpenFiles(ctx context.Context, path string) (f *Files, fresh bool, err error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, false, fmt.Errorf("find the index %s: %w", path, err)
	}
	f = &Files{path: absolute, writing: make(chan struct{}, 1)}
	if fresh, err = f.open(ctx); err == nil {
		return f, fresh, nil
	}
	if ctx.Err() != nil {
		return nil, false, errors.Join(err, f.Close())
	}
	if err := errors.Join(f.Close(), f.remove()); err != nil {
		return nil, false, fmt.Errorf("make the index %s anew: %w", absolute, err)
	}
	f = &Files{path: absolute, writing: make(chan struct{}, 1)}
	if fresh, err = f.open(ctx); err != nil {
		return nil, false, errors.Join(fmt.Errorf("open the index %s: %w", absolute, err), f.Close())
	}
	return f, fresh, nil
}

// OpenFilesToRead opens an existing index to read, whether a kernel runs or not. The error wraps
// [fs.ErrNotExist] if there is no index, and [ErrOlder] if it is of another version, which the
// kernel replaces.
func OpenFilesToRead(ctx context.Context, path string) (*Files, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	f := &Files{path: path, writing: make(chan struct{}, 1)}
	var err error
	if f.readers, err = newReaders(dataSource(path, "query_only(true)")); err != nil {
		return nil, fmt.Errorf("open the index %s: %w", path, err)
	}
	var version int
	err = f.readers.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	if err == nil && version != filesVersion {
		err = ErrOlder
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the index %s: %w", path, err), f.Close())
	}
	return f, nil
}

// Check examines the whole index and returns its faults, none if it is sound.
func (f *Files) Check(ctx context.Context) ([]string, error) {
	lines, err := collect(ctx, f.readers, textColumn, "PRAGMA quick_check(100)")
	if err != nil {
		return nil, fmt.Errorf("check the index: %w", err)
	}
	if len(lines) == 1 && lines[0] == "ok" {
		return nil, nil
	}
	return lines, nil
}

func (f *Files) remove() error {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(f.path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (f *Files) open(ctx context.Context) (fresh bool, err error) {
	if err := private(f.path); err != nil {
		return false, err
	}
	if f.writers, err = sql.Open("sqlite", dataSource(f.path, "journal_mode(wal)", "cache_size(-65536)")); err != nil {
		return false, err
	}
	if f.writer, err = newWriter(ctx, f.writers, &flushTimes{}); err != nil {
		return false, err
	}
	var version int
	if err := f.writer.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return false, err
	}
	switch version {
	case 0:
		if _, err := f.writer.conn.ExecContext(ctx, filesSchema); err != nil {
			return false, err
		}
		fresh = true
	case filesVersion:
	default:
		return false, fmt.Errorf("it is of version %d, and this program has %d", version, filesVersion)
	}
	f.readers, err = newReaders(dataSource(f.path, "query_only(true)", "cache_size(-16384)"))
	return fresh, err
}

// filesVersion is the user_version that files.sql sets.
const filesVersion = 5

// private creates a missing file that only the user can read.
func private(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return file.Close()
}

// Close waits for the running change and closes the index.
func (f *Files) Close() error {
	f.writing <- struct{}{}
	defer func() { <-f.writing }()
	var err error
	if f.writer != nil {
		err = f.writer.close()
		f.writer = nil
	}
	if f.readers != nil {
		err = errors.Join(err, f.readers.close())
	}
	if f.writers != nil {
		err = errors.Join(err, f.writers.Close())
	}
	return err
}

// Documents returns all indexed documents, by path.
func (f *Files) Documents(ctx context.Context) (map[string]Document, error) {
	documents := map[string]Document{}
	rows, err := collect(ctx, f.readers, func(row scanner) (d Document, err error) {
		var changed int64
		err = row.Scan(&d.Path, &d.Size, &changed, &d.Hash, &d.DependencyState)
		d.Changed = time.Unix(0, changed)
		return d, err
	}, "SELECT path, size, changed, hash, beside FROM document")
	if err != nil {
		return nil, fmt.Errorf("list what is indexed: %w", err)
	}
	for _, d := range rows {
		documents[d.Path] = d
	}
	return documents, nil
}

// Put indexes documents and replaces the earlier state of their paths. After an error nothing is
// changed. One call with many documents is faster than many calls.
func (f *Files) Put(ctx context.Context, documents ...Document) error {
	return f.change(ctx, "index files", func(ctx context.Context, w *writer) error {
		for _, d := range documents {
			if err := putDocument(ctx, w, d); err != nil {
				return fmt.Errorf("%s: %w", d.Path, err)
			}
		}
		return nil
	})
}

func putDocument(ctx context.Context, w *writer, d Document) error {
	if err := forget(ctx, w, d.Path); err != nil {
		return err
	}
	done, err := w.ExecContext(ctx, "INSERT INTO document (path, size, changed, hash, beside) VALUES (?, ?, ?, ?, ?)", d.Path, d.Size, d.Changed.UnixNano(), d.Hash, d.DependencyState)
	if err != nil {
		return err
	}
	id, err := done.LastInsertId()
	if err != nil {
		return err
	}
	for _, p := range d.Parts {
		if err := putPart(ctx, w, id, p); err != nil {
			return err
		}
	}
	return nil
}

func putPart(ctx context.Context, w *writer, document int64, p Part) error {
	done, err := w.ExecContext(ctx, `INSERT INTO part (document, id, title, tags, scope, day, own, line, begins, ends, sum)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, document, p.ID, p.Title, strings.Join(p.Tags, ":"), p.Scope, day(p.Day), p.Own, p.Line, p.Start, p.End, p.Sum)
	if err != nil {
		return err
	}
	row, err := done.LastInsertId()
	if err != nil {
		return err
	}
	p.cut()
	_, err = w.ExecContext(ctx, "INSERT INTO words (rowid, title, text, tags) VALUES (?, ?, ?, ?)", row, p.words.title, p.words.text, p.words.tags)
	return err
}

// Remove removes a document from the index.
func (f *Files) Remove(ctx context.Context, path string) error {
	return f.change(ctx, "take "+path+" out of the index", func(ctx context.Context, w *writer) error { return forget(ctx, w, path) })
}

// Clear removes all documents from the index.
func (f *Files) Clear(ctx context.Context) error {
	defer f.vectors.forget()
	return f.change(ctx, "empty the index", func(ctx context.Context, w *writer) error {
		for _, query := range []string{"INSERT INTO words (words) VALUES ('delete-all')", "DELETE FROM part", "DELETE FROM document", "DELETE FROM vector"} {
			if _, err := w.ExecContext(ctx, query); err != nil {
				return err
			}
		}
		return nil
	})
}

func forget(ctx context.Context, w *writer, path string) error {
	var row int64
	err := w.QueryRowContext(ctx, "SELECT row FROM document WHERE path = ?", path).Scan(&row)
	if errors.Is(err, sql.ErrNoRows) {
		return nil // without any deletion, which would make SQLite write out the new rows
	}
	for _, query := range []string{
		"DELETE FROM words WHERE rowid IN (SELECT row FROM part WHERE document = ?)",
		"DELETE FROM part WHERE document = ?",
		"DELETE FROM document WHERE row = ?",
	} {
		if err == nil {
			_, err = w.ExecContext(ctx, query, row)
		}
	}
	return err
}

// mergePages is how much of the index is merged at once, in pages of 4 kB. A change waits no longer
// than that takes.
const mergePages = 64

// Merge makes searches faster after many changes. It does a small part of the work and reports
// whether there is more. It changes no results.
func (f *Files) Merge(ctx context.Context) (more bool, err error) {
	err = f.change(ctx, "merge the index", func(ctx context.Context, w *writer) error {
		var before, after int
		if err := w.QueryRowContext(ctx, "SELECT total_changes()").Scan(&before); err != nil {
			return err
		}
		if _, err := w.ExecContext(ctx, "INSERT INTO words (words, rank) VALUES ('merge', ?)", mergePages); err != nil {
			return err
		}
		err := w.QueryRowContext(ctx, "SELECT total_changes()").Scan(&after)
		more = after-before >= 2 // the statement itself counts for one
		return err
	})
	return more, err
}

// change runs one change of the index in a transaction.
func (f *Files) change(ctx context.Context, what string, do func(context.Context, *writer) error) error {
	select {
	case f.writing <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", what, context.Cause(ctx))
	}
	defer func() { <-f.writing }()
	if f.writer == nil {
		return fmt.Errorf("%s: the index is closed", what)
	}
	if err := f.writer.transaction(context.WithoutCancel(ctx), syncNormal, do); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// day returns a day as the number that is stored, such as 20261122; 0 for none.
func day(t time.Time) int {
	if t.IsZero() {
		return 0
	}
	year, month, d := t.Date()
	return year*10000 + int(month)*100 + d
}

// tagWords returns tags as words of the index, one word for each tag.
func tagWords(tags []string) string {
	var words []string
	for _, tag := range tags {
		words = append(words, tagWord(tag))
	}
	return strings.Join(words, " ")
}

// tagWord returns a tag as one word: characters other than letters and digits are written as
// numbers.
func tagWord(tag string) string {
	var b strings.Builder
	for _, c := range fold(strings.ToLower(tag)) {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' {
			b.WriteRune(c)
		} else {
			fmt.Fprintf(&b, "0%x0", c)
		}
	}
	return b.String()
}
