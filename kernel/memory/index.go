package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unicode/utf8"

	"org-agent/kernel/journal"
	"org-agent/kernel/org"
	"org-agent/kernel/withheld"
)

// Index finds what stands in the files of a home and in the person's own notes. It is a
// picture of the files: [Index.Refresh] makes it what they are, however they came to be so.
type Index struct {
	Files *journal.Files
	// Roots are directories and files that are looked through: those of the home first.
	Roots []Root
	// Outside are directories that are passed over wherever they stand.
	Outside []string
	Logger  *slog.Logger
	// Meaning finds what is said in other words; nil finds words only.
	Meaning *Meaning

	told       sync.Map     // what was logged of a file that cannot be read, by path
	refreshing atomic.Int32 // how many Refresh run
}

// Root is a directory, or a file, whose Org files are looked through.
type Root struct {
	Path string
	// Memory: what is kept, where headings may have a scope. Elsewhere, in the person's
	// notes, everything is for the person alone, whatever stands there.
	Memory bool
}

// Private is the scope of what is withheld from every model and that the person's own search
// finds ([withheld.Own]).
const Private = "@private"

const (
	// sourceBytes is the largest file that is indexed.
	sourceBytes = 32 << 20
	// batchBytes is how much text is put into the index at once: who wants one file put in waits
	// for that.
	batchBytes = 2 << 20
)

// Refresh makes the index what the files are: new and changed files are read, those that are
// gone are taken out. It returns how many that were. Files that cannot be read are logged and
// left out. A file counts as changed when its size or its time is another, or those of a file
// whose tags count for it.
func (x *Index) Refresh(ctx context.Context) (changed int, err error) {
	x.refreshing.Add(1)
	defer x.refreshing.Add(-1)
	known, err := x.Files.Documents(ctx)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	batches := make(chan []journal.Document)
	seen := map[string]bool{}
	walked := make(chan error, 1)
	go func() { // ends with the walk, which ends with ctx; its result is waited for below
		defer close(batches)
		walked <- x.walk(ctx, known, seen, batches)
	}()
	for batch := range batches {
		if err == nil {
			if err = x.Files.Put(ctx, batch...); err != nil {
				cancel()
			}
			changed += len(batch)
		}
	}
	if err = errors.Join(err, <-walked); err != nil {
		return changed, fmt.Errorf("index the notes: %w", err)
	}
	for path := range known {
		if !seen[path] {
			if err := x.Files.Remove(ctx, path); err != nil {
				return changed, err
			}
			changed++
		}
	}
	return changed, nil
}

// catchUp makes the index what some of its files are. With them go all others that changed,
// unless somebody is at that: of 100 MB that are indexed for the first time a search would
// read the rest once more, and answer when it has.
func (x *Index) catchUp(ctx context.Context, stale []string) error {
	if x.refreshing.Load() == 0 {
		_, err := x.Refresh(ctx)
		return err
	}
	for _, path := range stale {
		if err := x.Take(ctx, path); err != nil {
			return err
		}
	}
	return nil
}

// Take makes the index what one file is now; one that is in none of the roots is not in it. Whoever
// has just written a file need not wait until it is seen.
func (x *Index) Take(ctx context.Context, path string) error {
	root, there := x.rootOf(path)
	d, _, err := x.document(root, path, journal.Document{})
	switch {
	case !there || errors.Is(err, fs.ErrNotExist):
		return x.Files.Remove(ctx, path)
	case err == nil:
		return x.Files.Put(ctx, d)
	}
	return nil // who looks through all says so
}

// rootOf is the root that a file is found below.
func (x *Index) rootOf(path string) (Root, bool) {
	for _, root := range x.Roots {
		if path == root.Path || strings.HasPrefix(path, strings.TrimSuffix(root.Path, "/")+"/") {
			return root, true
		}
	}
	return Root{}, false
}

