// Package archive packs an instance into one file and unpacks it again: every file of its home, and
// a snapshot of its journal. An archive does not contain the token, the log and files that can be
// made again.
//
// An archive is a tar file, compressed with gzip: "home/…" for the home, "journal.db" for the
// journal if there is one, and at the end "contents.json", which describes the content. An archive
// without it is incomplete. Any program for tar files can read it.
//
// Order: an import reads and checks the whole archive before it writes anything, because anyone may
// have made the archive. It writes only below the home.
//
// Blocking and ownership: a call returns when all is done, or soon after its context has ended. It
// has at most one file open and needs little memory, however large the archive is. [Export] may run
// beside a kernel. [Import] takes the instance's lock, so it runs only without a kernel.
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

// The names of the entries of an archive beside the home.
const (
	homePrefix   = "home/"
	journalName  = "journal.db"
	contentsName = "contents.json"
)

// filesLimit is the largest number of files and directories in an archive.
const filesLimit = 500_000

// Contents describes an archive. It is its last entry.
type Contents struct {
	Format   int    `json:"format"`
	Version  string `json:"version"` // of the program that made it
	Exported string `json:"exported"`
	Files    int    `json:"files"`
	Bytes    int64  `json:"bytes"`
	Journal  bool   `json:"journal"`
}

// ErrUnfit is wrapped by every error about a fault of an archive.
var ErrUnfit = errors.New("the archive is refused, and nothing was changed")

func unfit(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrUnfit, fmt.Errorf(format, args...))
}

// leftover matches the temporary files of programs that write a file, and the locks of Emacs.
var leftover = regexp.MustCompile(`^(\.#.*|\..*\.new~)$`)

// inside returns the path below the home of an entry with this name, or an error if it has none.
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
