package archive

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// ExportResult is the result of an export. Unsupported are the paths below the home that
// are neither files nor directories, such as links. They are not in the archive.
type ExportResult struct {
	Contents
	Unsupported []string
}

// Export writes an archive of the instance. It fails if a file cannot be read, because an
// incomplete archive must not look complete. A file that changes during the export has the content
// of the moment at which it is read. The journal is a snapshot of one moment.
func Export(ctx context.Context, paths config.Paths, version string, out io.Writer) (ExportResult, error) {
	if info, err := os.Stat(paths.Home); err != nil || !info.IsDir() {
		return ExportResult{}, fmt.Errorf("there is no home %s to export", paths.Home)
	}
	packed, err := gzip.NewWriterLevel(out, gzip.BestSpeed) // a tenth larger, in half the time
	if err != nil {
		return ExportResult{}, fmt.Errorf("write the archive: %w", err)
	}
	e := &exporter{ctx: ctx, to: tar.NewWriter(packed)}
	if same, ok := out.(*os.File); ok {
		e.itself, _ = same.Stat() // a pipe is never among the files
	}
	e.done.Format, e.done.Version, e.done.ExportedAt = format, version, time.Now().UTC().Format(time.RFC3339)
	if err := e.home(paths.Home); err != nil {
		return e.done, fmt.Errorf("export the home: %w", err)
	}
	if err := e.journal(paths); err != nil {
		return e.done, fmt.Errorf("export the journal: %w", err)
	}
	contents, err := json.Marshal(e.done.Contents)
	if err != nil {
		return e.done, fmt.Errorf("write the contents of the archive: %w", err)
	}
	header := &tar.Header{Name: contentsName, Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(contents))}
	if err = e.to.WriteHeader(header); err == nil {
		_, err = e.to.Write(contents)
	}
	if err = errors.Join(err, e.to.Close(), packed.Close()); err != nil {
		return e.done, fmt.Errorf("write the archive: %w", err)
	}
	return e.done, nil
}

// exporter is one export.
type exporter struct {
	ctx    context.Context
	to     *tar.Writer
	itself fs.FileInfo // the archive, if it is a file; it is not exported
	done   ExportResult
}

// home adds all files below the home.
func (e *exporter) home(home string) error {
	return filepath.WalkDir(home, func(path string, entry fs.DirEntry, err error) error {
		if err == nil {
			err = e.ctx.Err()
		}
		if err != nil {
			return err
		}
		below, err := filepath.Rel(home, path)
		if err != nil {
			return err
		}
		name := homePrefix + filepath.ToSlash(below)
		switch {
		case leftover.MatchString(entry.Name()):
			return nil
		case entry.Name() == journal.IdentityFile && !entry.IsDir():
			return nil // what belongs to a journal is written by the kernel that has it
		case entry.IsDir():
			return e.directory(name, below == ".", entry)
		case !entry.Type().IsRegular():
			e.done.Unsupported = append(e.done.Unsupported, below)
			return nil
		}
		if _, err := inside(name); err != nil {
			return fmt.Errorf("%s has a name that no archive can have: rename it", path)
		}
		return e.file(name, path)
	})
}

func (e *exporter) directory(name string, top bool, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil || top {
		return err
	}
	e.done.Files++
	return e.to.WriteHeader(&tar.Header{Name: name + "/", Typeflag: tar.TypeDir, Mode: int64(info.Mode().Perm()), ModTime: info.ModTime(), Format: tar.FormatPAX})
}

// file adds one file.
func (e *exporter) file(name, path string) error {
	// A file that has just become a pipe or a link is neither waited for nor followed.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it was removed during the export
	}
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() || e.itself != nil && os.SameFile(info, e.itself) {
		return err
	}
	header := &tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: int64(info.Mode().Perm()), ModTime: info.ModTime(), Size: info.Size(), Format: tar.FormatPAX}
	if err := e.to.WriteHeader(header); err != nil {
		return err
	}
	n, err := io.Copy(e.to, io.LimitReader(contextReader{e.ctx, file}, info.Size()))
	if err == nil && n < info.Size() {
		err = fmt.Errorf("%s became shorter while it was read; try again", path)
	}
	e.done.Files++
	e.done.Bytes += n
	return err
}

// journal adds a snapshot of the journal, if there is one.
func (e *exporter) journal(paths config.Paths) error {
	snapshot := paths.Journal + ".exported~"
	if err := os.Remove(snapshot); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // it is left over from an export that was killed
	}
	err := journal.Snapshot(e.ctx, paths.Journal, snapshot)
	if protocol.ErrorCode(err) == protocol.CodeNotFound {
		return nil
	}
	if err == nil {
		e.done.Journal = true
		err = e.file(journalName, snapshot)
	}
	if err == nil {
		err = e.old(paths, snapshot+"-old")
	}
	if gone := os.Remove(snapshot); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

// old adds a snapshot of the journal's archive, if there is one.
func (e *exporter) old(paths config.Paths, snapshot string) error {
	if err := os.Remove(snapshot); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // see journal
	}
	found, err := journal.SnapshotArchive(e.ctx, paths.Journal, snapshot)
	if !found || err != nil {
		return err
	}
	return errors.Join(e.file(oldName, snapshot), os.Remove(snapshot))
}

// contextReader fails once its context has ended.
type contextReader struct {
	ctx  context.Context
	from io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}
