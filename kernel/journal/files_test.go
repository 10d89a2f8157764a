package journal_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/journal"
)

func openFiles(t testing.TB, path string) *journal.Files {
	t.Helper()
	f, _, err := journal.OpenFiles(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

func on(year int, month time.Month, d int) time.Time {
	return time.Date(year, month, d, 12, 0, 0, 0, time.UTC)
}

func TestFilesSearch(t *testing.T) {
	f := openFiles(t, filepath.Join(t.TempDir(), "index.db"))
	put := func(path string, parts ...journal.Part) {
		t.Helper()
		if err := f.Put(t.Context(), journal.Document{Path: path, Size: 1, Changed: on(2026, 1, 1), Hash: path, Parts: parts}); err != nil {
			t.Fatal(err)
		}
	}
	put("/home/memory/2026-11-21.org",
		journal.Part{Title: "The car is blue", Text: "Bought in Oslo.", Tags: []string{"car", "home_office"}, Day: on(2026, 11, 21), Line: 1},
		journal.Part{Title: "Ola's birthday", Text: "On the third of May. A car is no present.", Day: on(2026, 11, 21), Line: 9})
	put("/home/MEMORY.org", journal.Part{Title: "Secret", Text: "The safe is behind the car.", Scope: "family", Line: 1},
		journal.Part{Title: "北京的天气很好", Text: "我们明天去长城", Line: 7}, journal.Part{Title: "Überraschung", Text: "Ein naïver Straßenname", Day: on(2025, 1, 2), Line: 12})
	put("/home/org/100%_done.org", journal.Part{Title: "car car car", Line: 1})
	all := []string{"", "family"}
	for name, c := range map[string]struct {
		query journal.FileQuery
		want  string // titles, best first
	}{
		"a word":               {journal.FileQuery{Text: "car"}, "car car car|The car is blue|Ola's birthday"},
		"two words":            {journal.FileQuery{Text: "car oslo"}, "The car is blue"},
		"any of two":           {journal.FileQuery{Text: "oslo may", Any: true}, "The car is blue|Ola's birthday"},
		"a phrase":             {journal.FileQuery{Text: `"car is"`}, "The car is blue|Ola's birthday"},
		"a beginning":          {journal.FileQuery{Text: "birth*"}, "Ola's birthday"},
		"a scope":              {journal.FileQuery{Text: "safe", Scopes: all}, "Secret"},
		"not in scope":         {journal.FileQuery{Text: "safe"}, ""},
		"only the scope":       {journal.FileQuery{Text: "car", Scopes: []string{"family"}}, "Secret"},
		"no scope":             {journal.FileQuery{Text: "car", Scopes: []string{}}, ""},
		"a tag":                {journal.FileQuery{Tags: []string{"car"}}, "The car is blue"},
		"a tag and a word":     {journal.FileQuery{Text: "oslo", Tags: []string{"home_office"}}, "The car is blue"},
		"a tag that is a word": {journal.FileQuery{Tags: []string{"oslo"}}, ""},
		"part of a tag":        {journal.FileQuery{Tags: []string{"home"}}, ""},
		"days":                 {journal.FileQuery{From: on(2026, 11, 1), To: on(2026, 11, 30)}, "The car is blue|Ola's birthday"},
		"until a day":          {journal.FileQuery{To: on(2025, 12, 31)}, "Überraschung"},
		"under a directory":    {journal.FileQuery{Text: "car", Under: []string{"/home/memory", "/nowhere"}}, "The car is blue|Ola's birthday"},
		"in a file":            {journal.FileQuery{Text: "car", Under: []string{"/home/org/100%_done.org"}}, "car car car"},
		"not by a name's part": {journal.FileQuery{Text: "car", Under: []string{"/home/mem"}}, ""},
		"Chinese":              {journal.FileQuery{Text: "天气"}, "北京的天气很好"},
		"Chinese in a text":    {journal.FileQuery{Text: "长城"}, "北京的天气很好"},
		"without accents":      {journal.FileQuery{Text: "uberraschung naiver"}, "Überraschung"},
		"quotes and signs":     {journal.FileQuery{Text: `" car' OR ( * NEAR -- oslo;`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := titles(t, f, c.query); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if _, err := f.Search(t.Context(), journal.FileQuery{Text: " -- ", Scopes: all}); err == nil || !strings.Contains(err.Error(), "nothing to look for") {
		t.Errorf("without a word: %v", err)
	}
	line, places := journal.FileQuery{Text: "oslo"}.Snippet("Bought\n in Oslo. ")
	if line != "Bought in Oslo." || len(places) != 1 || places[0] != (journal.Place{10, 14}) {
		t.Errorf("the snippet is %q %v", line, places)
	}
}

// titles are what a query finds, best first; one that names no scope looks in that of the person alone.
func titles(t *testing.T, f *journal.Files, query journal.FileQuery) string {
	t.Helper()
	if query.Scopes == nil {
		query.Scopes = []string{""}
	}
	hits, err := f.Search(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, h := range hits {
		titles = append(titles, h.Part.Title)
	}
	return strings.Join(titles, "|")
}

// TestFilesCommonWords: words that stand nearly everywhere are asked for, and do not decide
// which is best.
func TestFilesCommonWords(t *testing.T) {
	f := openFiles(t, filepath.Join(t.TempDir(), "index.db"))
	var parts []journal.Part
	for i := range journal.CommonParts + 10 {
		parts = append(parts, journal.Part{Title: fmt.Sprintf("the part %d", i), Text: "of the whole", Day: on(2020, 1, 1).AddDate(0, 0, i), Line: i + 1})
	}
	parts = append(parts, journal.Part{Title: "whole samovar", Line: 1}, journal.Part{Title: "samovar", Text: "the whole of it", Line: 2})
	if err := f.Put(t.Context(), journal.Document{Path: "/a", Parts: parts}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		query journal.FileQuery
		want  string // the first two titles
	}{
		"with a rare one":      {journal.FileQuery{Text: "the samovar"}, "samovar"},
		"any, with a rare one": {journal.FileQuery{Text: "the samovar", Any: true}, "whole samovar|samovar"},
		"all common":           {journal.FileQuery{Text: "the whole"}, "the part 3009|the part 3008"},
		"any, all common":      {journal.FileQuery{Text: "the whole", Any: true}, "the part 3009|the part 3008"},
		"common, on a day":     {journal.FileQuery{Text: "the", To: on(2028, 2, 29)}, "the part 2981|the part 2980"},
		"common, in no scope":  {journal.FileQuery{Text: "the", Scopes: []string{"x"}}, ""},
	} {
		c.query.Limit = 2
		if got := titles(t, f, c.query); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestFilesCounts: how usual words are is told by the numbers that they have in a text.
func TestFilesCounts(t *testing.T) {
	f := openFiles(t, filepath.Join(t.TempDir(), "index.db"))
	if err := f.Put(t.Context(), journal.Document{Path: "/a", Parts: []journal.Part{{Title: "tea", Line: 1}, {Title: "Thé", Text: "tea", Line: 2}, {Title: "quite another", Scope: "x", Text: "the", Line: 3}}}); err != nil {
		t.Fatal(err)
	}
	q := journal.FileQuery{Text: `thé THE nowhere tea "quite another"`, Any: true, AnyScope: true}
	hits, counts, err := f.SearchCounted(t.Context(), q)
	if err != nil || len(hits) != 3 || !slices.Equal(counts, []int{2, 0, 2, 1}) {
		t.Errorf("%d hits, counts %v, %v", len(hits), counts, err)
	}
	if got := q.Matched("the tea"); !slices.Equal(got, []int{0, 2}) {
		t.Errorf("matched %v", got)
	}
}

// TestFilesChange: what is put in again is as if it had been the first, and what is removed
// as if it had never been.
func TestFilesChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	f := openFiles(t, path)
	count := func(text string) int {
		t.Helper()
		hits, err := f.Search(t.Context(), journal.FileQuery{Text: text, Scopes: []string{""}})
		if err != nil {
			t.Fatal(err)
		}
		return len(hits)
	}
	for i, text := range []string{"one two", "two three", "three"} {
		if err := f.Put(t.Context(), journal.Document{Path: "/a", Hash: fmt.Sprint(i), Parts: []journal.Part{{Title: text}, {Text: text}}}); err != nil {
			t.Fatal(err)
		}
	}
	if got := []int{count("one"), count("two"), count("three")}; fmt.Sprint(got) != "[0 0 2]" {
		t.Errorf("found %v", got)
	}
	documents, err := f.Documents(t.Context())
	if err != nil || len(documents) != 1 || documents["/a"].Hash != "2" {
		t.Errorf("the documents are %v (%v)", documents, err)
	}
	if err := f.Remove(t.Context(), "/a"); err != nil {
		t.Fatal(err)
	}
	if documents, err := f.Documents(t.Context()); err != nil || len(documents) != 0 || count("three") != 0 {
		t.Errorf("there are %v (%v)", documents, err)
	}
}

// TestFilesMadeAnew: an index that is no use is made anew, and says that it is empty.
func TestFilesMadeAnew(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"no database": func(path string) error {
			return os.WriteFile(path, []byte("this is no database at all, not a bit"), 0o600)
		},
		"another's": func(path string) error {
			return os.WriteFile(path, []byte("SQLite format 3\x00"+strings.Repeat("x", 9000)), 0o600)
		},
		"empty":         func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"of tomorrow":   func(path string) error { return setVersion(path, 99) },
		"without words": func(path string) error { return os.Remove(path) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "index.db")
			f, fresh, err := journal.OpenFiles(t.Context(), path)
			if err != nil || !fresh {
				t.Fatal(fresh, err)
			}
			if err := f.Put(t.Context(), journal.Document{Path: "/a", Parts: []journal.Part{{Title: "one"}}}); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			if err := damage(path); err != nil {
				t.Fatal(err)
			}
			f, fresh, err = journal.OpenFiles(t.Context(), path)
			if err != nil || !fresh {
				t.Fatalf("fresh: %v, %v", fresh, err)
			}
			if documents, err := f.Documents(t.Context()); err != nil || len(documents) != 0 {
				t.Errorf("there are %v (%v)", documents, err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			f, fresh, err = journal.OpenFiles(t.Context(), path)
			if err != nil || fresh {
				t.Fatalf("opened again, fresh: %v, %v", fresh, err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func setVersion(path string, version int) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	data[63] = byte(version) // the end of user_version in the header
	return os.WriteFile(path, data, 0o600)
}

// BenchmarkFiles indexes notes of 100 kB each, and searches them.
func BenchmarkFiles(b *testing.B) {
	f := openFiles(b, filepath.Join(b.TempDir(), "index.db"))
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.1, 3, 200_000)
	text := func(words int) string {
		var t strings.Builder
		for range words {
			fmt.Fprintf(&t, "w%x ", zipf.Uint64())
		}
		return t.String()
	}
	var parts []journal.Part
	size := 0
	for range 250 {
		p := journal.Part{Title: text(5), Text: text(70)}
		size += len(p.Title) + len(p.Text)
		parts = append(parts, p)
	}
	b.SetBytes(20 * int64(size))
	n := 0
	for b.Loop() {
		var documents []journal.Document
		for range 20 {
			n++
			documents = append(documents, journal.Document{Path: fmt.Sprint("/notes/", n), Parts: parts})
		}
		if err := f.Put(b.Context(), documents...); err != nil {
			b.Fatal(err)
		}
	}
}

// Merging ends, and changes nothing that is found: not what was put in, nor what was taken out.
func TestFilesMerge(t *testing.T) {
	f := openFiles(t, filepath.Join(t.TempDir(), "index.db"))
	for i := range 40 {
		d := journal.Document{Path: fmt.Sprintf("/%d.org", i%30), Hash: "x", Parts: []journal.Part{{Title: fmt.Sprint("note ", i), Text: strings.Repeat(fmt.Sprintf("word%d shared ", i), 20), Line: 1}}}
		if i%2 == 0 {
			d.Cut()
		}
		if err := f.Put(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Remove(t.Context(), "/20.org"); err != nil {
		t.Fatal(err)
	}
	segments := func() (count int) {
		if err := f.QueryRow(t.Context(), "SELECT count(DISTINCT segid) FROM words_idx").Scan(&count); err != nil {
			t.Fatal(err)
		}
		return count
	}
	found := func() (titles []string) {
		for _, query := range []string{"shared", "word3", "word33", "word20"} {
			hits, err := f.Search(t.Context(), journal.FileQuery{Text: query, Scopes: []string{""}, Limit: 100})
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range hits {
				titles = append(titles, h.Part.Title)
			}
			titles = append(titles, "|")
		}
		return titles
	}
	before, pieces := fmt.Sprint(found()), segments()
	if pieces < 20 {
		t.Fatalf("%d segments: whoever puts something in waits for merging", pieces)
	}
	calls := 0
	for more := true; more; calls++ {
		var err error
		if more, err = f.Merge(t.Context()); err != nil || calls == 100 {
			t.Fatal(calls, err)
		}
	}
	if after := fmt.Sprint(found()); after != before || segments() >= 8 {
		t.Errorf("after %d calls there are %d segments and found is\n%s\nbefore it was\n%s", calls, segments(), after, before)
	}
}
