package journal

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"org-agent/kernel/journal/pages"
)

// SalvageArchive puts a new archive in the place of the damaged one of the journal at path, with all rows that
// can be read and that are as they were. The damaged file is renamed and not changed. No other process
// may write the archive.
func SalvageArchive(ctx context.Context, path string) (Incident, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return Incident{}, fmt.Errorf("find the journal %s: %w", path, err)
	}
	f := &archiveFile{path: ArchivePath(absolute)}
	told, err := f.salvage(ctx)
	return told, errors.Join(err, f.close())
}

// salvage does what [SalvageArchive] promises.
func (f *archiveFile) salvage(ctx context.Context) (told Incident, err error) {
	if err := f.close(); err != nil && !Damaged(err) {
		return told, err
	}
	fresh := &archiveFile{path: f.path + ".salvaging"}
	for _, suffix := range archiveBesides {
		if err := os.Remove(fresh.path + suffix); !errors.Is(err, fs.ErrNotExist) && err != nil {
			return told, err
		}
	}
	kept, err := freeName(f.path, "damaged")
	if err != nil {
		return told, err
	}
	saved, err := f.copyRows(ctx, fresh)
	if err = errors.Join(err, fresh.close()); err != nil {
		return told, fmt.Errorf("salvage the archive %s: %w", f.path, err)
	}
	for _, suffix := range archiveBesides {
		if err := os.Rename(f.path+suffix, kept+suffix); !errors.Is(err, fs.ErrNotExist) && err != nil {
			return told, err
		}
	}
	if err := errors.Join(os.Rename(fresh.path, f.path), syncFile(filepath.Dir(f.path))); err != nil {
		return told, err
	}
	return Incident{now(), fmt.Sprintf("the archive of old requests %s was damaged: %d of its rows were saved into a new file. The former file is kept as %s. "+
		"What was said and done is in the journal and is not touched", f.path, saved, kept)}, nil
}

// archiveBesides are the ends of the names of the files of an archive.
var archiveBesides = [...]string{"", "-journal", "-wal", "-shm"}

// copyRows copies the rows that can be read to another archive, which it makes.
func (f *archiveFile) copyRows(ctx context.Context, to *archiveFile) (saved int, err error) {
	source, err := pages.Open(f.path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	if err := to.put(ctx, nil); err != nil {
		return 0, err
	}
	var some []archivedRow
	size := 0
	write := func() error {
		err := to.put(ctx, some)
		some, size = nil, 0
		return err
	}
	for row := range archiveRowsOf(source) {
		one, ok := archivedRowOf(row)
		if !ok {
			continue
		}
		some, size, saved = append(some, one), size+len(one.data), saved+1
		if size > archiveBytes {
			if err := write(); err != nil {
				return saved, err
			}
		}
	}
	return saved, write()
}

// archiveRowsOf returns the rows to which a tree leads, and those to which none does.
func archiveRowsOf(source *pages.Source) iter.Seq[pages.Row] {
	return func(yield func(pages.Row) bool) {
		reader := pages.NewReader(source)
		for _, table := range reader.Tables() {
			if table.Name != "body" {
				continue
			}
			for row := range reader.Tree(table.Root) {
				if !yield(row) {
					return
				}
			}
		}
		for leaf := range reader.Rest() {
			for _, row := range leaf.Rows {
				if !leaf.Index && !yield(row) {
					return
				}
			}
		}
	}
}

// archivedRowOf reads a row. ok is false for one that is not as it was written.
func archivedRowOf(row pages.Row) (one archivedRow, ok bool) {
	if len(row.Values) != 4 {
		return one, false
	}
	seq, isSeq := row.Values[1].(int64)
	sum, isSum := row.Values[2].(string)
	packed, isData := row.Values[3].([]byte)
	if !isSeq || !isSum || !isData {
		return one, false
	}
	data, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), dataLimit+1))
	hash := sha256.Sum256(data)
	return archivedRow{seq: seq, data: data, sum: sum}, err == nil && hex.EncodeToString(hash[:]) == sum
}
