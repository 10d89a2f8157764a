package journal_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"org-agent/kernel/journal"
)

const (
	crashDocuments = 10 // that are put in again and again
	crashParts     = 30 // of each of them
)

// putFilesForEver puts documents into an index, two at once, takes one out now and then and
// merges, and says on stdout which version of them is in, until it is killed. The versions go on
// behind those of the index.
func putFilesForEver(path string) int {
	ctx := context.Background()
	f, _, err := journal.OpenFiles(ctx, path)
	if err != nil {
		return complain(err)
	}
	version, _, err := versions(ctx, f)
	if err != nil {
		return complain(err)
	}
	for {
		version++
		var both []journal.Document
		for _, at := range []int{version, version + crashDocuments/2} {
			d := journal.Document{Path: fmt.Sprint("/notes/", at%crashDocuments), Hash: strconv.Itoa(version)}
			for i := range crashParts {
				d.Parts = append(d.Parts, journal.Part{Title: fmt.Sprint("version", version), Text: strings.Repeat("notes and more ", 20*i), Line: 1 + i})
			}
			d.Cut() // what follows what it says is the writing, where the kill is to fall
			both = append(both, d)
		}
		fmt.Println("put", version-1)
		if err := f.Put(ctx, both...); err != nil {
			return complain(err)
		}
		if version%3 == 0 {
			if err := f.Remove(ctx, fmt.Sprint("/notes/", (version+2)%crashDocuments)); err != nil {
				return complain(err)
			}
			if _, err := f.Merge(ctx); err != nil {
				return complain(err)
			}
		}
	}
}

// versions are those of the documents that are in, by path, and the last of them.
func versions(ctx context.Context, f *journal.Files) (last int, all map[string]int, err error) {
	documents, err := f.Documents(ctx)
	if err != nil {
		return 0, nil, err
	}
	all = map[string]int{}
	for path, d := range documents {
		if all[path], err = strconv.Atoi(d.Hash); err != nil {
			return 0, nil, err
		}
		last = max(last, all[path])
	}
	return last, all, nil
}

// checkVersions fails the test if what is found is not what the index says is in.
func checkVersions(t *testing.T, f *journal.Files, acknowledged int) {
	t.Helper()
	if damaged, err := f.Check(t.Context()); err != nil || len(damaged) > 0 {
		t.Errorf("damaged: %v %v", damaged, err)
	}
	must(t, f.Exec(t.Context(), "INSERT INTO words (words) VALUES ('integrity-check')"))
	last, all, err := versions(t.Context(), f)
	must(t, err)
	if last < acknowledged {
		t.Errorf("the last version is %d, and %d was acknowledged", last, acknowledged)
	}
	var parts, words int
	must(t, f.QueryRow(t.Context(), "SELECT (SELECT count(*) FROM part), (SELECT count(*) FROM words WHERE words MATCH 'version*')").Scan(&parts, &words))
	if want := crashParts * len(all); parts != want || words != want {
		t.Errorf("%d parts and the words of %d, and there are %d", parts, words, want)
	}
	of := map[int]int{} // how many documents are of a version
	for _, version := range all {
		of[version]++
	}
	if of[last] != 2 {
		t.Errorf("of two that were put in at once there are %d", of[last])
	}
	for version := max(0, last-2*crashDocuments); version <= last; version++ { // of older ones there is none
		got, err := f.Search(t.Context(), journal.FileQuery{Text: fmt.Sprint("version", version), AnyScope: true, Limit: journal.SearchLimit})
		must(t, err)
		if len(got) != crashParts*of[version] {
			t.Errorf("version %d is found in %d parts, and %d documents are of it", version, len(got), of[version])
		}
	}
}
