package inert

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// A File is what a file has that a text must not have as well, or that reaches for a name: the names
// of its blocks and tables, those that its calls and its noweb references ask for, and the labels of
// its footnotes.
type File struct {
	names  map[string]bool // in lower case
	labels map[string]bool
}

var (
	fileNames = regexp.MustCompile(`(?im)^[ \t]*#\+(?:name|data|label|resname|source|srcname|tblname|results?)(?:\[[^\]\n]*\])?:[ \t]*(\S[^\n]*?)[ \t]*$` +
		`|<<([^<>\n]+)>>|^[ \t]*#\+call:[ \t]*([^ \t\n(\[]+)|\bcall_([^ \t\n(\[]+)[\[(]|\bremote\(([^,)\n]+),|[ \t]:(?:var|post|stdin)[ \t]+([^\n]*)`)
	fileLabels = regexp.MustCompile(`\[fn:([-_\pL\pN]+)[\]:]`)
	reference  = regexp.MustCompile(`[^ \t=,()\[\]"]+`)
)

// inFile is what the file has that the text goes to.
func (w *Writer) inFile() *File {
	if w.file == nil && w.options.File != nil {
		w.file = w.options.File()
	}
	if w.file == nil {
		w.file = &File{}
	}
	return w.file
}

// Read returns what a file has.
func Read(text string) *File {
	f := &File{names: map[string]bool{}, labels: map[string]bool{}}
	for _, match := range fileNames.FindAllStringSubmatch(text, -1) {
		for _, name := range match[1:6] {
			if name != "" {
				f.names[strings.ToLower(strings.TrimSpace(name))] = true
			}
		}
		for _, name := range reference.FindAllString(match[6], -1) {
			f.names[strings.ToLower(name)] = true
		}
	}
	for _, match := range fileLabels.FindAllStringSubmatch(text, -1) {
		f.labels[match[1]] = true
	}
	return f
}

// has reports whether the file has a name or reaches for it.
func (f *File) has(name string) bool { return f.names[strings.ToLower(strings.TrimSpace(name))] }

// label is what a footnote's label becomes: another one if the file has it. The same label always
// becomes the same.
func (w *Writer) label(label string) string {
	if given, ok := w.labels[label]; ok {
		return given
	}
	given := label
	for n := 2; w.inFile().labels[given] || w.given[given]; n++ {
		given = label + "-" + strconv.Itoa(n)
	}
	if w.labels == nil {
		w.labels, w.given = map[string]string{}, map[string]bool{}
	}
	w.labels[label], w.given[given] = given, true
	return given
}

// isLabel reports whether a footnote's label may have a character.
func isLabel(r rune) bool { return r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
