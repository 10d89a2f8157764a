package skill

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// maximumNote is the number of bytes a note may have.
const maximumNote = 8 << 20

// maximumNotes is the number of notes read from one place.
const maximumNotes = 10_000

// origin is where notes come from.
type origin struct {
	files   fs.FS
	shipped bool
	// directory is in front of the names in diagnostics, "" for shipped notes.
	directory string
}

// path is how diagnostics name a note of the origin.
func (o origin) path(name string) string {
	if o.shipped {
		return "skills/" + name
	}
	return filepath.Join(o.directory, name)
}

// noteKey is what a note's file is known by: a home note shadows the shipped one that
// has the same.
func noteKey(name string) string {
	return strings.TrimPrefix(strings.TrimSuffix(name, ".org"), "org-skill-")
}

// isNote reports whether a file of that name is a note: not what editors leave beside it.
func isNote(name string) bool {
	return strings.HasSuffix(name, ".org") && !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "#")
}

// list returns the names of the origin's notes, sorted. A directory that does not exist
// has none.
func (o origin) list() ([]string, error) {
	entries, err := fs.ReadDir(o.files, ".")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the notes in %s: %w", o.directory, err)
	}
	var names []string
	for _, entry := range entries {
		if isNote(entry.Name()) && !entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	if len(names) > maximumNotes {
		return names[:maximumNotes], fmt.Errorf("list the notes in %s: there are %d, and only the first %d are read", o.directory, len(names), maximumNotes)
	}
	return names, nil
}

// read returns the text of a note. Only regular files are opened, behind links too.
func (o origin) read(name string) ([]byte, error) {
	info, err := fs.Stat(o.files, name)
	if err != nil {
		return nil, fmt.Errorf("read the note: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("read the note: it is no regular file")
	}
	if info.Size() > maximumNote {
		return nil, fmt.Errorf("read the note: it has %d bytes; a note may have %d", info.Size(), maximumNote)
	}
	file, err := o.files.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read the note: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	source, err := io.ReadAll(io.LimitReader(file, maximumNote+1))
	if err != nil {
		return nil, fmt.Errorf("read the note: %w", err)
	}
	if len(source) > maximumNote {
		return nil, fmt.Errorf("read the note: it has more than %d bytes", maximumNote)
	}
	return source, nil
}

// checkEncoding finds the first place that is not UTF-8.
func checkEncoding(file string, source []byte) []Diagnostic {
	if utf8.Valid(source) {
		return nil
	}
	offset := 0
	for offset < len(source) {
		r, size := utf8.DecodeRune(source[offset:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		offset += size
	}
	start := bytes.LastIndexByte(source[:offset], '\n') + 1
	return []Diagnostic{{
		File: file, Line: 1 + bytes.Count(source[:offset], []byte("\n")), Column: offset - start + 1,
		Message: fmt.Sprintf("the byte 0x%02x is not UTF-8; save the note in that encoding", source[offset]),
	}}
}

// homeOrigin is the person's own notes.
func homeOrigin(directory string) origin {
	return origin{files: os.DirFS(directory), directory: directory}
}
