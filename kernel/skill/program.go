package skill

import (
	"fmt"
	"os"
)

// Program identifies the running program. A rebuilt program of the same version has another value,
// because the proofs of one build need not hold for another. It returns "" if the program cannot be
// identified.
func Program(version string) string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s %s %d %d", version, path, info.Size(), info.ModTime().UnixNano())
}

// Replaced returns a function that reports whether the program was replaced since the call of Replaced. A
// program that is gone has not been.
func Replaced() func() bool {
	started := Program("")
	return func() bool {
		now := Program("")
		return now != "" && now != started
	}
}
