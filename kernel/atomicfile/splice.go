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

// splice is what stands beside a file while its end is written in place: enough to take back
// what a process left that died meanwhile.
type splice struct {
	At  int64  `json:"at"`
	Old []byte `json:"old"` // what stood from At on
	New []byte `json:"new"` // and what is to stand there
}

// spliceSuffix ends the name of that; it begins with a dot and the file's name.
const spliceSuffix = ".splice~"

func splicePath(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+spliceSuffix)
}

// Splice is [Replace] for a large file of which only the end changes: content comes in the place
// of what follows the first at bytes of old, and must not be shorter. The end alone is written,
// in place, so that the file stays the one it was. Who reads it in that instant may see a part;
// a process that dies then leaves what [Mend] takes back.
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
	if err != nil { // as when the disk is full
		return errors.Join(err, Mend(path))
	}
	if err := os.Remove(beside); err != nil {
		return err
	}
	return same(file, path)
}

// unchanged is ErrChanged when the file has another content.
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

// same is ErrChanged when another program has put another file in the place of this one: what
// was written to it is seen by nobody.
func same(file *os.File, path string) error {
	mine, err := file.Stat()
	if err != nil {
		return err
	}
	if now, err := os.Stat(path); err != nil || !os.SameFile(mine, now) {
		return ErrChanged
	}
	return nil
}

// Mend makes a file what it was before a [Splice] that a process began and did not end; what
// was written whole stays, and so does what somebody else made of the file since. Without
// such a Splice it does nothing.
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
	if err := json.Unmarshal(record, &s); err == nil { // one that cannot be read was never acted on
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
	if err == nil && s.begun(end) {
		if _, err = file.WriteAt(s.Old, s.At); err == nil {
			err = errors.Join(file.Truncate(s.At+int64(len(s.Old))), file.Sync())
		}
	}
	return errors.Join(err, file.Close())
}

// begun reports whether end is a beginning of the new end with what is left of the old one
// behind it, and not yet the whole.
func (s splice) begun(end []byte) bool {
	if bytes.Equal(end, s.New) || len(end) < len(s.Old) || len(end) > len(s.New) {
		return false
	}
	written := 0
	for written < len(end) && end[written] == s.New[written] {
		written++
	}
	return written == len(end) || len(end) == len(s.Old) && bytes.Equal(end[written:], s.Old[written:])
}

// MendAll does as [Mend] for every file of the directory.
func MendAll(directory string) error {
	left, err := filepath.Glob(filepath.Join(directory, ".*"+spliceSuffix))
	for _, beside := range left {
		name := filepath.Base(beside)
		err = errors.Join(err, Mend(filepath.Join(directory, name[1:len(name)-len(spliceSuffix)])))
	}
	return err
}
