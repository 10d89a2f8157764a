package withheld

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// scan gathers what must be known of a text before its first line is shown. The file's tags may be
// anywhere in it, and the inherited tags of an archived entry are below its heading.
type scan struct {
	file     Level         // by the file's tags
	inherits map[int]Level // by the line number of a heading
	setups   []string      // the names in #+SETUPFILE: lines
	origins  []origin
	heading  int // the line number of the last heading, 0 before the first
	number   int // the number of the last line
}

// origin is the file from which an entry was archived.
type origin struct {
	name    string
	heading int
}

// lineBytes is how much of a line is read.
const lineBytes = 64 << 10

const byteOrderMark = "\ufeff"

// scanText scans a text in memory.
func (s *scan) scanText(text string) {
	text = strings.TrimPrefix(text, byteOrderMark)
	for line := range strings.Lines(text) {
		s.number++
		if mayMatter(line) {
			s.line(line, false)
		}
	}
}

// read scans the text of a reader.
func (s *scan) read(text io.Reader) error {
	reader := bufio.NewReaderSize(text, lineBytes)
	for begins := true; ; {
		line, err := reader.ReadSlice('\n')
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		if begins {
			if s.number++; s.number == 1 {
				line = bytes.TrimPrefix(line, []byte(byteOrderMark))
			}
			if mayMatter(line) {
				s.line(string(line), errors.Is(err, bufio.ErrBufferFull))
			}
		}
		if begins = err == nil; errors.Is(err, io.EOF) {
			return nil
		}
	}
}

// mayMatter reports, by the first character, whether a line can matter.
func mayMatter[Text string | []byte](line Text) bool {
	for i := range len(line) {
		switch line[i] {
		case ' ', '\t':
		case '*':
			return i == 0
		case '#', ':':
			return true
		default:
			return false
		}
	}
	return false
}

// line scans a line. If cut is true, only its beginning is given, and the rest may contain any tag.
func (s *scan) line(line string, cut bool) {
	if depth, _ := headline(line); depth > 0 {
		s.heading = s.number
		return
	}
	level := func(tags string) Level {
		if cut {
			return Sealed
		}
		return levelOfTags(tags)
	}
	if tags, ok := keyword(line, "#+FILETAGS:"); ok {
		s.file = max(s.file, level(tags))
	} else if name, ok := keyword(line, "#+SETUPFILE:"); ok {
		if name = strings.Trim(name, `"`); name != "" {
			s.setups = append(s.setups, name)
		}
	} else if tags, ok := archived(line, "ITAGS"); ok {
		s.inherit(s.heading, level(tags))
	} else if name, ok := archived(line, "FILE"); ok && name != "" {
		s.origins = append(s.origins, origin{name, s.heading})
	}
}

// archived returns the value of a property of an archived entry, also of a property that adds to
// another.
func archived(line, name string) (value string, ok bool) {
	if value, ok = keyword(line, ":ARCHIVE_"+name+":"); !ok {
		value, ok = keyword(line, ":ARCHIVE_"+name+"+:")
	}
	return value, ok
}

// inherit records what the entry at a line inherits. Before the first heading this is for the whole
// file.
func (s *scan) inherit(heading int, level Level) {
	switch {
	case level == Shown:
	case heading == 0:
		s.file = max(s.file, level)
	default:
		if s.inherits == nil {
			s.inherits = map[int]Level{}
		}
		s.inherits[heading] = max(s.inherits[heading], level)
	}
}
