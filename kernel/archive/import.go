package archive

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"syscall"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/journal"
)

// Existing is the treatment of files that exist and differ from those of the archive.
type Existing string

const (
	Refuse  Existing = ""        // the import fails and changes nothing
	Skip    Existing = "skip"    // existing files stay
	Replace Existing = "replace" // files of the archive replace them, and the former files are moved to a directory
	Merge   Existing = "merge"   // files of the archive are written beside them, as NAME.imported
)

// Options are the options of an import. The zero value of Limit is 2 GiB.
type Options struct {
	Existing Existing
	Limit    int64 // the largest total size of the archive's files, in bytes
}

const limitByDefault = 2 << 30

// Imported is the result of an import: paths below the home, and counts.
type Imported struct {
	Contents
	Added, Same  int
	Skipped      []string
	Replaced     []string
	Beside       []string
	Aside        string // the directory below the home with the files that were replaced
	JournalTaken bool
	JournalKept  bool   // the instance had a journal, which stays
	JournalAside string // the new path of the journal that the instance had
}

// Import unpacks an archive into the instance. If the archive is refused, or if files differ and
// Options does not decide about them, nothing is changed. After a killed import, the same import
// can be run again with the same result.
func Import(ctx context.Context, paths config.Paths, from io.ReadSeeker, o Options) (done Imported, err error) {
	if o.Limit <= 0 {
		o.Limit = limitByDefault
	}
	if err := paths.EnsureState(); err != nil {
		return done, err
	}
	lock, err := config.LockInstance(paths)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	i := &importing{ctx: ctx, paths: paths, options: o, incoming: paths.Journal + ".imported~", done: &done}
	defer i.clean()
	if err := i.look(from); err != nil {
		return done, err
	}
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return done, fmt.Errorf("read the archive again: %w", err)
	}
	return done, i.unpack(from)
}

// importing is a running import.
type importing struct {
	ctx      context.Context
	paths    config.Paths
	options  Options
	root     *os.Root        // of the home; nil while it does not exist
	here     map[string]bool // existing files of the archive, and whether they are equal
	incoming string          // the temporary path of the archive's journal
	done     *Imported
}

func (i *importing) clean() {
	if i.root != nil {
		_ = i.root.Close() // it was only read
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(i.incoming + suffix) // in most cases it does not exist
	}
}

// look reads the whole archive and finds the files that differ, without a change of the person's
// files.
func (i *importing) look(from io.Reader) (err error) {
	i.root, err = os.OpenRoot(i.paths.Home)
	if errors.Is(err, fs.ErrNotExist) {
		i.root, err = nil, nil
	}
	if err != nil {
		return fmt.Errorf("look at the home: %w", err)
	}
	i.here = map[string]bool{}
	i.done.Contents, err = each(i.ctx, from, i.options.Limit, func(e entry) error {
		if e.path == "" {
			return i.receive(e)
		}
		return i.compare(e)
	})
	if err != nil {
		return err
	}
	if i.done.Contents.Journal {
		if err := i.examine(); err != nil {
			return err
		}
	}
	if i.options.Existing == Refuse {
		return i.conflicts()
	}
	return i.room(i.paths.Home, i.done.Bytes)
}

