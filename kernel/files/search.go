package files

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"org-agent/kernel/protocol"
)

// Search describes a search in files.
type Search struct {
	Text    *regexp.Regexp
	Files   *Pattern // only in these files; nil: in all
	Context int      // lines before and after each match
	Limit   int      // matching lines
}

// Matches is the result of a search.
type Matches struct {
	Text       string // lines FILE:LINE:TEXT that match, and FILE-LINE-TEXT around them
	Lines      int    // lines that match
	Files      int    // files that were searched
	Full       bool   // a limit was reached: there may be more
	Incomplete bool   // there are more files than the limit of one walk
	Withheld   int    // files that were not searched because lines in them are withheld
}

// The limits of one search.
const (
	searchedLine = 64 << 10 // the rest of a longer line is not searched
	shownLine    = 300
	foundBytes   = 50_000
)

// Search searches the files of the tree. show converts a name below the tree to the name that is
// shown.
func (t Tree) Search(ctx context.Context, s Search, show func(name string) string) (Matches, error) {
	f := finder{search: s}
	whole, err := t.walk(ctx, func(in *os.Root, name, below string) bool {
		if s.Files != nil && !s.Files.Matches(below) || t.Keys != nil && t.Keys(filepath.Join(t.Root, below)) {
			return true
		}
		file, info, err := openIn(in, name)
		if err != nil {
			return true // it does not exist any more, or cannot be read
		}
		defer file.Close() // the file is only read
		f.file(ctx, filepath.Join(t.Root, below), show(below), file, info)
		return !f.full
	})
	return f.matches(!whole), err
}

// SearchFile searches one file. shown is the name of the file in the result.
func SearchFile(ctx context.Context, path string, s Search, shown string) (Matches, error) {
	file, info, err := open(path)
	if err != nil {
		return Matches{}, err
	}
	defer file.Close() // the file is only read
	f := finder{search: s}
	f.file(ctx, path, shown, file, info)
	if err := ctx.Err(); err != nil {
		return Matches{}, systemError(path, err)
	}
	if f.binary > 0 {
		return Matches{}, protocol.ToolErrorf(protocol.ToolUnfit, "%s is no text", filepath.Base(path))
	}
	return f.matches(false), nil
}

// finder searches one file after the other.
type finder struct {
	search        Search
	out           strings.Builder
	lines         int
	files         int
	binary        int
	withheldFiles int // files with withheld lines
	full          bool
	reader        *bufio.Reader

	last   int // the last line of this file that was written
	after  int // how many lines after the last match are still to be written
	before []numbered
}

type numbered struct {
	number int
	text   string
}

func (f *finder) matches(incomplete bool) Matches {
	return Matches{Text: f.out.String(), Lines: f.lines, Files: f.files, Full: f.full, Incomplete: incomplete && !f.full, Withheld: f.withheldFiles}
}

func (f *finder) file(ctx context.Context, path, name string, file *os.File, info fs.FileInfo) {
	if f.reader == nil {
		f.reader = bufio.NewReaderSize(nil, searchedLine)
	}
	f.reader.Reset(contextReader{ctx, io.LimitReader(file, info.Size())})
	head, _ := f.reader.Peek(8000) // the next read returns the error again
	if notText(head) != "" {
		f.binary++
		return
	}
	if bytes.HasPrefix(head, []byte(byteOrderMark)) {
		_, _ = f.reader.Discard(len(byteOrderMark)) // it was peeked at
	}
	veil, err := veilOf(ctx, path, file, info)
	if err != nil {
		return // it counts as a file that cannot be opened
	}
	f.files++
	f.last, f.after, f.before = -1, 0, f.before[:0]
	keeps := 0
	for number := 1; !f.full; number++ {
		line, cut, more := f.next()
		if !more {
			break
		}
		if veil != nil && veil.Hides(string(line), cut) {
			keeps = 1
			continue
		}
		f.line(name, number, line)
	}
	f.withheldFiles += keeps
}

// next returns the next line, or its beginning. cut is true if there is more of the line, more is
// false at the end of the file.
func (f *finder) next() (line []byte, cut, more bool) {
	line, err := f.reader.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		if err != nil && len(line) == 0 {
			return nil, false, false
		}
		return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), false, true
	}
	line = bytes.Clone(line)
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = f.reader.ReadSlice('\n')
	}
	return line, true, true
}

func (f *finder) line(name string, number int, line []byte) {
	found := f.search.Text.FindIndex(line)
	switch {
	case found != nil && f.lines == f.search.Limit || f.out.Len() > foundBytes:
		f.full = true
	case found != nil:
		f.lines++
		for _, b := range f.before {
			f.write(name, b.number, '-', b.text)
		}
		f.before = f.before[:0]
		f.write(name, number, ':', visiblePart(line, found[0]))
		f.after = f.search.Context
	case f.after > 0:
		f.after--
		f.write(name, number, '-', visiblePart(line, 0))
	case f.search.Context > 0:
		if len(f.before) == f.search.Context {
			f.before = append(f.before[:0], f.before[1:]...)
		}
		f.before = append(f.before, numbered{number, visiblePart(line, 0)})
	}
}

func (f *finder) write(name string, number int, mark byte, text string) {
	if f.search.Context > 0 && f.out.Len() > 0 && number != f.last+1 {
		f.out.WriteString("--\n")
	}
	f.last = number
	fmt.Fprintf(&f.out, "%s%c%d%c%s\n", name, mark, number, mark, text)
}

// visiblePart returns the part of a line that is shown, with the match at byte at.
func visiblePart(line []byte, at int) string {
	before, after := "", ""
	if at > shownLine*2/3 {
		from := at - shownLine/3
		for from < at && line[from]&0xc0 == 0x80 {
			from++
		}
		line, before = line[from:], "…"
	}
	if len(line) > shownLine {
		line, after = line[:wholeCharacters(line[:shownLine])], "…"
	}
	text, _ := escapeInvalid(line)
	return before + text + after
}
