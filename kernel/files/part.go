package files

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"

	"org-agent/kernel/protocol"
	"org-agent/kernel/withheld"
)

// The limits of one call.
const (
	PartLines = 2000
	partBytes = 50_000
	lineBytes = 4096     // the rest of a longer line is left out
	hashLimit = 64 << 20 // a larger file is not read to its end
)

// byteOrderMark begins some files. It does not belong to the first line.
const byteOrderMark = "\ufeff"

// Part is some lines of a text.
type Part struct {
	From    int      // the number of the first line, from 1
	Lines   []string // without line ends; invalid UTF-8 as \xNN
	Next    int      // the number of the next line; 0: there is none
	Total   int      // how many lines the file has; 0: unknown
	Size    int64
	Hash    string // of the whole file; "" if it is too large for that
	Mark    bool   // the file begins with a byte order mark
	CRLF    int    // how many of the lines end in a carriage return and a newline
	Open    bool   // the file's last line is among them and has no line end
	Escaped bool   // some bytes of the lines are not UTF-8
	Cut     bool   // a long line is not complete
	// Withheld are the lines that no model may see ([withheld.Veil]). Lines does not contain them.
	Withheld []protocol.LineSpan
}

// Lines reads at most limit lines of a text, beginning with the line from. It refuses a file that
// is not a text, and says what it is.
func Lines(ctx context.Context, path string, from, limit int) (Part, error) {
	if from < 0 || limit < 0 {
		return Part{}, protocol.ToolErrorf(protocol.ToolArguments, "lines are counted from 1: :from and :limit are not less")
	}
	from = max(from, 1)
	if limit == 0 || limit > PartLines {
		limit = PartLines
	}
	file, info, err := open(path)
	if err != nil {
		return Part{}, err
	}
	defer file.Close() // the file is only read
	sum := sha256.New()
	reader := bufio.NewReaderSize(io.TeeReader(io.LimitReader(contextReader{ctx, file}, info.Size()), sum), 1<<16)
	head, err := reader.Peek(8000)
	if err != nil && !errors.Is(err, io.EOF) {
		return Part{}, systemError(path, err)
	}
	if kind := notText(head); kind != "" {
		return Part{}, protocol.ToolErrorf(protocol.ToolUnfit, "%s is %s of %d bytes: it is not shown here", path, kind, info.Size())
	}
	p := Part{From: from, Size: info.Size(), Mark: bytes.HasPrefix(head, []byte(byteOrderMark))}
	if p.Mark {
		_, _ = reader.Discard(len(byteOrderMark)) // it was peeked at
	}
	veil, err := veilOf(ctx, path, file, info)
	if err != nil {
		return Part{}, err
	}
	if err := p.read(reader, limit, sum, veil); err != nil {
		return Part{}, systemError(path, err)
	}
	if p.Total > 0 && from > p.Total || p.Size == 0 && from > 1 {
		return Part{}, protocol.ToolErrorf(protocol.ToolArguments, "%s has %d lines: :from is not more", path, p.Total)
	}
	return p, nil
}

func (p *Part) read(reader *bufio.Reader, limit int, sum hash.Hash, veil *withheld.Veil) error {
	size := 0
	for number := 1; ; number++ {
		line, ended, left, err := readLine(reader, lineBytes)
		if errors.Is(err, io.EOF) {
			p.Total, p.Hash = number-1, shortHash(sum.Sum(nil))
			return nil
		}
		if err != nil {
			return err
		}
		hidden := veil != nil && veil.Hides(string(bytes.TrimSuffix(line, []byte("\r"))), left > 0)
		if number < p.From || p.Next > 0 {
			continue
		}
		if hidden {
			p.withhold(number)
			continue
		}
		text, escaped := escapeInvalid(line)
		if len(p.Lines) == limit || len(p.Lines) > 0 && size+len(text) > partBytes {
			if p.Next = number; p.Size > hashLimit {
				return nil
			}
			continue
		}
		if bytes.HasSuffix(line, []byte("\r")) && ended {
			text = strings.TrimSuffix(text, "\r")
			p.CRLF++
		}
		if left > 0 {
			text += fmt.Sprintf("[… %d bytes of this line are left out]", left)
		}
		size += len(text) + 1
		p.Lines = append(p.Lines, text)
		p.Open, p.Escaped, p.Cut = !ended, p.Escaped || escaped, p.Cut || left > 0
	}
}

// withhold records that a line is left out.
func (p *Part) withhold(number int) {
	if n := len(p.Withheld); n > 0 && p.Withheld[n-1].Last == number-1 {
		p.Withheld[n-1].Last = number
		return
	}
	p.Withheld = append(p.Withheld, protocol.LineSpan{First: number, Last: number})
}

// veilOf returns the veil of a file, or nil if it is not an Org file.
func veilOf(ctx context.Context, path string, file io.ReaderAt, info fs.FileInfo) (*withheld.Veil, error) {
	veil, err := withheld.Over(path, contextReaderAt{ctx, file}, info)
	if err != nil {
		return nil, systemError(path, err)
	}
	return veil, nil
}

// readLine reads a line and returns at most that many bytes of it, in whole characters. left is how
// many bytes were dropped. ended is true if the line ended in a newline, which is not returned. The
// error is io.EOF if there is no line.
func readLine(reader *bufio.Reader, most int) (line []byte, ended bool, left int, err error) {
	for {
		piece, err := reader.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) && !errors.Is(err, io.EOF) {
			return nil, false, 0, err
		}
		if ended = err == nil; ended {
			piece = piece[:len(piece)-1]
		}
		if errors.Is(err, io.EOF) && len(line)+left+len(piece) == 0 {
			return nil, false, 0, io.EOF
		}
		keep := min(len(piece), most-len(line))
		if left > 0 {
			keep = 0
		}
		line = append(line, piece[:keep]...)
		if left += len(piece) - keep; left > 0 && left == len(piece)-keep {
			whole := wholeCharacters(line)
			left += len(line) - whole
			line = line[:whole]
		}
		if ended || errors.Is(err, io.EOF) {
			return line, ended, left, nil
		}
	}
}

// wholeCharacters returns the length of a text without an incomplete character at its end.
func wholeCharacters(text []byte) int {
	for i := len(text) - 1; i >= 0 && i >= len(text)-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return i
			}
			break
		}
	}
	return len(text)
}

// escapeInvalid returns a line with every byte that is not UTF-8 as \xNN.
func escapeInvalid(line []byte) (text string, escaped bool) {
	if utf8.Valid(line) && bytes.IndexByte(line, 0) < 0 {
		return string(line), false
	}
	var b strings.Builder
	for len(line) > 0 {
		c, size := utf8.DecodeRune(line)
		if c == utf8.RuneError && size == 1 || c == 0 {
			fmt.Fprintf(&b, `\x%02x`, line[0])
			escaped = true
		} else {
			b.Write(line[:size])
		}
		line = line[size:]
	}
	return b.String(), escaped
}

// notText returns what a file is, by its first bytes, or "" for a text.
func notText(head []byte) string {
	for _, k := range []struct{ begins, kind string }{
		{"\x89PNG\r\n", "an image"}, {"\xff\xd8\xff", "an image"}, {"GIF87a", "an image"}, {"GIF89a", "an image"}, {"%PDF-", "a PDF"},
	} {
		if bytes.HasPrefix(head, []byte(k.begins)) {
			return k.kind
		}
	}
	if bytes.HasPrefix(head, []byte("RIFF")) && len(head) >= 12 && string(head[8:12]) == "WEBP" {
		return "an image"
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return "a binary file"
	}
	return ""
}
