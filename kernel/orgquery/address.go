package orgquery

import (
	"fmt"
	"slices"
	"strings"

	"org-agent/kernel/protocol"
	"org-agent/kernel/suggest"
)

// Find returns the entry with that :ID:. Without an ID it returns the entry with that title path.
// The path ends with the entry's own title, and one title is enough if no other entry has it.
func (f *File) Find(id string, titles []string) (Entry, error) {
	var found []Entry
	for _, e := range f.Entries {
		if id != "" && e.OwnID() == id || id == "" && e.hasPath(titles) {
			found = append(found, e)
		}
	}
	what := "the :ID: " + id
	if id == "" {
		what = "the heading " + strings.Join(titles, " / ")
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return Entry{}, protocol.ToolErrorf(protocol.ToolNotFound, "no entry of %s has %s%s", f.Path, what, f.suggestTitle(id, titles))
	}
	if id == "" { // a whole path takes precedence over longer paths that end in it
		if whole := slices.DeleteFunc(slices.Clone(found), func(e Entry) bool { return len(e.Above)+1 != len(titles) }); len(whole) == 1 {
			return whole[0], nil
		}
	}
	var lines []string
	for _, e := range found[:min(len(found), 10)] {
		lines = append(lines, fmt.Sprint(e.Line))
	}
	return Entry{}, protocol.ToolErrorf(protocol.ToolNotUnique, "%d entries of %s have %s, on the lines %s: name the headings above it, too, or its :ID:",
		len(found), f.Path, what, strings.Join(lines, ", "))
}

// hasPath reports whether the entry's title path ends in titles.
func (e Entry) hasPath(titles []string) bool {
	all := append(slices.Clip(e.Above), e.Title)
	if len(titles) == 0 || len(titles) > len(all) {
		return false
	}
	for i, title := range titles {
		if strings.TrimSpace(title) != all[len(all)-len(titles)+i] {
			return false
		}
	}
	return true
}

// suggestTitle suggests the most similar title, for the end of an error.
func (f *File) suggestTitle(id string, titles []string) string {
	if id != "" || len(titles) == 0 {
		return ""
	}
	var names []string
	for _, e := range f.Entries {
		names = append(names, e.Title)
	}
	return suggest.Question(suggest.Of(titles[len(titles)-1], names), "%q")
}
