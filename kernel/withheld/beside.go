package withheld

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

// The limits for the other files whose tags count for a text. A file beyond them counts as tagged.
const (
	besideFiles = 1000
	besideDepth = 20 // nested setup files
	besideBytes = 64 << 20
)

// notLocal matches names that are not files of this machine: URLs, and what Emacs reaches through
// another program.
var notLocal = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*://|/[A-Za-z0-9-]+(:[^:/]*)?:)`)

// relatedFiles reads the other files whose tags count for a text.
type relatedFiles struct {
	known map[string]Level // by path
	paths []string         // in the order in which they were looked up
	bytes int64
}

// complete adds to a scan what the other files say. path is the path of the text's own file. If it
// is not absolute, there are no other files.
func (b *relatedFiles) complete(s *scan, path string) {
	if !filepath.IsAbs(path) || len(s.setups)+len(s.origins) == 0 {
		return
	}
	b.known = map[string]Level{path: Shown}
	directories := []string{filepath.Dir(path)}
	if real, err := filepath.EvalSymlinks(path); err == nil && filepath.Dir(real) != directories[0] {
		directories = append(directories, filepath.Dir(real)) // Emacs may use either
	}
	for _, directory := range directories {
		for _, name := range s.setups {
			s.file = max(s.file, b.level(name, directory, 0))
		}
	}
	for _, o := range s.origins {
		s.inherit(o.heading, b.level(o.name, directories[0], 0))
	}
}

// level returns the level of the tags that a file gives to everything in it.
func (b *relatedFiles) level(name, directory string, depth int) Level {
	path, ok := local(name, directory)
	if !ok {
		return Shown
	}
	if level, known := b.known[path]; known {
		return level
	}
	if depth > besideDepth || len(b.known) > besideFiles {
		return Sealed
	}
	b.known[path] = Shown // for files that lead back to it
	b.paths = append(b.paths, path)
	level := b.read(path, depth)
	b.known[path] = level
	return level
}

func (b *relatedFiles) read(path string, depth int) Level {
	if encrypted(path) {
		return Sealed
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return Shown
	case err != nil:
		return Sealed
	}
	defer func() { _ = file.Close() }() // the file is only read
	info, err := file.Stat()
	switch {
	case err != nil:
		return Sealed
	case !info.Mode().IsRegular():
		return Shown
	}
	if b.bytes += info.Size(); b.bytes > besideBytes {
		return Sealed
	}
	var s scan
	if err := s.read(io.LimitReader(file, info.Size())); err != nil {
		return Sealed
	}
	for _, name := range s.setups {
		s.file = max(s.file, b.level(name, filepath.Dir(path), depth+1))
	}
	return s.file
}

// local returns the path of a name in a file of a directory. The second result is false if the name
// is not a file of this machine.
func local(name, directory string) (string, bool) {
	if notLocal.MatchString(name) || strings.ContainsRune(name, 0) {
		return "", false
	}
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		home, err := os.UserHomeDir()
		return filepath.Join(home, rest), err == nil
	}
	if filepath.IsAbs(name) {
		return filepath.Clean(name), true
	}
	return filepath.Join(directory, name), true
}
