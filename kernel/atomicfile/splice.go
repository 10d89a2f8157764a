package atomicfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// splice is stored beside a file while the end of the file is written in place. With it, the change
// of a process that died meanwhile can be undone.
type splice struct {
	At  int64  `json:"at"`
	Old []byte `json:"old"` // the file's end, from At on
	New []byte `json:"new"` // the new end
}

// spliceSuffix ends the name of the file with the splice. The name begins with a dot and the name
// of the spliced file.
const spliceSuffix = ".splice~"

func splicePath(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+spliceSuffix)
}

// Splice does the same as [Replace] for a large file of which only the end changes. content
// replaces everything after the first at bytes of old, and must not be shorter than that. Only the
// end is written, in place, so the file remains the same file. A reader may see a part of the new
// end for a moment. After a crash [Mend] undoes the change.
func Splice(path string, old []byte, at int, content []byte) error {
	if at < 0 || at > len(old) || len(content) < len(old)-at {
		return fmt.Errorf("write %s: %d bytes do not stand in for those from %d to %d", path, len(content), at, len(old))
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o222 == 0 {
		return fmt.Errorf("write %s: it is read-only, make it writable", path)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrChanged
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	err = spliceInto(file, path, old, splice{int64(at), old[at:], content})
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func spliceInto(file *os.File, path string, old []byte, s splice) error {
	record, err := json.Marshal(s)
	if err != nil {
		return err
	}
	beside := splicePath(path)
	if err := write(beside, record, 0o600, (*os.File).Sync); err != nil {
		return err
	}
	if err := unchanged(file, old); err != nil {
		return errors.Join(err, os.Remove(beside))
	}
	if _, err = file.WriteAt(s.New, s.At); err == nil {
		err = file.Sync()
	}
	if err != nil { // for example because the disk is full
		return errors.Join(err, Mend(path))
	}
	if err := os.Remove(beside); err != nil {
		return err
	}
	return checkSame(file, path)
}

// unchanged returns [ErrChanged] if the file has another content.
func unchanged(file *os.File, content []byte) error {
	if info, err := file.Stat(); err != nil || info.Size() != int64(len(content)) {
		return errors.Join(err, ErrChanged)
	}
	buffer := make([]byte, 1<<16)
	for at := 0; at < len(content); {
		n, err := file.ReadAt(buffer[:min(len(buffer), len(content)-at)], int64(at))
		switch {
		case n > 0 && !bytes.Equal(buffer[:n], content[at:at+n]), errors.Is(err, io.EOF):
			return ErrChanged
		case err != nil:
			return err
		}
		at += n
	}
	return nil
}

// checkSame returns [ErrChanged] if another program has replaced the file. Nobody would see what is
// written to the old one.
func checkSame(file *os.File, path string) error {
	mine, err := file.Stat()
	if err != nil {
		return err
	}
	if now, err := os.Stat(path); err != nil || !os.SameFile(mine, now) {
		return ErrChanged
	}
	return nil
}

// Mend undoes a [Splice] that a process began and did not finish. A complete one stays, and so does
// any later change of the file. Without an unfinished Splice it does nothing.
func Mend(path string) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	beside := splicePath(path)
	record, err := os.ReadFile(beside)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("mend %s: %w", path, err)
	}
	var s splice
	if err := json.Unmarshal(record, &s); err == nil { // an unreadable record was not complete, so the file was not changed yet
		if err := s.undo(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("mend %s: %w", path, err)
		}
	}
	if err := os.Remove(beside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("mend %s: %w", path, err)
	}
	return nil
}

func (s splice) undo(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	end, err := io.ReadAll(io.NewSectionReader(file, s.At, int64(len(s.New))+1))
	if err == nil && s.unfinished(end) {
		if _, err = file.WriteAt(s.Old, s.At); err == nil {
			err = errors.Join(file.Truncate(s.At+int64(len(s.Old))), file.Sync())
		}
	}
	return errors.Join(err, file.Close())
}

// unfinished reports whether end begins with a part of the new end, continues with the rest of the
// old one, and is not the complete new end.
func (s splice) unfinished(end []byte) bool {
	if bytes.Equal(end, s.New) || len(end) < len(s.Old) || len(end) > len(s.New) {
		return false
	}
	written := 0
	for written < len(end) && end[written] == s.New[written] {
		written++
	}
	return written == len(end) || len(end) == len(s.Old) && bytes.Equal(end[written:], s.Old[written:])
}

// MendAll calls [Mend] for every file of the directory.
func MendAll(directory string) error {
	left, err := filepath.Glob(filepath.Join(directory, ".*"+spliceSuffix))
	for _, beside := range left {
		name := filepath.Base(beside)
		err = errors.Join(err, Mend(filepath.Join(directory, name[1:len(name)-len(spliceSuffix)])))
	}
	return err
}
