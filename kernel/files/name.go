package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"org-agent/kernel/protocol"
)

// remoteName matches names by which Emacs opens files on another machine or through another
// program.
var remoteName = regexp.MustCompile(`^/[A-Za-z0-9-]+(:[^:/]*)?:`)

// Resolve returns the path of the file that a name means: absolute, without links. A relative name
// begins in home, ~ in the user's home. If the file does not exist, exists is false and the
// existing directories above it are resolved.
func Resolve(name, home string) (path string, exists bool, err error) {
	if name, err = absolute(name, home); err != nil {
		return "", false, err
	}
	path, err = filepath.EvalSymlinks(name)
	switch {
	case err == nil:
		exists = true
	case errors.Is(err, fs.ErrNotExist):
		if path, err = resolveMissing(name); err != nil {
			return "", false, err
		}
	default:
		return "", false, systemError(name, err)
	}
	for _, root := range []string{"/proc", "/sys", "/dev"} {
		if path == root || strings.HasPrefix(path, root+"/") {
			return "", false, protocol.ToolErrorf(protocol.ToolUnfit, "%s belongs to the system and is no file to be read or written", path)
		}
	}
	return path, exists, nil
}

func absolute(name, home string) (string, error) {
	if name == "" || strings.ContainsRune(name, 0) || remoteName.MatchString(name) {
		return "", protocol.ToolErrorf(protocol.ToolArguments, "%q names no file of this machine", name)
	}
	if rest, ok := strings.CutPrefix(name, "~"); ok && (rest == "" || rest[0] == '/') {
		user, err := os.UserHomeDir()
		if err != nil {
			return "", protocol.ToolErrorf(protocol.ToolFailed, "resolve %q: %w", name, err)
		}
		return filepath.Join(user, rest), nil
	}
	if filepath.IsAbs(name) {
		return filepath.Clean(name), nil
	}
	return filepath.Join(home, name), nil
}

// resolveMissing resolves the directories above a file that does not exist.
func resolveMissing(name string) (string, error) {
	missing := ""
	for at := name; ; at = filepath.Dir(at) {
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			if info, err := os.Stat(real); err != nil || !info.IsDir() {
				return "", protocol.ToolErrorf(protocol.ToolUnfit, "%s is no directory, so nothing is in it", real)
			}
			return filepath.Join(real, missing), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", systemError(at, err)
		}
		if _, err := os.Lstat(at); err == nil {
			return "", protocol.ToolErrorf(protocol.ToolNotFound, "%s is a link that leads nowhere", at)
		}
		missing = filepath.Join(filepath.Base(at), missing)
	}
}

// systemError converts an error of the system to one of a tool.
func systemError(path string, err error) error {
	code, advice := protocol.ToolErrorOf(err).Code, ""
	switch {
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		code, advice = protocol.ToolNoSpace, ": the disk is full; nothing was changed"
	case errors.Is(err, syscall.ENOTDIR):
		return protocol.ToolErrorf(protocol.ToolNotFound, "there is no file %s: what stands above it is no directory", path)
	case errors.Is(err, fs.ErrNotExist):
		return protocol.ToolErrorf(code, "there is no file %s", path)
	case errors.Is(err, fs.ErrPermission):
		advice = ": the system does not let the agent; tell the person if it is needed"
	}
	return protocol.ToolErrorf(code, "%w%s", err, advice)
}

// Short returns a file's name as it is shown: relative if it is in the home. [Resolve] accepts it.
func Short(path, home string) string {
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	if rest, ok := strings.CutPrefix(path, home+"/"); ok && home != "" {
		return rest
	}
	return path
}
