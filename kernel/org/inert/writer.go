package inert

import (
	"strings"
	"unicode/utf8"
)

// Options say what a [Writer] knows of the file that the text goes to. The zero value knows nothing.
type Options struct {
	// File says what the file has already. It is asked once, and only when the text has a name or a
	// footnote. A name that is also the file's is held, and a label that is also the file's becomes
	// another. Nil means that the file has nothing.
	File func() *File
	// Tags are tags that are held besides those of the list, in any case: those that the person has chosen for
	// their tasks.
	Tags []string
}

// A Writer makes a text inert. See the package for what it promises.
type Writer struct {
	options  Options
	out      pieces
	line     pieces // the line that has not ended, with its controls made visible
	carriage bool   // a carriage return came last, which a line end would take with it
	retry    int    // the line is not looked at again before it has this length
	streams  bool   // the line is text, which is written before it has ended
	scan     scan   // of that line

	surroundings

	file   *File             // what the file has, once it was asked for
	labels map[string]string // what footnotes' labels became
	given  map[string]bool   // those that they became
	number int               // of the line
	noted  func(Place)
}

// surroundings is where a line stands. A heading ends all of it.
type surroundings struct {
	block      string // the verbatim block that the line is in, as Org reads it; "" for none
	blockStays string // the same as it is written: a block of a held language is an example
	verse      bool   // within a verse block
	drawer     bool
	properties bool   // within a property drawer
	latex      string // the LaTeX environment that the line is in
	footnote   bool   // within a footnote's definition
	blanks     int    // blank lines directly before
	paragraph  opened // what the paragraph has opened and may close
	belongs    bool   // the line directly above says something of what comes, by which a comment is text
}

// A Place is a place that is held.
type Place struct {
	Line int // from 1
	Rule Rule
	What string // what is held, in a few words
}

// New returns a writer for one text.
func New(options Options) *Writer { return &Writer{options: options, number: 1} }

// Text makes a whole text inert. One without a line end at its end gets none.
func Text(text string, options Options) string {
	w := New(options)
	return w.Write(text) + w.Close()
}

// Check reports whether a text is inert, and if not, the first place that would have to be held.
func Check(text string, options Options) (Place, bool) {
	first, inert := Place{}, true
	w := New(options)
	w.noted = func(p Place) {
		if inert {
			first, inert = p, false
		}
	}
	w.Write(text)
	w.Close()
	return first, inert
}

// Title makes the title of a heading of the kernel's own inert, without its stars. What its labels
// become holds for the text too.
func (w *Writer) Title(title string) string {
	const stars = "* "
	own := &Writer{options: w.options, number: w.number, noted: w.noted, file: w.file, labels: w.labels, given: w.given}
	inert := own.Write(stars+title) + own.Close()
	w.file, w.labels, w.given = own.file, own.labels, own.given
	return strings.TrimPrefix(inert, stars)
}

// Write takes the next piece of the text and returns what is final. A piece ends with a whole
// character.
func (w *Writer) Write(text string) string {
	w.out.Grow(len(text) + len(text)/8)
	for {
		end := strings.IndexByte(text, '\n')
		if end < 0 {
			break
		}
		l := text[:end]
		if w.line.rest() != "" || w.carriage || !isVisible(l) {
			w.add(l)
			w.carriage = false
			l = w.line.rest()
		}
		w.endLine(l)
		w.out.WriteByte('\n')
		w.number++
		text = text[end+1:]
	}
	if text != "" {
		w.add(text)
		w.goOn()
	}
	return w.out.take()
}

// Trusted adds lines of the kernel's own, a heading with its drawers. They begin and end with whole
// lines, and what follows is text below them.
func (w *Writer) Trusted(lines string) string {
	w.surroundings = surroundings{}
	w.out.WriteString(lines)
	w.number += strings.Count(lines, "\n")
	return w.out.take()
}

// Close ends the text and returns the rest. A verbatim block that is still open is closed.
func (w *Writer) Close() string {
	w.carriage = false
	unended := w.line.rest() != ""
	if unended {
		w.endLine(w.line.rest())
	}
	if w.block != "" {
		if unended {
			w.out.WriteByte('\n')
		}
		w.out.WriteString("#+end_" + w.blockStays)
		if !unended {
			w.out.WriteByte('\n')
		}
		w.block = ""
	}
	return w.out.take()
}

