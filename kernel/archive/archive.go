// Package archive packs an instance into one file and unpacks it again. An archive has every file
// of the home and a snapshot of the journal. It has neither the token nor the log, nor files that
// the kernel can make again.
//
// An archive is a tar file, compressed with gzip, so that any tar program can read it. Its entries
// are "home/…" for the home, "journal.db" for the journal, if there is one, "journal-archive.db" for what is
// old in it, if there is that, and at the end "contents.json", the table of contents. An archive without the last is incomplete and is refused.
//
// A call holds at most one file open and needs little memory, however large the archive is. It
// blocks until it is finished, or until shortly after its context ends. [Export] may run while a
// kernel runs. [Import] takes the lock of the instance, so that it fails while a kernel runs.
//
// An archive may come from anyone. Import checks it to its end before it writes anything, and
// writes nothing outside of the home and the state directory.
package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// format is the version of the format of archives.
const format = 1

// The names of entries.
const (
	homePrefix   = "home/"
	journalName  = "journal.db"
	oldName      = "journal-archive.db"
	contentsName = "contents.json"
)

// filesLimit is the largest number of files and directories in an archive.
const filesLimit = 500_000

// Contents is the table of contents of an archive.
type Contents struct {
	Format     int    `json:"format"`
	Version    string `json:"version"` // of the program that made it
	ExportedAt string `json:"exported"`
	Files      int    `json:"files"`
	Bytes      int64  `json:"bytes"`
	Journal    bool   `json:"journal"`
}

// ErrUnfit is the error that every fault of an archive wraps.
var ErrUnfit = errors.New("the archive is refused, and nothing was changed")

func unfit(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrUnfit, fmt.Errorf(format, args...))
}

// leftover matches temporary files that programs write beside a file, and locks of Emacs.
var leftover = regexp.MustCompile(`^(\.#.*|\..*\.new~)$`)

// inside returns the path below the home for the name of an entry. It fails if the name is not one
// of a file below the home.
func inside(name string) (string, error) {
	below, ok := strings.CutPrefix(name, homePrefix)
	below = strings.TrimSuffix(below, "/")
	switch {
	case !ok || below == "" && name != homePrefix:
		return "", unfit("it has an entry %q, which is not part of a home", name)
	case below == "":
		return ".", nil
	case !fs.ValidPath(below) || path.Clean(below) != below || strings.ContainsAny(below, "\x00\\"):
		return "", unfit("it has an entry %q, which would lead out of the home", name)
	}
	return below, nil
}
