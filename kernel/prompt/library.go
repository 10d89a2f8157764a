package prompt

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"org-agent/kernel/withheld"
)

//go:embed sections/*.org
var shipped embed.FS

// noteBytes is the maximum size of a note of a section.
const noteBytes = 256 << 10

// Library has the templates of all sections. It is immutable.
type Library struct {
	templates map[string]template
	files     map[string]string // where each template comes from; shipped ones have no file
}

// Load returns the library of the shipped templates and of the notes in a directory. The directory
// may be "" or not exist. NAME.org replaces the template with that name, or is added to it if the
// section is fixed. A note with another name can be included, also with Org's own line #+INCLUDE:
// "NAME.org". The first lines of a note that begin with # are not part of its text, and neither is what
// is withheld from models.
//
// If there are faults the library is nil, and the caller continues to use an earlier one.
func Load(directory string) (*Library, []Fault) {
	sources, faults := shippedSources()
	if directory != "" {
		faults = append(faults, addNotes(sources, directory)...)
	}
	c := compiler{sources: sources, compiled: map[string]template{}}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		c.compile(name)
	}
	if faults = append(faults, c.faults...); len(faults) > 0 {
		return nil, faults
	}
	l := &Library{templates: c.compiled, files: map[string]string{}}
	for name, s := range sources {
		l.files[name] = s.file
	}
	return l, nil
}

func shippedSources() (map[string]source, []Fault) {
	sources := map[string]source{}
	var faults []Fault
	entries, err := shipped.ReadDir("sections")
	if err != nil {
		return sources, []Fault{{File: "sections", Line: 1, Column: 1, Message: err.Error()}}
	}
	for _, entry := range entries {
		text, err := shipped.ReadFile("sections/" + entry.Name())
		if err != nil {
			faults = append(faults, Fault{File: entry.Name(), Line: 1, Column: 1, Message: err.Error()})
		}
		name := strings.TrimSuffix(entry.Name(), ".org")
		sources[name] = sourceOf(name, "", string(text))
	}
	return sources, faults
}

// addNotes adds the notes of a directory to the sources.
func addNotes(sources map[string]source, directory string) (faults []Fault) {
	fail := func(file string, line int, format string, args ...any) {
		faults = append(faults, Fault{File: file, Line: line, Column: 1, Message: fmt.Sprintf(format, args...)})
	}
	entries, err := os.ReadDir(directory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		fail(directory, 1, "its notes cannot be listed: %v", err)
		return faults
	}
	fixed := map[string]bool{}
	for _, s := range sections() {
		fixed[s.Name] = s.Fixed
	}
	for _, entry := range entries {
		name, is := strings.CutSuffix(entry.Name(), ".org")
		if !is || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "#") {
			continue
		}
		file := filepath.Join(directory, entry.Name())
		text, err := read(file)
		if err != nil {
			fail(file, 1, "it cannot be read: %v", err)
			continue
		}
		if !utf8.ValidString(text) {
			fail(file, 1+strings.Count(text[:invalid(text)], "\n"), "it is not UTF-8 here; save it as UTF-8")
			continue
		}
		text = withheld.Org(file, text).Blanked(text)
		if fixed[name] {
			s := sources[name]
			s.text += "\n\n{{include:" + added(name) + "}}"
			sources[name] = s
			name = added(name)
		}
		sources[name] = sourceOf(name, file, text)
	}
	return faults
}

// added returns the name of the source for the note that is added to a fixed section. No file has
// this name.
func added(name string) string { return name + "/added" }

// read returns the text of a regular file that is not too large.
func read(file string) (text string, err error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", errors.Unwrap(err)
	}
	defer func() { _ = f.Close() }() // the file was only read
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("it is no regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, noteBytes+1))
	if len(data) > noteBytes {
		return "", fmt.Errorf("it is larger than %d bytes", noteBytes)
	}
	return string(data), err
}

// invalid returns the place of the first byte that is not UTF-8.
func invalid(text string) int {
	return strings.IndexFunc(text, func(c rune) bool { return c == utf8.RuneError })
}

// sourceOf returns the template in a note: the text after its first lines.
func sourceOf(name, file, text string) source {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	s := source{name: name, file: file, line: 1}
	for {
		line, rest, more := strings.Cut(text, "\n")
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' || includeLine(line) != "" || !more && line == "" {
			break
		}
		if text = rest; !more {
			break
		}
		s.line++
	}
	s.text = strings.TrimSpace(text)
	return s
}

// includeLine returns the name in an Org line #+INCLUDE: "NAME.org", or "" for any other line.
func includeLine(line string) string {
	const keyword = "#+include:"
	line = strings.TrimSpace(line)
	if len(line) < len(keyword) || !strings.EqualFold(line[:len(keyword)], keyword) {
		return ""
	}
	name := strings.Trim(strings.TrimSpace(line[len(keyword):]), `"`)
	return strings.TrimSuffix(strings.TrimPrefix(name, "./"), ".org")
}