// compare records whether a file exists already.
func (i *importing) compare(e entry) error {
	if i.root == nil {
		return nil
	}
	info, err := i.root.Lstat(e.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	switch {
	case err != nil:
		return unfit("%s cannot be looked at here: %v", e.path, err)
	case e.Typeflag == tar.TypeDir && info.IsDir():
		return nil
	case e.Typeflag == tar.TypeDir:
		if followed, err := i.root.Stat(e.path); err == nil && followed.IsDir() {
			return nil // a link to a directory of the home
		}
		return unfit("%s is a directory there and none here: move it away", e.path)
	case !info.Mode().IsRegular():
		return unfit("%s is a file there, and a directory, a link or something else here: move it away", e.path)
	}
	begun, err := i.begun(e.path, info.Size())
	if err != nil || begun {
		return err
	}
	i.here[e.path], err = i.equal(e, info.Size())
	return err
}

// begun reports whether the existing file is one that a new home begins with, unchanged.
func (i *importing) begun(path string, size int64) (bool, error) {
	const longest = 64 << 10
	if size > longest {
		return false, nil
	}
	text, err := i.root.ReadFile(path)
	if err != nil {
		return false, unfit("%s cannot be read here: %v", path, err)
	}
	return config.IsStarter(path, string(text)), nil
}

// equal reports whether the existing file has the same content.
func (i *importing) equal(e entry, size int64) (bool, error) {
	if size != e.Size {
		return false, nil
	}
	file, err := i.root.Open(e.path)
	if err != nil {
		return false, unfit("%s cannot be read here: %v", e.path, err)
	}
	defer file.Close()
	there, here := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, end := io.ReadFull(e.content, there)
		if end != nil && !errors.Is(end, io.EOF) && !errors.Is(end, io.ErrUnexpectedEOF) {
			return false, end
		}
		if m, _ := io.ReadFull(file, here[:n]); n != m || !bytes.Equal(there[:n], here[:m]) {
			return false, nil
		}
		if end != nil {
			return true, nil
		}
	}
}

