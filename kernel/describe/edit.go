package describe

import (
	"fmt"
	"strings"

	"org-agent/kernel/diff"
)

// Edit returns the diff of an edit of the file at path, which is shown as name. If before occurs
// once in the file, the diff has the file's lines; otherwise it compares only before and after.
// effects are remarks for the person.
func (d Deps) Edit(path, name, before, after string) (text string, effects []string) {
	names := diff.Options{OldName: name, NewName: name}
	if path == "" || d.Read == nil {
		return diff.Unified(before, after, names), nil
	}
	source, err := d.Read(path)
	if err != nil {
		effects = append(effects, "the file cannot be read here: "+err.Error())
		return diff.Unified(before, after, names), effects
	}
	switch n := strings.Count(source, before); {
	case before == "" && source == "":
	case before == "" || n == 0:
		effects = append(effects, "the text to replace is not in the file on the disk: unless a buffer has it, nothing will be changed")
	case n > 1:
		effects = append(effects, fmt.Sprintf("the text to replace is in the file %d times: nothing will be changed", n))
	default:
		return inPlace(source, before, after, names), nil
	}
	return diff.Unified(before, after, names), effects
}

// contextBytes is how many bytes before and after the edit are searched for context lines.
const contextBytes = 4 << 10

// inPlace returns the diff of whole lines of the file, with their numbers and some context.
func inPlace(source, before, after string, names diff.Options) string {
	at := strings.Index(source, before)
	from, to := max(0, at-contextBytes), min(len(source), at+len(before)+contextBytes)
	if from > 0 {
		if end := strings.IndexByte(source[from:at], '\n'); end >= 0 {
			from += end + 1
		} else { // one very long line: the two texts show more
			return diff.Unified(before, after, names)
		}
	}
	if to < len(source) {
		if end := strings.LastIndexByte(source[at+len(before):to], '\n'); end >= 0 {
			to = at + len(before) + end + 1
		} else {
			return diff.Unified(before, after, names)
		}
	}
	names.First = 1 + strings.Count(source[:from], "\n")
	return diff.Unified(source[from:to], source[from:at]+after+source[at+len(before):to], names)
}
