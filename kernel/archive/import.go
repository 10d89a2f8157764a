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
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/journal"
)

// Existing says what happens to a file here whose content differs in the archive.
type Existing string

const (
	Refuse  Existing = ""        // the import fails and changes nothing
	Skip    Existing = "skip"    // the file here stays
	Replace Existing = "replace" // the archive's file replaces it; the file here moves to a directory
	Merge   Existing = "merge"   // the archive's file is written beside it, as NAME.imported
)

// Options configure an import. Limit is 2 GiB if it is 0.
type Options struct {
	Existing Existing
	Limit    int64 // the largest size of all files together, in bytes
}

const defaultLimit = 2 << 30

// ImportResult is the result of an import. The lists have paths below the home.
type ImportResult struct {
	Contents
	Added, Same       int
	Skipped           []string
	Replaced          []string
	Merged            []string
	ReplacedDirectory string // the directory below the home with the replaced files
	JournalRestored   bool   // the archive's journal is the instance's now
	JournalKept       bool   // the instance's own journal stays
	JournalBackup     string // the new path of the replaced journal
}

// Import unpacks an archive into the instance. If the archive is refused, or if files differ and
// Options does not say what to do, nothing is changed. An import that was killed can be repeated,
// with the same result.
func Import(ctx context.Context, paths config.Paths, from io.ReadSeeker, o Options) (done ImportResult, err error) {
	if o.Limit <= 0 {
		o.Limit = defaultLimit
	}
	if err := paths.EnsureState(); err != nil {
		return done, err
	}
	lock, err := config.LockInstance(paths)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	i := &importer{ctx: ctx, paths: paths, options: o, incoming: paths.Journal + ".imported~", done: &done}
	defer i.clean()
	if err := i.inspect(from); err != nil {
		return done, err
	}
	if _, err := from.Seek(0, io.SeekStart); err != nil {
		return done, fmt.Errorf("read the archive again: %w", err)
	}
	return done, i.unpack(from)
}

// importer is one import.
type importer struct {
	ctx      context.Context
	paths    config.Paths
	options  Options
	root     *os.Root        // the home; nil if it does not exist
	here     map[string]bool // the archive's files that exist here, and whether their content is the same
	incoming string          // the path to which the archive's journal is unpacked for its check
	done     *ImportResult
}

func (i *importer) clean() {
	if i.root != nil {
		_ = i.root.Close() // all files below it are closed
	}
	for _, path := range []string{i.incoming, i.incoming + "-wal", i.incoming + "-shm", journal.ArchivePath(i.incoming), journal.ArchivePath(i.incoming) + "-journal"} {
		_ = os.Remove(path) // it usually does not exist
	}
}

// inspect reads the archive to its end and compares it with the home. It changes none of the
// person's files.
func (i *importer) inspect(from io.Reader) (err error) {
	i.root, err = os.OpenRoot(i.paths.Home)
	if errors.Is(err, fs.ErrNotExist) {
		i.root, err = nil, nil
	}
	if err != nil {
		return fmt.Errorf("open the home: %w", err)
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
		if err := i.checkJournal(); err != nil {
			return err
		}
	}
	if i.options.Existing == Refuse {
		return i.conflicts()
	}
	return i.checkSpace(i.paths.Home, i.done.Bytes)
}