// conflicts returns the error that lists the files that exist and differ.
func (i *importing) conflicts() error {
	var names []string
	for name, same := range i.here {
		if !same {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if i.done.JournalKept {
		names = append(names, "the journal")
	}
	if len(names) == 0 {
		return i.room(i.paths.Home, i.done.Bytes)
	}
	text := ""
	const told = 10
	for n, name := range names {
		if n == told {
			text += fmt.Sprintf(" and %d more", len(names)-told)
			break
		}
		text += " " + name + ","
	}
	return unfit("these are here already, and others in the archive:%s; --skip keeps what is here, --replace takes those of the archive, --merge puts them beside", text)
}

// room returns an error if the disk has too little space for so many bytes.
func (i *importing) room(at string, bytes int64) error {
	for ; ; at = path.Dir(at) {
		var disk syscall.Statfs_t
		err := syscall.Statfs(at, &disk)
		if errors.Is(err, fs.ErrNotExist) && at != "/" {
			continue
		}
		if free := int64(disk.Bavail) * disk.Bsize; err == nil && free < bytes {
			return unfit("it unpacks to %d MB, and %s has %d MB left", bytes>>20, at, free>>20)
		}
		return nil
	}
}

// receive writes the archive's journal to a temporary file, so that it can be examined.
func (i *importing) receive(e entry) error {
	if err := i.room(i.paths.State, e.Size); err != nil {
		return err
	}
	file, err := os.OpenFile(i.incoming, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return &writeError{fmt.Errorf("unpack the journal: %w", err)}
	}
	_, err = io.Copy(file, e.content)
	return errors.Join(err, file.Close())
}

// examine checks that the temporary file is a sound journal, migrates it, and decides whether it
// replaces the instance's.
func (i *importing) examine() error {
	if err := sound(i.ctx, i.incoming); err != nil {
		return unfit("its journal cannot be used: %v", err)
	}
	has, err := journal.ReadExtent(i.ctx, i.paths.Journal)
	if err != nil {
		return fmt.Errorf("look at the journal that is here: %w; \"org-agent doctor --fix\" keeps it beside", err)
	}
	comes, err := journal.ReadExtent(i.ctx, i.incoming)
	if err != nil || has == comes {
		return err
	}
	i.done.JournalTaken = has.Sessions == 0 || i.options.Existing == Replace
	i.done.JournalKept = !i.done.JournalTaken
	return nil
}

// sound returns an error for a damaged journal. It leaves one file without a write-ahead log.
func sound(ctx context.Context, path string) error {
	j, err := journal.Open(ctx, path)
	if err != nil {
		return err
	}
	faults, err := j.Check(ctx)
	if err = errors.Join(err, j.Close()); err == nil && len(faults) > 0 {
		err = errors.New(faults[0])
	}
	return err
}

// unpack writes the files of the home, then the journal.
func (i *importing) unpack(from io.Reader) error {
	if i.root == nil {
		if err := os.MkdirAll(i.paths.Home, 0o755); err != nil {
			return fmt.Errorf("make the home: %w", err)
		}
		root, err := os.OpenRoot(i.paths.Home)
		if err != nil {
			return fmt.Errorf("open the home: %w", err)
		}
		i.root = root
	}
	i.done.Aside = ".replaced-" + time.Now().Format("2006-01-02-150405")
	_, err := each(i.ctx, from, i.options.Limit, func(e entry) error {
		if e.path == "" {
			return nil
		}
		if err := i.put(e); err != nil {
			return &writeError{fmt.Errorf("import %s: %w", e.path, err)}
		}
		return nil
	})
	if len(i.done.Replaced) == 0 {
		i.done.Aside = ""
	}
	if err != nil || !i.done.JournalTaken {
		return err
	}
	return i.putJournal()
}

// put writes one file or directory below the home.
func (i *importing) put(e entry) error {
	if e.Typeflag == tar.TypeDir {
		return i.root.MkdirAll(e.path, e.FileInfo().Mode().Perm()|0o700)
	}
	to := e.path
	switch same, here := i.here[e.path]; {
	case here && same:
		i.done.Same++
		return i.adorn(e, to)
	case here:
		switch i.options.Existing {
		case Skip:
			i.done.Skipped = append(i.done.Skipped, e.path)
			return nil
		case Merge:
			to = i.free(e.path)
			i.done.Beside = append(i.done.Beside, to)
		case Replace:
			aside := path.Join(i.done.Aside, e.path)
			if err := i.root.MkdirAll(path.Dir(aside), 0o700); err != nil {
				return err
			}
			if err := i.root.Link(e.path, aside); err != nil { // so that the path exists at every moment
				return err
			}
			i.done.Replaced = append(i.done.Replaced, e.path)
		}
	default:
		i.done.Added++
	}
	return i.write(e, to)
}

// free returns an unused name beside the path.
func (i *importing) free(path string) string {
	name := path + ".imported"
	for n := 2; ; n++ {
		if _, err := i.root.Lstat(name); err != nil {
			return name
		}
		name = fmt.Sprintf("%s.imported.%d", path, n)
	}
}

// write writes the whole file or nothing.
func (i *importing) write(e entry, to string) error {
	beside := path.Join(path.Dir(to), "."+path.Base(to)+".new~")
	file, err := i.root.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, e.content)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = i.root.Rename(beside, to)
	}
	if err != nil {
		return errors.Join(err, i.root.Remove(beside))
	}
	return i.adorn(e, to)
}

// adorn sets the mode and the time of a file to those of the entry.
func (i *importing) adorn(e entry, to string) error {
	return errors.Join(i.root.Chmod(to, e.FileInfo().Mode().Perm()|0o600), i.root.Chtimes(to, e.ModTime, e.ModTime))
}

// putJournal makes the archive's journal that of the instance.
func (i *importing) putJournal() error {
	if _, err := os.Lstat(i.paths.Journal); err == nil && i.options.Existing == Replace {
		i.done.JournalAside = i.paths.Journal + ".replaced-" + time.Now().Format("2006-01-02-150405")
		for _, suffix := range []string{"-wal", "-shm", ""} {
			if err := os.Rename(i.paths.Journal+suffix, i.done.JournalAside+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("keep the journal beside: %w", err)
			}
		}
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(i.paths.Journal + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("make way for the journal: %w", err)
		}
	}
	if err := os.Rename(i.incoming, i.paths.Journal); err != nil {
		return fmt.Errorf("import the journal: %w", err)
	}
	return nil
}
