package cover

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"org-agent/kernel/keys"
	"org-agent/kernel/withheld"
)

// Reason says why a file is covered.
type Reason int

// The reasons.
const (
	Keys     Reason = iota // keys are kept there: no command sees it
	Perhaps                // it often has keys beside other text
	Withheld               // all or a part of it is withheld from models
	History                // a repository with such a file
)

// File is a file or a directory that a command does not see as it is.
type File struct {
	Path      string // absolute
	Reason    Reason
	Directory bool
	// Text is what a command sees in its place.
	Text string
}

// Found is what was found in a directory.
type Found struct {
	Files []File
	// Whole is false if there may be more, because the directory has too many files or one cannot be
	// read.
	Whole bool
}

// Of returns the files for a command. One that is shown secrets sees all but where keys are kept.
func (f Found) Of(secrets bool) []File {
	if !secrets {
		return f.Files
	}
	return slices.DeleteFunc(slices.Clone(f.Files), func(file File) bool { return file.Reason != Keys })
}

// Secrets returns what is shown to a command that is shown secrets, and covered for others.
func (f Found) Secrets() []File {
	return slices.DeleteFunc(slices.Clone(f.Files), func(file File) bool { return file.Reason == Keys })
}

// Holds reports whether a repository is among the files.
func (f Found) Holds() bool {
	return slices.ContainsFunc(f.Files, func(file File) bool { return file.Reason == History })
}

// The limits of one search.
const (
	entryLimit = 200_000 // names
	textLimit  = 30_000  // files that are looked into
	shownLimit = 8 << 20 // bytes of text in place of covered files
	fileLimit  = 16 << 20
)

// filled are directories that programs fill with other people's work.
var filled = [...]string{"node_modules", "__pycache__", ".venv", ".cache", ".tox", ".mypy_cache", "target", "vendor", ".git", ".hg", ".jj", ".svn"}

// Finder finds what is covered. It remembers what it found in files that have not changed since. It is
// safe for many goroutines.
type Finder struct {
	// User is the person's home directory.
	User string
	// Own reports whether a file is the kernel's own or in its place of secrets. nil: none is.
	Own func(path string) bool

	mu    sync.Mutex
	known map[string]judged
	past  map[string]bool // whether a repository has one of some files, by both

	searched map[string][]string // the commits up to which the history of a repository has nothing withheld
}

// judged is what is known of a file, as long as it has this stamp.
type judged struct {
	stamp   stamp
	related string // the state of the files whose tags count for it
	file    File
	covered bool
}

type stamp struct {
	device, inode uint64
	size          int64
	changed       syscall.Timespec
	links         uint64
}

// knownLimit bounds what is remembered.
const knownLimit = 100_000

// Look searches a directory.
func (f *Finder) Look(ctx context.Context, directory string) Found {
	s := search{finder: f, found: Found{Whole: true}, covered: map[[2]uint64]File{}}
	s.walk(ctx, directory, false)
	s.links()
	s.repositories(ctx)
	return s.found
}

type search struct {
	finder  *Finder
	found   Found
	entries int
	texts   int
	shown   int
	repos   []string
	covered map[[2]uint64]File // files with several names, by device and inode
	linked  []linked
}

// linked is a file with several names that is not covered by this one.
type linked struct {
	path string
	file [2]uint64
}

func (s *search) walk(ctx context.Context, directory string, names bool) {
	entries, err := os.ReadDir(directory)
	if err != nil {
		s.found.Whole = false
	}
	for _, entry := range entries {
		if s.entries++; s.entries > entryLimit || ctx.Err() != nil {
			s.found.Whole = false
			return
		}
		path := filepath.Join(directory, entry.Name())
		own := s.finder.Own != nil && s.finder.Own(path)
		switch {
		case entry.Name() == ".git":
			s.repos = append(s.repos, path)
		case entry.IsDir() && (own || keys.Of(path) == keys.Kept):
			s.add(File{Path: path, Reason: Keys, Directory: true})
		case entry.IsDir():
			s.walk(ctx, path, names || slices.Contains(filled[:], entry.Name()))
		case own:
			s.add(File{Path: path, Reason: Keys})
		case entry.Type().IsRegular():
			s.file(path, entry, names)
		}
	}
}

// file judges a file.
func (s *search) file(path string, entry fs.DirEntry, names bool) {
	if names {
		if level := keys.Of(path); level != keys.None {
			s.add(File{Path: path, Reason: reasonOf(level)})
		}
		return
	}
	info, err := entry.Info()
	if err != nil {
		return // it is gone
	}
	if s.texts++; s.texts > textLimit {
		s.found.Whole = false
		return
	}
	j := s.finder.judge(path, info)
	id := [2]uint64{j.stamp.device, j.stamp.inode}
	switch {
	case j.covered:
		s.add(j.file)
		if j.stamp.links > 1 {
			s.covered[id] = j.file
		}
	case j.stamp.links > 1:
		s.linked = append(s.linked, linked{path, id})
	}
}

// links covers the other names of covered files.
func (s *search) links() {
	for _, l := range s.linked {
		if file, covered := s.covered[l.file]; covered {
			file.Path = l.path
			s.add(file)
		}
	}
}

func (s *search) add(file File) {
	if s.shown += len(file.Text); s.shown > shownLimit {
		file.Text = ""
	}
	s.found.Files = append(s.found.Files, file)
}

func reasonOf(level keys.Level) Reason {
	if level == keys.Kept {
		return Keys
	}
	return Perhaps
}

func stampOf(info fs.FileInfo) stamp {
	status, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return stamp{}
	}
	return stamp{uint64(status.Dev), status.Ino, status.Size, changeTime(status), uint64(status.Nlink)}
}

// judge judges a file by its name and by what is in it.
func (f *Finder) judge(path string, info fs.FileInfo) judged {
	now := stampOf(info)
	f.mu.Lock()
	j, known := f.known[path]
	f.mu.Unlock()
	if known && j.stamp == now && withheld.Unchanged(j.related) {
		return j
	}
	j = judged{stamp: now, related: withheld.Judgement{}.Stamps()}
	if level := keys.In(path, f.User); level != keys.None {
		j.file, j.covered = File{Path: path, Reason: reasonOf(level)}, true
	} else {
		j.text(path, info)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil || len(f.known) > knownLimit {
		f.known = map[string]judged{}
	}
	f.known[path] = j
	return j
}

// text judges what a file says. One that is too large to be judged, or cannot be read, is covered if it
// may be Org.
func (j *judged) text(path string, info fs.FileInfo) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return // the command cannot read it either
	}
	defer func() { _ = file.Close() }() // it is only read
	veil, err := withheld.Over(path, file, info)
	if err == nil && veil == nil {
		return // it is no Org
	}
	j.file, j.covered = File{Path: path, Reason: Withheld}, true
	if err != nil || info.Size() > fileLimit {
		return
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return
	}
	text := string(data)
	judgement := withheld.File(path, text)
	j.related, j.covered = judgement.Stamps(), len(judgement.Parts) > 0
	if j.covered {
		j.file.Text, _ = withheld.Visible(path, text)
	} else {
		j.file = File{}
	}
}

// Names lists the covered files of a directory for people, relative to it.
func Names(files []File, directory string) string {
	const most = 20
	var names []string
	for i, file := range files {
		if i == most {
			names = append(names, "and others")
			break
		}
		name, err := filepath.Rel(directory, file.Path)
		if err != nil {
			name = file.Path
		}
		if file.Reason == Withheld && file.Text != "" {
			name += " (a part)"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}