// compare records whether the file of an entry exists here and has the same content.
func (i *importer) compare(e entry) error {
	if i.root == nil {
		return nil
	}
	info, err := i.root.Lstat(e.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	switch {
	case err != nil:
		return unfit("%s cannot be examined here: %v", e.path, err)
	case e.Typeflag == tar.TypeDir && info.IsDir():
		return nil
	case e.Typeflag == tar.TypeDir:
		if followed, err := i.root.Stat(e.path); err == nil && followed.IsDir() {
			return nil // a link to a directory of the home
		}
		return unfit("%s is a directory in the archive and not here: move it away", e.path)
	case !info.Mode().IsRegular():
		return unfit("%s is a file in the archive and not a regular file here: move it away", e.path)
	}
	starter, err := i.isStarter(e.path, info.Size())
	if err != nil || starter {
		return err
	}
	i.here[e.path], err = i.equal(e, info.Size())
	return err
}

// isStarter reports whether the file here is an unchanged file of a new home. Such a file is not in
// the way.
func (i *importer) isStarter(path string, size int64) (bool, error) {
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

// equal reports whether the file here has the same content.
func (i *importer) equal(e entry, size int64) (bool, error) {
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

// conflicts returns an error that names the files whose content differs here, or nil if there are
// none.
func (i *importer) conflicts() error {
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
		return i.checkSpace(i.paths.Home, i.done.Bytes)
	}
	text := ""
	const listed = 10
	for n, name := range names {
		if n == listed {
			text += fmt.Sprintf(" and %d more", len(names)-listed)
			break
		}
		text += " " + name + ","
	}
	return unfit("these exist here and differ in the archive:%s; --skip keeps yours, --replace writes the archive's over them, --merge writes the archive's beside them", text)
}

// checkSpace fails if the disk has too little space for so many bytes.
func (i *importer) checkSpace(at string, bytes int64) error {
	for ; ; at = path.Dir(at) {
		var disk syscall.Statfs_t
		err := syscall.Statfs(at, &disk)
		if errors.Is(err, fs.ErrNotExist) && at != "/" {
			continue
		}
		if free := int64(disk.Bavail) * int64(disk.Bsize); err == nil && free < bytes {
			return unfit("it unpacks to %d MB, and %s has %d MB left", bytes>>20, at, free>>20)
		}
		return nil
	}
}

// receive unpacks the journal, or its archive, into the state directory for its check.
func (i *importer) receive(e entry) error {
	if err := i.checkSpace(i.paths.State, e.Size); err != nil {
		return err
	}
	to := i.incoming
	if e.Name == oldName {
		to = journal.ArchivePath(i.incoming)
	}
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return &writeError{fmt.Errorf("unpack the journal: %w", err)}
	}
	_, err = io.Copy(file, e.content)
	return errors.Join(err, file.Close())
}

// checkJournal checks the archive's journal, migrates it to the current schema, and decides whether
// it becomes the journal of the instance.
func (i *importer) checkJournal() error {
	if err := checkDatabase(i.ctx, i.incoming); err != nil {
		return unfit("its journal cannot be used: %v", err)
	}
	if err := journal.CheckArchive(i.ctx, i.incoming); err != nil {
		return unfit("its archive of old requests cannot be used: %v", err)
	}
	current, err := journal.ReadExtent(i.ctx, i.paths.Journal)
	if err != nil {
		return fmt.Errorf("read the journal that is here: %w; \"org-agent doctor --fix\" renames it", err)
	}
	incoming, err := journal.ReadExtent(i.ctx, i.incoming)
	if err != nil || current == incoming {
		return err
	}
	i.done.JournalRestored = current.Sessions == 0 || i.options.Existing == Replace
	i.done.JournalKept = !i.done.JournalRestored
	return nil
}

// checkDatabase returns the fault of a journal, or nil. It closes the journal, so that only one
// file is left.
func checkDatabase(ctx context.Context, path string) error {
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

// unpack writes the files of the home and then the journal.
func (i *importer) unpack(from io.Reader) error {
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
	i.done.ReplacedDirectory = ".replaced-" + time.Now().Format("2006-01-02-150405")
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
		i.done.ReplacedDirectory = ""
	}
	if err != nil || !i.done.JournalRestored {
		return err
	}
	return i.putJournal()
}

// put writes one file or directory below the home.
func (i *importer) put(e entry) error {
	if e.Typeflag == tar.TypeDir {
		return i.root.MkdirAll(e.path, e.FileInfo().Mode().Perm()|0o700)
	}
	to := e.path
	switch same, here := i.here[e.path]; {
	case here && same:
		i.done.Same++
		return i.setAttributes(e, to)
	case here:
		switch i.options.Existing {
		case Skip:
			i.done.Skipped = append(i.done.Skipped, e.path)
			return nil
		case Merge:
			to = i.freeName(e.path)
			i.done.Merged = append(i.done.Merged, to)
		case Replace:
			aside := path.Join(i.done.ReplacedDirectory, e.path)
			if err := i.root.MkdirAll(path.Dir(aside), 0o700); err != nil {
				return err
			}
			if err := i.root.Link(e.path, aside); err != nil { // a link, so that the file exists at every moment
				return err
			}
			i.done.Replaced = append(i.done.Replaced, e.path)
		}
	default:
		i.done.Added++
	}
	return i.write(e, to)
}

// freeName returns a name beside the path that no file has.
func (i *importer) freeName(path string) string {
	name := path + ".imported"
	for n := 2; ; n++ {
		if _, err := i.root.Lstat(name); err != nil {
			return name
		}
		name = fmt.Sprintf("%s.imported.%d", path, n)
	}
}

// write writes the whole file or nothing.
func (i *importer) write(e entry, to string) error {
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
	return i.setAttributes(e, to)
}

// setAttributes gives a file its mode and its time of modification.
func (i *importer) setAttributes(e entry, to string) error {
	return errors.Join(i.root.Chmod(to, e.FileInfo().Mode().Perm()|0o600), i.root.Chtimes(to, e.ModTime, e.ModTime))
}

// putJournal moves the archive's journal to the place of the instance's.
func (i *importer) putJournal() error {
	if _, err := os.Lstat(i.paths.Journal); err == nil && i.options.Existing == Replace {
		i.done.JournalBackup = i.paths.Journal + ".replaced-" + time.Now().Format("2006-01-02-150405")
		for _, suffix := range []string{"-wal", "-shm", ""} {
			if err := os.Rename(i.paths.Journal+suffix, i.done.JournalBackup+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("rename the journal: %w", err)
			}
		}
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(i.paths.Journal + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the files of the earlier journal: %w", err)
		}
	}
	if err := os.Rename(i.incoming, i.paths.Journal); err != nil {
		return fmt.Errorf("import the journal: %w", err)
	}
	if err := i.putOld(); err != nil {
		return fmt.Errorf("import the archive of old requests: %w", err)
	}
	// The conversations are in this journal now, and no kernel died that had it.
	for _, path := range []string{filepath.Join(i.paths.Sessions, journal.IdentityFile), i.paths.Journal + journal.OpenMark} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("import the journal: %w", err)
		}
	}
	return nil
}

// putOld moves the archive of the archive's journal to the place of the instance's, which stays beside the
// journal that it belongs to.
func (i *importer) putOld() error {
	here := journal.ArchivePath(i.paths.Journal)
	if _, err := os.Lstat(here); err == nil {
		backup := i.done.JournalBackup
		if backup == "" {
			backup = i.paths.Journal + ".replaced-" + time.Now().Format("2006-01-02-150405")
		}
		if err := os.Rename(here, journal.ArchivePath(backup)); err != nil {
			return err
		}
	}
	if err := os.Rename(journal.ArchivePath(i.incoming), here); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