// pieces is a text that is taken piece by piece. Short pieces share memory.
type pieces struct {
	strings.Builder
	taken int // bytes
}

// rest is what was not taken yet.
func (p *pieces) rest() string { return p.String()[p.taken:] }

// take returns the rest.
func (p *pieces) take() string {
	const enough = 4096
	piece := p.rest()
	if p.taken = p.Len(); p.taken > enough {
		p.Reset()
		p.taken = 0
	}
	return piece
}

// add adds to the line. Controls and direction marks become visible.
func (w *Writer) add(text string) {
	if w.carriage && text != "" {
		w.line.WriteRune(w.visible('\r'))
		w.carriage = false
	}
	if before, ok := strings.CutSuffix(text, "\r"); ok {
		text, w.carriage = before, true
	}
	if isVisible(text) {
		w.line.WriteString(text)
		return
	}
	for _, r := range text {
		w.line.WriteRune(w.visible(r))
	}
}

// isVisible reports whether all of a text stays as it is.
func isVisible(text string) bool {
	for _, r := range text {
		if invisible(r) || r == utf8.RuneError {
			return false
		}
	}
	return true
}

// invisible reports whether a character controls a terminal or the direction of text. A blank, a tab
// and the marks that Arabic and Hebrew need are text.
func invisible(r rune) bool {
	switch {
	case r >= ' ' && r < 0x7f:
		return false // most text
	case r < ' ':
		return r != '\t'
	case r >= 0x7f && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return false
}

// visible is the character that stands for one that is not. In text those that other programs take
// for the end of a line are blanks.
func (w *Writer) visible(r rune) rune {
	const pictures = 0x2400
	switch {
	case !invisible(r):
		return r
	case w.block == "" && strings.ContainsRune("\r\f\v", r):
		return ' '
	case r < ' ':
		return pictures + r
	case r == 0x7f:
		return pictures + 0x21
	}
	return utf8.RuneError
}

// goOn writes what is decided of a line that has not ended.
func (w *Writer) goOn() {
	l := w.line.rest()
	if len(l) < w.retry {
		return
	}
	if !w.streams {
		if w.block != "" || w.properties || !beginsText(l) {
			return
		}
		w.streams = true
		w.scan = w.textScan()
	}
	w.scan.run(l, false)
	// What is undecided is looked at anew. Waiting until it has grown by an eighth keeps this linear.
	w.retry = len(l) + (len(l)-w.scan.at)/8
}

// beginsText reports whether a line's beginning says that it is text, whatever follows.
func beginsText(l string) bool {
	indent := indentation(l)
	rest := l[indent:]
	if rest == "" {
		return false
	}
	switch rest[0] {
	case '*':
		stars := len(rest) - len(strings.TrimLeft(rest, "*"))
		return indent > 0 || stars < len(rest) && rest[stars] != ' '
	case '\\':
		return len(rest) > 1 && rest[1] != 'b'
	}
	return strings.IndexByte("#:|%&", rest[0]) < 0
}

// endLine writes what is left of a line that has ended.
func (w *Writer) endLine(l string) {
	switch {
	case w.streams:
		w.scan.run(l, true)
		w.paragraph, w.blanks, w.belongs = w.scan.opened, 0, false
		w.footnote = w.footnote || startsFootnote(l)
		w.endEnvironment(l)
	default:
		w.whole(l)
	}
	w.line.take()
	w.retry, w.streams = 0, false
}

func (w *Writer) note(rule Rule, what string) {
	if w.noted != nil {
		w.noted(Place{w.number, rule, what})
	}
}

// doubtful reports whether a block's body may not be one for Org: what the block stands in may end
// within it. Then the body is read as text as well.
func (s surroundings) doubtful() bool { return s.verse || s.drawer || s.latex != "" || s.footnote }

func indentation(l string) int {
	n := 0
	for n < len(l) && (l[n] == ' ' || l[n] == '\t') {
		n++
	}
	return n
}

func isBlank(l string) bool { return indentation(l) == len(l) }

func isLetter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }

func isAlnum(b byte) bool { return isLetter(b) || b >= '0' && b <= '9' }

// cutWord cuts a text at its first blank.
func cutWord(text string) (word, rest string) {
	if i := strings.IndexAny(text, " \t"); i >= 0 {
		return text[:i], text[i:]
	}
	return text, ""
}
