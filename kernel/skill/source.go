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
	"syscall"
	"unicode/utf8"
)

// maximumNote is the maximum size of a note in bytes.
const maximumNote = 8 << 20

// maximumNotes is the number of notes read from one place.
const maximumNotes = 10_000

// origin is a place from which notes are read.
type origin struct {
	files   fs.FS
	shipped bool
	// only is the name of the only note that is read here, or "" for all.
	only string
	// directory is in front of the names in diagnostics, "" for shipped notes.
	directory string
}

// path returns the path of one of the origin's notes, as diagnostics name it.
func (o origin) path(name string) string {
	if o.shipped {
		return "skills/" + name
	}
	return filepath.Join(o.directory, name)
}

// noteKey returns the key of a note's file. A home note shadows the shipped note with the same key.
func noteKey(name string) string {
	return strings.TrimPrefix(strings.TrimSuffix(name, ".org"), "org-skill-")
}

// isNote reports whether a file of that name is a note, and not a backup or lock file of an editor.
func isNote(name string) bool {
	return strings.HasSuffix(name, ".org") && !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "#")
}

// list returns the sorted names of the origin's notes. A missing directory has none.
func (o origin) list() ([]string, error) {
	if o.only != "" {
		return []string{o.only}, nil
	}
	entries, err := fs.ReadDir(o.files, ".")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the notes in %s: %w", o.directory, err)
	}
	var names []string
	for _, entry := range entries {
		if isNote(entry.Name()) && !(entry.IsDir() && o.hasPrompt(entry.Name())) {
			names = append(names, entry.Name())
		}
	}
	if len(names) > maximumNotes {
		return names[:maximumNotes], fmt.Errorf("list the notes in %s: there are %d, and only the first %d are read", o.directory, len(names), maximumNotes)
	}
	return names, nil
}

// hasPrompt reports whether a directory contains a SKILL.md, which is another form of skill.
func (o origin) hasPrompt(directory string) bool {
	_, err := fs.Stat(o.files, directory+"/SKILL.md")
	return err == nil
}

// List returns the sorted paths of the notes in a directory. A missing directory has none. If there
// are more notes than the limit, it returns the notes up to the limit and an error.
func List(directory string) ([]string, error) {
	o := homeOrigin(directory)
	names, err := o.list()
	for i, name := range names {
		names[i] = o.path(name)
	}
	return names, err
}

// Read returns the text of the note at path. It reads regular files only, follows links, and never
// blocks on a special file. A note has at most 8 MiB.
func Read(path string) ([]byte, error) {
	return homeOrigin(filepath.Dir(path)).read(filepath.Base(path))
}

// Unread returns the diagnostic for a note that cannot be read.
func Unread(path string, err error) Diagnostic {
	return Diagnostic{File: path, Line: 1, Column: 1, Message: err.Error()}
}

// open opens a note. It does not block on a file that is not regular, even if that replaced a
// regular file a moment ago.
func (o origin) open(name string) (fs.File, error) {
	if o.directory == "" {
		return o.files.Open(name)
	}
	return os.OpenFile(o.path(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// read returns the text of a note. It reads regular files only and follows links.
func (o origin) read(name string) ([]byte, error) {
	file, err := o.open(name)
	if err != nil {
		return nil, o.unread(name, err)
	}
	defer func() { _ = file.Close() }() // the file was only read
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the note: %w", err)
	case info.IsDir():
		return nil, errors.New("read the note: it is a directory; a note is a file")
	case !info.Mode().IsRegular():
		return nil, errors.New("read the note: it is no regular file")
	case info.Size() > maximumNote:
		return nil, fmt.Errorf("read the note: it has %d bytes; a note may have %d", info.Size(), maximumNote)
	}
	source, err := io.ReadAll(io.LimitReader(file, maximumNote+1))
	if err != nil {
		return nil, fmt.Errorf("read the note: %w", err)
	}
	if len(source) > maximumNote {
		return nil, fmt.Errorf("read the note: it has more than %d bytes", maximumNote)
	}
	return source, nil
}

// unread returns why a note cannot be opened. A broken link is an error and not a missing note,
// because it stays broken until somebody repairs it.
func (o origin) unread(name string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) || o.directory == "" {
		return fmt.Errorf("read the note: %w", err)
	}
	if target, linkErr := os.Readlink(o.path(name)); linkErr == nil {
		return fmt.Errorf("read the note: it is a link to %s, which is not there", target)
	}
	return fmt.Errorf("read the note: %w", err)
}

// checkEncoding reports the first place that is not UTF-8.
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

// homeOrigin returns the origin of the person's own notes.
func homeOrigin(directory string) origin {
	return origin{files: os.DirFS(directory), directory: directory}
}