// walk sends what changed, some at a time.
func (x *Index) walk(ctx context.Context, known map[string]journal.Document, seen map[string]bool, batches chan<- []journal.Document) error {
	var batch []journal.Document
	size := 0
	send := func() error {
		if len(batch) == 0 {
			return nil
		}
		select {
		case batches <- batch:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		batch, size = nil, 0
		return nil
	}
	for _, root := range x.Roots {
		err := filepath.WalkDir(root.Path, func(path string, entry fs.DirEntry, err error) error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if skip, err := x.passedOver(root, path, entry, err); skip || seen[path] {
				return err
			}
			d, fresh, err := x.document(root, path, known[path])
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				if before, _ := x.told.Swap(path, err.Error()); before != err.Error() {
					x.Logger.Warn("a note is not indexed", "file", path, "err", err)
				}
				return nil
			}
			if seen[path] = true; !fresh {
				return nil
			}
			batch, size = append(batch, d), size+int(d.Size)
			if size >= batchBytes {
				return send()
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return send()
}

// passedOver reports whether nothing is looked for at path.
func (x *Index) passedOver(root Root, path string, entry fs.DirEntry, err error) (bool, error) {
	if err != nil {
		return true, nil // what is not there has nothing, and what may not be read neither
	}
	hidden := slices.Contains(x.Outside, path) && path != root.Path ||
		strings.HasPrefix(entry.Name(), ".") && path != root.Path
	switch {
	case entry.IsDir() && hidden:
		return true, fs.SkipDir
	case entry.IsDir():
		return true, nil
	}
	switch filepath.Ext(path) {
	case ".org":
		return hidden, nil
	case markdownEnding:
		return hidden || !root.Memory || !standsIn(path), nil
	}
	return true, nil
}

// document reads a file, unless it is as it was when it was known.
func (x *Index) document(root Root, path string, known journal.Document) (d journal.Document, fresh bool, err error) {
	info, err := os.Stat(path)
	if err == nil && known.Path != "" && known.Size == info.Size() && known.Changed.Equal(info.ModTime()) && withheld.Standing(known.Beside) {
		return known, false, nil
	}
	f, info, err := openRegular(path)
	if err != nil {
		return d, false, err
	}
	defer func() { _ = f.Close() }() // it was only read
	if info.Size() > sourceBytes {
		return d, false, fmt.Errorf("it is larger than %d MB", sourceBytes>>20)
	}
	data, err := io.ReadAll(io.LimitReader(f, sourceBytes))
	if err != nil {
		return d, false, err
	}
	sum := sha256.Sum256(data)
	d = journal.Document{Path: path, Size: info.Size(), Changed: info.ModTime(), Hash: hex.EncodeToString(sum[:])}
	d.Parts, d.Beside = partsOf(root, path, data)
	d.Cut() // here, beside whoever puts it in
	return d, true, nil
}

// openRegular opens a file to be read, and nothing else that a path may lead to: opening a
// pipe that nobody writes to would not return.
func openRegular(path string) (*os.File, os.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

var errNotRegular = errors.New("it is no regular file")

// asciiOf is a text of an unknown encoding, byte for byte, with what is not ASCII as "?", so
// that places in it are places in the file.
func asciiOf(data []byte) string {
	text := slices.Clone(data)
	for i, c := range text {
		if c >= utf8.RuneSelf {
			text[i] = '?'
		}
	}
	return string(text)
}

// partsOf are the headings of a file that may be found, and what stands before the first; and
// the stamps of the files whose tags count for it.
func partsOf(root Root, path string, data []byte) (found []journal.Part, beside string) {
	text := string(data)
	if !utf8.ValidString(text) {
		text = asciiOf(data)
	}
	if filepath.Ext(path) == markdownEnding {
		found = markdownParts(root, path, text)
	} else {
		judgement := withheld.Org(path, text)
		found, beside = orgParts(root, path, text, judgement), judgement.Stamps()
	}
	for i, p := range found {
		found[i].Sum = sumOf(meant(p))
	}
	return found, beside
}

// orgParts are those of an Org file.
func orgParts(root Root, path, text string, judgement withheld.Judgement) []journal.Part {
	d := org.Parse(text)
	name := strings.TrimSuffix(filepath.Base(path), ".org")
	day, _ := time.ParseInLocation(time.DateOnly, name, time.Local)
	fileTags := fileTags(d)
	title, _ := d.Keyword("TITLE")
	if title == "" {
		title = name
	}
	first := len(text)
	if len(d.Headings) > 0 {
		first = d.Headings[0].Start
	}
	var parts []journal.Part
	if head, level := visibleText(text[:first]), judgement.At(0); (head != "" || title != name) && level < withheld.Sealed {
		parts = append(parts, journal.Part{Title: title, Text: head, Tags: fileTags, Scope: scopeOf(root, level, ""), Day: day, Line: 1, End: first})
	}
	tags := map[*org.Heading][]string{nil: fileTags}
	for i, h := range d.Headings {
		end := len(text)
		if i+1 < len(d.Headings) {
			end = d.Headings[i+1].Start
		}
		tags[h] = append(slices.Clip(tags[h.Parent]), h.Tags...)
		level := judgement.At(h.Start)
		if h.Hidden() || level == withheld.Sealed {
			continue
		}
		r := recordOf(text, h, end, time.Local)
		p := journal.Part{ID: r.ID, Title: r.Title, Text: r.Text, Tags: tags[h], Scope: scopeOf(root, level, r.Scope), Day: r.Created, Own: r.Own, Line: r.Line, Start: r.Start, End: r.End}
		if p.Day.IsZero() {
			p.Day = day
		}
		parts = append(parts, p)
	}
	return parts
}

// scopeOf is whom a part of that level is for: what its scope says, where that counts, and
// nobody but the person where it is withheld from models.
func scopeOf(root Root, level withheld.Level, scope string) string {
	switch {
	case level > withheld.Shown:
		return Private
	case root.Memory:
		return scope
	}
	return ""
}
