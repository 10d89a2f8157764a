package tasks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"org-agent/kernel/openfile"
)

// sizeLimit is the size up to which a file is read whole. What is larger is no file of tasks.
const sizeLimit = 64 << 20

// readFile returns the text of a file on the disk, with plain line ends. A file that does not exist has none, unless it must.
func readFile(path string, must bool) (text string, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !must:
		return "", nil
	case err != nil:
		return "", fmt.Errorf("read the tasks: %w", err)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is no file: tasks are read from one", path)
	case info.Size() > sizeLimit:
		return "", fmt.Errorf("%s has %d MB, more than the %d that are read: keep tasks in a file of their own", path, info.Size()>>20, sizeLimit>>20)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the tasks: %w", err)
	}
	return strings.ReplaceAll(string(content), "\r\n", "\n"), nil
}

// File is the file with the tasks, and how it is changed.
type File = openfile.File
