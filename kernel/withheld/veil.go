package withheld

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Veil tells of the lines of a text, one after the other, which are withheld. The zero value is
// that of an Org text of which nothing is known beforehand.
type Veil struct {
	all      Level
	inherits map[int]Level
	number   int
	// The depths of the headings whose subtrees are withheld, at least to that level; 0: none is.
	own, sealed int
}

// Over is the veil of a file that is open, nil of one that is no Org; it reads the file to its
// end. Path is absolute, so that the files are found whose tags count.
func Over(path string, file io.ReaderAt, info fs.FileInfo) (*Veil, error) {
	if Encrypted(path) {
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
	(&beside{}).complete(&s, path)
	return &Veil{all: s.file, inherits: s.inherits}, nil
}

func part(file io.ReaderAt, from, to int64) ([]byte, error) {
	data, err := io.ReadAll(io.NewSectionReader(file, from, to-from))
	if err != nil {
		return nil, fmt.Errorf("look whether it is Org: %w", err)
	}
	return data, nil
}

// linked reports whether a file has other names, one of which may be that of an Org file.
func linked(info fs.FileInfo) bool {
	system, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode().IsRegular() && system.Nlink > 1
}

// Hides reports whether the line that follows, without its end, is withheld from models. Cut:
// only its beginning is given.
func (v *Veil) Hides(line string, cut bool) bool { return v.next(line, cut) > Shown }

// next is the level of the line that follows.
func (v *Veil) next(line string, cut bool) Level {
	v.number++
	if v.all == Sealed {
		return Sealed
	}
	if telling(line) {
		v.tell(line, cut)
	}
	switch {
	case v.sealed > 0:
		return Sealed
	case v.own > 0:
		return max(v.all, Own)
	}
	return v.all
}

func (v *Veil) tell(line string, cut bool) {
	if depth, level := headline(line); depth > 0 {
		if level = max(level, v.inherits[v.number]); cut {
			level = Sealed // its end, where its tags would be, is not given
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
		if level == Own && v.own == 0 {
			v.own = depth
		}
		return
	}
	if tags, ok := keyword(line, "#+FILETAGS:"); ok { // the file may have changed since it was scanned
		if v.all = max(v.all, written(tags)); cut {
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
