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

// Files is an index of the words in files that people write: what stands where. It is a
// file of its own beside the journal and may be deleted at any time; what is in it can be
// made again from the files. A [Files] is safe for many goroutines, one process at a time.
//
// Ordering and blocking are as of a [Journal]: changes are made one at a time, searches run
// beside them. What was put in survives the process, not the power.
type Files struct {
	path    string
	readers *readers
	writers *sql.DB
	writer  *writer
	writing chan struct{} // holds one value while somebody changes the index
	vectors vectors
}

// Document is a file as it was indexed.
type Document struct {
	Path    string
	Size    int64
	Changed time.Time
	Hash    string // of its content, as its indexer tells it
	Beside  string // what else its parts depend on, as its indexer tells it
	Parts   []Part // only to be put in: they are not read again
}

// Part is a piece of a document that is found as one: a heading with what stands below it.
type Part struct {
	ID    string // what the piece is called everywhere, "" if nothing
	Title string
	Text  string
	Tags  []string
	Scope string // whom it is for; "" is for the person alone
	Day   time.Time
	Own   bool // the agent wrote it
	Line  int  // from 1
	Start int  // bytes from the beginning of the document
	End   int
	Sum   string // of what its vector is made of

	words *partWords // when it was cut beforehand
}

// partWords are the words of a part, as the index has them.
type partWords struct{ title, text, tags string }

// Cut cuts the parts into words. Put does so itself otherwise, while others wait for it.
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

// OpenFiles opens the index at path, and makes it anew if it is not there, damaged, or of
// another version. Fresh reports that it is empty.
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

// OpenFilesToRead opens an index that exists, beside a kernel or without one, and changes
// nothing. The error has [fs.ErrNotExist] in its chain if there is none, and [ErrOlder] if it
// is of another version, which the kernel makes anew.
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

// Check looks through the whole index and returns what is damaged in it; nothing if it is sound.
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
	if f.writer, err = newWriter(ctx, f.writers); err != nil {
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

// private makes a missing file that only the user can read.
func private(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return file.Close()
}

// Close waits for a change that runs and closes the index.
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

// Documents returns all that is indexed, by path.
func (f *Files) Documents(ctx context.Context) (map[string]Document, error) {
	documents := map[string]Document{}
	rows, err := collect(ctx, f.readers, func(row scanner) (d Document, err error) {
		var changed int64
		err = row.Scan(&d.Path, &d.Size, &changed, &d.Hash, &d.Beside)
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

// Put indexes documents, each in place of what was indexed of its path: all of them or, after
// an error, none. Many at once take less time than one by one.
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
	done, err := w.ExecContext(ctx, "INSERT INTO document (path, size, changed, hash, beside) VALUES (?, ?, ?, ?, ?)", d.Path, d.Size, d.Changed.UnixNano(), d.Hash, d.Beside)
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

// Remove takes a document out of the index.
func (f *Files) Remove(ctx context.Context, path string) error {
	return f.change(ctx, "take "+path+" out of the index", func(ctx context.Context, w *writer) error { return forget(ctx, w, path) })
}

// Clear takes everything out of the index.
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
		return nil // and nothing is deleted: that would make SQLite write out what is new so far
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

// mergePages is how much of the index of words is merged at once, in pages of 4 kB: what is
// put in meanwhile waits for no more.
const mergePages = 64

// Merge makes a search faster after much was put in, and reports whether there is more to do.
// It does little at a time. Nothing else of what it does can be seen.
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

// change does one change of the index, whole or not at all.
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

// day is a day as the number that it is written as, 20261122; 0 for none.
func day(t time.Time) int {
	if t.IsZero() {
		return 0
	}
	year, month, d := t.Date()
	return year*10000 + int(month)*100 + d
}

// tagWords are tags as words of the index, each one word whatever is in it.
func tagWords(tags []string) string {
	var words []string
	for _, tag := range tags {
		words = append(words, tagWord(tag))
	}
	return strings.Join(words, " ")
}

// tagWord is a tag as one word: what is no letter or digit is told by its number.
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
