package withheld

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Veil reports for the lines of a text, one after the other, whether they are withheld. The zero
// value is for an Org text without related files whose file tags are not known yet.
type Veil struct {
	all      Level
	inherits map[int]Level
	number   int
	// The depths of the headings whose subtrees are withheld, at least to that level; 0 is none.
	own, sealed int
}

// Over returns the veil of an open file, or nil if the file is not Org. It reads the file to its
// end. path must be absolute, so that the related files are found.
func Over(path string, file io.ReaderAt, info fs.FileInfo) (*Veil, error) {
	if encrypted(path) {
		return &Veil{all: Sealed}, nil
	}
	if !named(path) && !linked(info) {
		head, err := part(file, 0, min(headBytes, info.Size()))
		if err != nil {
			return nil, err
		}
		tail, err := part(file, max(0, info.Size()-tailBytes), info.Size())
		if err != nil {
			return nil, err
		}
		if !declared(head, tail) {
			return nil, nil
		}
	}
	var s scan
	if err := s.read(io.NewSectionReader(file, 0, info.Size())); err != nil {
		return nil, err
	}
	(&relatedFiles{}).complete(&s, path)
	return &Veil{all: s.file, inherits: s.inherits}, nil
}

// Hidden reports whether something in the file at an absolute path is withheld, and returns its text if
// that is so. There need not be a file.
func Hidden(path string) (text string, hides bool, err error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	defer func() { _ = file.Close() }() // the file is only read
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return "", false, err
	}
	veil, err := Over(path, file, info)
	if err != nil || veil == nil && !setsTags(file, info) {
		return "", false, err
	}
	data, err := io.ReadAll(io.LimitReader(file, info.Size()))
	if err != nil {
		return "", false, err
	}
	text = string(data)
	return text, len(File(path, text).Parts) > 0 || fileLevel(text) > Shown, nil
}

// setsTags reports whether a file that is not Org has a line that gives tags to whole files.
func setsTags(file io.ReaderAt, info fs.FileInfo) bool {
	var s scan
	return s.read(io.NewSectionReader(file, 0, info.Size())) != nil || s.file > Shown
}

func part(file io.ReaderAt, from, to int64) ([]byte, error) {
	data, err := io.ReadAll(io.NewSectionReader(file, from, to-from))
	if err != nil {
		return nil, fmt.Errorf("look whether it is Org: %w", err)
	}
	return data, nil
}

// linked reports whether a file has other names. One of them may be the name of an Org file.
func linked(info fs.FileInfo) bool {
	system, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode().IsRegular() && system.Nlink > 1
}

// Hides reports whether the next line, given without its end, is withheld from models. If cut is
// true, only the beginning of the line is given.
func (v *Veil) Hides(line string, cut bool) bool { return v.next(line, cut) > Shown }

// next returns the level of the next line.
func (v *Veil) next(line string, cut bool) Level {
	v.number++
	if v.all == Sealed {
		return Sealed
	}
	if mayMatter(line) {
		v.tell(line, cut)
	}
	switch {
	case v.sealed > 0:
		return Sealed
	case v.own > 0:
		return max(v.all, Private)
	}
	return v.all
}

func (v *Veil) tell(line string, cut bool) {
	if depth, level := headline(line); depth > 0 {
		if level = max(level, v.inherits[v.number]); cut {
			level = Sealed // its tags would be at its end, which is not given
		}
		if depth <= v.sealed {
			v.sealed = 0
		}
		if depth <= v.own {
			v.own = 0
		}
		if level == Sealed && v.sealed == 0 {
			v.sealed = depth
		}
		if level == Private && v.own == 0 {
			v.own = depth
		}
		return
	}
	if tags, ok := keyword(line, "#+FILETAGS:"); ok { // the file may have changed since the scan
		if v.all = max(v.all, levelOfTags(tags)); cut {
			v.all = Sealed
		}
	}
}

// isOrg reports whether the text of a file is Org.
func isOrg(path, text string) bool {
	if named(path) || declared([]byte(text[:min(len(text), headBytes)]), []byte(text[max(0, len(text)-tailBytes):])) {
		return true
	}
	info, err := os.Stat(path)
	return err == nil && linked(info)
}
