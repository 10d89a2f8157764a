package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// systemDirectories are the directories of the machine that a command sees, read-only: programs and
// their settings.
var systemDirectories = [...]string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/gnu", "/run/current-system"}

// outside is where the machine's own files are mounted while the new root is built.
const outside = "/.outside"

// emptyFile covers files that a command must not read.
const emptyFile = "/.empty"

// scratchBytes is the size of each of the command's own directories.
const scratchBytes = "size=512m"

// mountRoot gives this process a root directory with only what a command may see.
func (t *task) mountRoot() error {
	if err := preferForOutOfMemory(); err != nil { // while /proc can be written
		return err
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("leave the machine's mounts: %w", err)
	}
	if err := mount("tmpfs", "/tmp", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755,size=16m"); err != nil {
		return err
	}
	if err := os.Mkdir("/tmp"+outside, 0o700); err != nil {
		return fmt.Errorf("build the command's files: %w", err)
	}
	if err := os.Chdir("/tmp"); err != nil {
		return fmt.Errorf("build the command's files: %w", err)
	}
	if err := unix.PivotRoot(".", "."+outside); err != nil {
		return fmt.Errorf("change the root directory: %w", err)
	}
	for _, step := range [...]func() error{t.mountSystem, t.mountOwn, t.mountShown, t.mountGranted, closeOutside} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// mount mounts a new file system, and makes its directory if necessary.
func mount(kind, on string, flags uintptr, options string) error {
	if err := os.MkdirAll(on, 0o755); err != nil {
		return fmt.Errorf("mount %s: %w", on, err)
	}
	if err := unix.Mount(kind, on, kind, flags, options); err != nil {
		return fmt.Errorf("mount %s: %w", on, err)
	}
	return nil
}

// mountSystem mounts the machine's programs.
func (t *task) mountSystem() error {
	if err := os.WriteFile(emptyFile, nil, 0o400); err != nil {
		return fmt.Errorf("build the command's files: %w", err)
	}
	for _, path := range systemDirectories {
		info, err := os.Lstat(outside + path)
		if err != nil {
			continue // not every system has it
		}
		at := path
		if !info.IsDir() {
			at = filepath.Dir(path)
		}
		if err := os.MkdirAll(at, 0o755); err != nil {
			return fmt.Errorf("show %s: %w", path, err)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(outside + path)
			if err == nil {
				err = os.Symlink(target, path)
			}
			if err != nil {
				return fmt.Errorf("show %s: %w", path, err)
			}
			continue
		}
		if err := show(path, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV); err != nil {
			return err
		}
	}
	return t.hide()
}

// hide covers private files of the system: those in Hidden, and files in /etc that not everybody
// may read. A command of root could read those otherwise.
func (t *task) hide() error {
	hidden := append([]string{t.Home}, t.Hidden...)
	if os.Geteuid() == 0 {
		err := filepath.WalkDir("/etc", func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.Type()&fs.ModeSymlink != 0 {
				return nil
			}
			info, err := entry.Info()
			if err != nil || info.Mode().Perm()&0o004 != 0 {
				return nil
			}
			hidden = append(hidden, path)
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("look through /etc: %w", err)
		}
	}
	for _, path := range hidden {
		info, err := os.Lstat(path)
		if err != nil || path == "/" {
			continue // it does not exist
		}
		if info.IsDir() {
			err = mount("tmpfs", path, unix.MS_NOSUID|unix.MS_NODEV|unix.MS_RDONLY, "mode=0555,size=4k")
		} else {
			err = cover(path, emptyFile, unix.MOUNT_ATTR_RDONLY)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mountOwn mounts the command's own directories: processes, devices, an empty home and temporary
// directories.
func (t *task) mountOwn() error {
	const harmless = unix.MS_NOSUID | unix.MS_NODEV
	// /proc is read-only: some files in it are the whole machine's, and root could write them.
	if err := mount("proc", "/proc", harmless|unix.MS_NOEXEC|unix.MS_RDONLY, ""); err != nil {
		return err
	}
	for _, directory := range [...]string{"/tmp", "/dev/shm"} {
		if err := mount("tmpfs", directory, harmless, "mode=1777,"+scratchBytes); err != nil {
			return err
		}
	}
	for _, directory := range [...]string{"/run", "/var", "/sys"} {
		if err := os.MkdirAll(directory, 0o755); err != nil {
			return fmt.Errorf("build the command's files: %w", err)
		}
	}
	if t.Home != "/tmp" {
		if err := mount("tmpfs", t.Home, harmless, "mode=0700,"+scratchBytes); err != nil {
			return err
		}
	}
	for _, device := range [...]string{"null", "zero", "full", "random", "urandom", "tty"} {
		path := "/dev/" + device
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			return fmt.Errorf("show %s: %w", path, err)
		}
		if err := show(path, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC); err != nil {
			return err
		}
	}
	if err := mount("devpts", "/dev/pts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620"); err != nil {
		return err
	}
	for link, target := range map[string]string{
		"/dev/ptmx": "pts/ptmx", "/dev/fd": "/proc/self/fd", "/dev/stdin": "/proc/self/fd/0", "/dev/stdout": "/proc/self/fd/1",
		"/dev/stderr": "/proc/self/fd/2", "/var/tmp": "/tmp", "/var/run": "/run",
	} {
		if err := os.Symlink(target, link); err != nil {
			return fmt.Errorf("make the link %s: %w", link, err)
		}
	}
	return nil
}

// credentialFiles are files in which programs store the person's credentials.
var credentialFiles = [...]string{"credentials", "credentials.toml", "credentials.json", "auth.json", ".npmrc", ".netrc"}

// mountShown mounts the directories that every command can read, without the person's credentials.
func (t *task) mountShown() error {
	for _, directory := range t.Shown {
		info, err := os.Lstat(outside + directory)
		if err != nil || !info.IsDir() {
			continue // it is gone, or a link by now
		}
		if err := os.MkdirAll(directory, 0o755); err != nil && !errors.Is(err, fs.ErrExist) && !errors.Is(err, unix.EROFS) {
			return fmt.Errorf("show %s: %w", directory, err)
		}
		if err := show(directory, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV); err != nil {
			return err
		}
		for _, name := range credentialFiles {
			path := filepath.Join(directory, name)
			info, err := os.Lstat(path)
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			if err := cover(path, emptyFile, unix.MOUNT_ATTR_RDONLY); err != nil {
				return err
			}
		}
	}
	return nil
}

// mountGranted mounts the directory that the command was granted.
func (t *task) mountGranted() error {
	if t.Directory == "" {
		return nil
	}
	var attributes uint64 = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	if !t.Writes {
		attributes |= unix.MOUNT_ATTR_RDONLY
	}
	if err := os.MkdirAll(t.Directory, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("show %s: %w", t.Directory, err)
	}
	if err := show(t.Directory, attributes); err != nil {
		return err
	}
	if t.Writes {
		if err := t.mountGuards(attributes); err != nil {
			return err
		}
	}
	return t.mountCovers()
}

// coveredFiles is where the texts are that the command sees in place of covered files.
const coveredFiles = "/.covered"

// mountCovers covers what the command does not see of its directory. What is not there any more, or is
// something else by now, is not covered as it was found: then the command does not begin.
func (t *task) mountCovers() error {
	if err := os.Mkdir(coveredFiles, 0o755); err != nil {
		return fmt.Errorf("build the command's files: %w", err)
	}
	for i, c := range t.Covered {
		info, err := os.Lstat(c.Path)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("cover %s: %w", c.Path, err)
		}
		if !within(c.Path, t.Directory) || info.IsDir() != c.Directory || !info.IsDir() && !info.Mode().IsRegular() {
			return fmt.Errorf("cover %s: it has become something else; run the command again", c.Path)
		}
		if c.Directory {
			err = mount("tmpfs", c.Path, unix.MS_NOSUID|unix.MS_NODEV|unix.MS_RDONLY, "mode=0555,size=4k")
		} else {
			text := filepath.Join(coveredFiles, strconv.Itoa(i))
			if err = os.WriteFile(text, []byte(c.Text), 0o444); err == nil {
				err = cover(c.Path, text, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC)
			}
		}
		if err != nil {
			return fmt.Errorf("cover %s: %w", c.Path, err)
		}
	}
	return nil
}

// show mounts a file or a directory of the machine at its own path, which must exist.
func show(path string, attributes uint64) error {
	return cover(path, outside+path, attributes)
}

// cover mounts a file or a directory, with all mounts below it, on another. It follows no link to
// it, because the command could have put a link there since the path was resolved.
func cover(path, with string, attributes uint64) error {
	fail := func(err error) error { return fmt.Errorf("show %s: %w", path, err) }
	source, err := unix.Openat2(unix.AT_FDCWD, with, &unix.OpenHow{Flags: unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return fail(err)
	}
	defer unix.Close(source)
	tree, err := unix.OpenTree(source, "", unix.AT_EMPTY_PATH|unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return fail(err)
	}
	defer unix.Close(tree)
	if err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: attributes}); err != nil {
		return fail(err)
	}
	if err := unix.MoveMount(tree, "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fail(err)
	}
	return nil
}

// closeOutside unmounts the machine's own files and makes the root read-only.
func closeOutside() error {
	// The command could otherwise make namespaces, have capabilities in them, and use much more of
	// the system. The number is that of this namespace. On a system without the file no namespaces
	// can be made anyway.
	limit := "/.outside/proc/sys/user/max_user_namespaces"
	if err := os.WriteFile(limit, []byte("0"), 0); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, unix.EROFS) {
		return fmt.Errorf("let the command make no namespaces: %w", err)
	}
	if err := os.Chdir("/"); err != nil {
		return fmt.Errorf("build the command's files: %w", err)
	}
	if err := unix.Unmount(outside, unix.MNT_DETACH); err != nil {
		return fmt.Errorf("take the machine's files away: %w", err)
	}
	if err := os.Remove(outside); err != nil {
		return fmt.Errorf("take the machine's files away: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV, ""); err != nil {
		return fmt.Errorf("close the root directory: %w", err)
	}
	return nil
}
