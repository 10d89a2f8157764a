package atomicfile

import (
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// beside matches the names under which new content is first written.
var beside = regexp.MustCompile(`^\..+\.([A-Z2-7]{26}|\d+)\.new~$`)

// Sweep removes from directories the files that a process left which died while it wrote. They are at least
// as old as age, so that no other process is writing them. A directory that cannot be read has none. It
// returns how many it removed.
func Sweep(age time.Duration, directories ...string) (removed int) {
	for _, directory := range directories {
		entries, _ := os.ReadDir(directory) // see above
		for _, entry := range entries {
			if !beside.MatchString(entry.Name()) {
				continue
			}
			info, err := entry.Info()
			if err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) > age && os.Remove(filepath.Join(directory, entry.Name())) == nil {
				removed++
			}
		}
	}
	return removed
}
