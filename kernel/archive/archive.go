// Package archive packs an instance into one file and unpacks it again: every file of its
// home, and a picture of its journal. The token, the log and what can be made anew stay away.
//
// An archive is a tar file, compressed with gzip: "home/…" for the home, "journal.db" for the
// journal if there is one, and at its end "contents.json", which says what there is: an
// archive without it is not whole. Whoever has tar can read it.
//
// Ownership and blocking: a call holds no more than one file open, and little memory, however
// large the archive; it returns when all is done, or soon after its context ended. [Export]
// may run beside a kernel, [Import] only where none runs; it takes the instance's lock.
//
// What comes in an archive may be of anybody's making: it is looked through to its end before
// anything is written, and written nowhere but below the home.
package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// format is the version of what archives hold.
const format = 1

// The names of what is in an archive beside the home.
const (
	homePrefix   = "home/"
	journalName  = "journal.db"
	contentsName = "contents.json"
)

// filesLimit is how many files and directories an archive can have.
const filesLimit = 500_000

// Contents is what an archive says of itself.
type Contents struct {
	Format   int    `json:"format"`
	Version  string `json:"version"` // of the program that made it
	Exported string `json:"exported"`
	Files    int    `json:"files"`
	Bytes    int64  `json:"bytes"`
	Journal  bool   `json:"journal"`
}

// ErrUnfit is what every fault of an archive wraps.
var ErrUnfit = errors.New("the archive is refused, and nothing was changed")

func unfit(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrUnfit, fmt.Errorf(format, args...))
}

// leftover is what programs leave beside files while they write them, and locks of Emacs.
var leftover = regexp.MustCompile(`^(\.#.*|\..*\.new~)$`)

// inside is the path below the home of an entry with this name, or why it is none.
func inside(name string) (string, error) {
	below, ok := strings.CutPrefix(name, homePrefix)
	below = strings.TrimSuffix(below, "/")
	switch {
	case !ok || below == "" && name != homePrefix:
		return "", unfit("it has an entry %q, which is not of a home", name)
	case below == "":
		return ".", nil
	case !fs.ValidPath(below) || path.Clean(below) != below || strings.ContainsAny(below, "\x00\\"):
		return "", unfit("it has an entry %q, which would lead out of the home", name)
	}
	return below, nil
}
