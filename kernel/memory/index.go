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

// Index is the search index over the files of a home and the person's own notes. [Index.Refresh]
// brings it up to date with the files, whoever changed them.
type Index struct {
	Files *journal.Files
	// Roots are the directories and files to index, those of the home first.
	Roots []Root
	// Notes returns further directories to index: those of the person's notes at this moment. nil:
	// there are none.
	Notes func() []string
	// Outside are directories that are left out, also below a root.
	Outside    []string
	Logger     *slog.Logger
	meaning    atomic.Pointer[Meaning] // nil: a search for words only
	logged     sync.Map                // the last error that was logged for a file, by path
	refreshing atomic.Int32            // how many calls of Refresh run
}

// Root is a directory, or a file, whose Org files are indexed.
type Root struct {
	Path string
	// Memory is true if the root is the agent's memory, where headings may have a scope. In the
	// other roots, the person's notes, every heading is for the person alone.
	Memory bool
}

// AllRoots returns the directories and files that are indexed now, those of the home first.
func (x *Index) AllRoots() []Root {
	roots := slices.Clip(x.Roots)
	if x.Notes != nil {
		for _, path := range x.Notes() {
			roots = append(roots, Root{Path: path})
		}
	}
	return roots
}

// HomeRoots returns the files and the directory of a home that hold the agent's memory.
func HomeRoots(home string) (roots []Root) {
	for _, name := range []string{"MEMORY.org", "MEMORY.md", "memory"} {
		roots = append(roots, Root{Path: filepath.Join(home, name), Memory: true})
	}
	return roots
}

// private is the scope of text that is withheld from every model. Only the person's own search
// finds it; see [withheld.Private].
const private = "@private"

const (
	// sourceBytes is the maximum size of an indexed file.
	sourceBytes = 32 << 20
	// batchBytes is how much text is put into the index at once. Adding a single file has to wait
	// for such a batch.
	batchBytes = 2 << 20
)

// Refresh brings the index up to date with the files. It reads new and changed files, and removes
// files that no longer exist. It returns the number of all these. A file that cannot be read is
// logged and left out. A file counts as changed when its size or its time has changed, or that of a
// file whose tags count for it.
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

// catchUp brings the index up to date with the stale files. It refreshes all other files too,
// unless a Refresh runs: while 100 MB are indexed for the first time, a search would read the rest
// of them again before it answers.
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

// Take brings the index up to date with one file. A file outside of the roots is not indexed. Code
// that has just written a file calls it, so that the file is found at once.
func (x *Index) Take(ctx context.Context, path string) error {
	root, there := x.rootOf(path)
	d, _, err := x.document(root, path, journal.Document{})
	switch {
	case !there || errors.Is(err, fs.ErrNotExist):
		return x.Files.Remove(ctx, path)
	case err == nil:
		return x.Files.Put(ctx, d)
	}
	return nil // Refresh logs the error
}

// rootOf returns the root of a file, and whether there is one.
func (x *Index) rootOf(path string) (Root, bool) { return rootIn(x.AllRoots(), path) }

func rootIn(roots []Root, path string) (Root, bool) {
	for _, root := range roots {
		if path == root.Path || strings.HasPrefix(path, strings.TrimSuffix(root.Path, "/")+"/") {
			return root, true
		}
	}
	return Root{}, false
}

// walk sends the changed documents in batches.
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
	for _, root := range x.AllRoots() {
		err := filepath.WalkDir(root.Path, func(path string, entry fs.DirEntry, err error) error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if skip, err := x.skips(root, path, entry, err); skip || seen[path] {
				return err
			}
			d, fresh, err := x.document(root, path, known[path])
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				if before, _ := x.logged.Swap(path, err.Error()); before != err.Error() {
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

// skips reports whether the walk leaves out path.
func (x *Index) skips(root Root, path string, entry fs.DirEntry, err error) (bool, error) {
	if err != nil {
		return true, nil // a missing file has nothing to index, and an unreadable one neither
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
		return hidden || !root.Memory || !readsMarkdown(path), nil
	}
	return true, nil
}

// document reads a file if it has changed since it was indexed.
func (x *Index) document(root Root, path string, known journal.Document) (d journal.Document, fresh bool, err error) {
	info, err := os.Stat(path)
	if err == nil && known.Path != "" && known.Size == info.Size() && known.Changed.Equal(info.ModTime()) && withheld.Unchanged(known.DependencyState) {
		return known, false, nil
	}
	f, info, err := openRegular(path)
	if err != nil {
		return d, false, err
	}
	defer func() { _ = f.Close() }() // the file was only read
	if info.Size() > sourceBytes {
		return d, false, fmt.Errorf("it is larger than %d MB", sourceBytes>>20)
	}
	data, err := io.ReadAll(io.LimitReader(f, sourceBytes))
	if err != nil {
		return d, false, err
	}
	sum := sha256.Sum256(data)
	d = journal.Document{Path: path, Size: info.Size(), Changed: info.ModTime(), Hash: hex.EncodeToString(sum[:])}
	d.Parts, d.DependencyState = partsOf(root, path, data)
	d.Cut() // in this goroutine, while another one writes the index
	return d, true, nil
}

// openRegular opens a regular file for reading. It refuses anything else, because opening a pipe
// without a writer would not return.
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

// asciiOf returns a text of an unknown encoding with "?" for each byte that is not ASCII. Offsets
// in it are offsets in the file.
func asciiOf(data []byte) string {
	text := slices.Clone(data)
	for i, c := range text {
		if c >= utf8.RuneSelf {
			text[i] = '?'
		}
	}
	return string(text)
}

// partsOf returns the parts of a file that can be found: its headings, and the text before the
// first. related are the stamps of the files whose tags count for it.
func partsOf(root Root, path string, data []byte) (found []journal.Part, related string) {
	text := string(data)
	if !utf8.ValidString(text) {
		text = asciiOf(data)
	}
	if filepath.Ext(path) == markdownEnding {
		// No file's tags count for it. The version of the rule does.
		found, related = markdownParts(root, path, text), withheld.Judgement{}.Stamps()
	} else {
		judgement := withheld.Org(path, text)
		found, related = orgParts(root, path, text, judgement), judgement.Stamps()
	}
	for i, p := range found {
		found[i].Sum = sumOf(partText(p))
	}
	return found, related
}

// orgParts returns the parts of an Org file.
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
	// A note is found by its title. The title of a file of the memory says nothing that is remembered.
	titled := title != name && !root.Memory
	if head, level := visibleText(text[:first]), judgement.At(0); (head != "" || titled) && level < withheld.Sealed {
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

// scopeOf returns the scope of a part with that level. It is [private] if the part is withheld from
// models. Otherwise it is the part's own scope if the root is memory, and "" elsewhere.
func scopeOf(root Root, level withheld.Level, scope string) string {
	switch {
	case level > withheld.Shown:
		return private
	case root.Memory:
		return scope
	}
	return ""
}
