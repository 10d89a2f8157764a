package memory

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/withheld"
)

// Query is a search for parts of notes.
type Query = journal.FileQuery

// Found is a heading, or the beginning of a file, that a search found.
type Found struct {
	ID      string // "" if it has none
	Path    string
	Line    int
	Title   string
	Snippet string // a line of its text
	Places  []journal.Place
	Text    string // all of it, without drawers, at most textLimit bytes
	Day     string // "2026-11-22", "" if not known
	Tags    []string
	Scope   string
	Own     bool
	Score   float64
	Alike   bool // it was found by its meaning
}

// Day parses a day, "2026-11-22", in the local time zone. "" is the zero time.
func Day(text string) (time.Time, error) {
	if text = strings.Trim(text, "[]<> "); text == "" {
		return time.Time{}, nil
	}
	day, err := time.ParseInLocation(time.DateOnly, text, time.Local)
	if err != nil {
		return day, fmt.Errorf("%q is not a day as 2026-11-22", text)
	}
	return day, nil
}

// Place returns its place as "FILE:LINE".
func (f Found) Place() string { return fmt.Sprintf("%s:%d", f.Path, f.Line) }

// Search returns the parts that match a query, from the present content of the files. If a file
// with a hit has changed since it was indexed, Search brings the index up to date first. While a
// Refresh runs, it does so only for that file.
func (x *Index) Search(ctx context.Context, q Query) ([]Found, error) {
	return x.SearchAlike(ctx, q, "")
}

// SearchAlike does the same as Search, and also finds parts with a meaning similar to the text's,
// if the index has a [Meaning]. A query with words in quotes or word* finds only these words.
func (x *Index) SearchAlike(ctx context.Context, q Query, text string) ([]Found, error) {
	found, _, err := x.search(ctx, q, text)
	for i, f := range found {
		found[i].Snippet, found[i].Places = q.Snippet(f.Text)
	}
	return found, err
}

// search does the same as SearchAlike, without snippets. counts says how many parts have each word
// of the query.
func (x *Index) search(ctx context.Context, q Query, text string) (found []Found, counts []int, err error) {
	meaning := x.meaning.Load()
	vector := x.vectorOf(ctx, meaning, text)
	for again := true; ; again = false {
		hits, counts, err := x.Files.SearchCounted(ctx, q)
		if err != nil {
			return nil, nil, err
		}
		alike := x.similar(ctx, meaning, q, vector)
		roots := x.AllRoots()
		gone := func(h journal.FileHit) bool { // its directory was taken out of the settings since
			_, there := rootIn(roots, h.Document.Path)
			return !there
		}
		found, stale := read(slices.DeleteFunc(fuse(hits, alike, q.Limit), gone))
		if !again { // the files change faster than they can be indexed
			found = slices.DeleteFunc(found, func(f Found) bool { return slices.Contains(stale, f.Path) })
		}
		for i, f := range found {
			found[i].Alike = slices.ContainsFunc(alike, func(h journal.FileHit) bool { return h.Document.Path == f.Path && h.Part.Line == f.Line })
		}
		if len(stale) == 0 || !again {
			return found, counts, nil
		}
		if err := x.catchUp(ctx, stale); err != nil {
			return nil, nil, err
		}
	}
}

// read fills in the texts of hits. stale are the files that have changed since they were indexed.
// Hits whose part no longer exists are left out.
func read(hits []journal.FileHit) (found []Found, stale []string) {
	files := map[string][]int{} // the hits of each file, so that it is opened once
	for i, h := range hits {
		files[h.Document.Path] = append(files[h.Document.Path], i)
	}
	texts := make([]*string, len(hits))
	for path, in := range files {
		if !sections(path, hits, in, texts) {
			stale = append(stale, path)
		}
	}
	for i, h := range hits {
		if texts[i] == nil {
			continue
		}
		f := Found{ID: h.Part.ID, Path: h.Document.Path, Line: h.Part.Line, Title: h.Part.Title, Text: *texts[i], Tags: h.Part.Tags, Scope: h.Part.Scope, Own: h.Part.Own, Score: h.Score}
		if !h.Part.Day.IsZero() {
			f.Day = h.Part.Day.Format("2006-01-02")
		}
		found = append(found, f)
	}
	return found, stale
}

// sections reads the texts of the hits in a file, as far as it can. same is true if the file has
// not changed since it was indexed.
func sections(path string, hits []journal.FileHit, in []int, texts []*string) (same bool) {
	f, info, err := openRegular(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // the file was only read
	same = true
	for _, i := range in {
		h := hits[i]
		same = same && info.Size() == h.Document.Size && info.ModTime().Equal(h.Document.Changed) && withheld.Unchanged(h.Document.DependencyState)
		data, err := io.ReadAll(io.NewSectionReader(f, int64(h.Part.Start), int64(min(h.Part.End-h.Part.Start, textLimit))))
		if err != nil {
			continue
		}
		text := strings.ToValidUTF8(string(data), "")
		if filepath.Ext(path) == markdownEnding {
			text = markdownBody(text)
		} else {
			text = body(text)
		}
		texts[i] = &text
	}
	return same
}

// body returns the text of a part without its heading and drawers.
func body(text string) string {
	if strings.HasPrefix(text, "*") {
		_, text, _ = strings.Cut(text, "\n")
	}
	return visibleText(text)
}
