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

// remoteName is how Emacs spells a file on another machine, or behind a program.
var remoteName = regexp.MustCompile(`^/[A-Za-z0-9-]+(:[^:/]*)?:`)

// Resolve is the one name of the file that a call names: absolute, without links. A relative
// name is the home's, ~ the user's. Exists is false for a name at which a file could be made:
// what there is of its directories is resolved.
func Resolve(name, home string) (path string, exists bool, err error) {
	if name, err = absolute(name, home); err != nil {
		return "", false, err
	}
	path, err = filepath.EvalSymlinks(name)
	switch {
	case err == nil:
		exists = true
	case errors.Is(err, fs.ErrNotExist):
		if path, err = unmade(name); err != nil {
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

// unmade is the name of a file that is not there, with the directories above it resolved.
func unmade(name string) (string, error) {
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

// systemError is what the system said of a file, as one of a tool.
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

// Short is a file's name as a call can give it again: within the home without that.
func Short(path, home string) string {
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	if rest, ok := strings.CutPrefix(path, home+"/"); ok && home != "" {
		return rest
	}
	return path
}
