package org

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// MaxText is the number of bytes a [Converter] accepts. What a model writes beyond it
// is dropped.
const MaxText = 8 << 20

// A Dialect is how a text is read.
type Dialect int

// Dialects.
const (
	// Auto decides once, by the first line that is not blank: stars and a blank, "#+" or
	// ":NAME:" at column 0 mean Org, anything else Markdown.
	Auto Dialect = iota
	// Markdown converts everything Markdown has.
	Markdown
	// OrgWithMarkdown is Org in which only what Org lacks is converted: fences, **bold**,
	// `code`, [text](url), ![alt](url), ~~struck~~, "## heading".
	OrgWithMarkdown
	// PureOrg is Org in which nothing is converted, only made inert.
	PureOrg
)

// Options say what a [Converter] makes. The zero value prints a text alone, its
// headings at their own levels.
type Options struct {
	Dialect Dialect
	// QuestionLevel is q, the level of the question's heading. Without Answer it is
	// added to the level of every heading.
	QuestionLevel int
	// Answer makes the answer's heading at q+1 with the tag :agent:, and a property
	// drawer with Properties, in that order, right below.
	Answer     bool
	Properties []Property
}

// A Converter turns a stream of text from outside into inert Org (see [Inert]). It
// writes only at the end: what Write and Close returned, put together, is the result,
// and does not depend on how the input was cut. It holds back the current line as long
// as its kind is open, an inline construct until it is closed or eight lines have gone by,
// and a table until it ends. A Converter belongs to one goroutine and serves one text.
type Converter struct {
	options  Options
	dialect  Dialect // Auto until decided
	pending  []byte  // input that is not yet decided
	searched int     // bytes of pending known to hold no line end
	retry    int     // length of pending below which another look is not worth it
	accepted int     // bytes of input taken

	out     strings.Builder
	written bool // a line has been begun
	body    bool // and it belongs to the body
	blank   int  // empty lines to write before the next line
	hard    bool // the paragraph's last line ended in a hard break

	text    inline
	midLine bool // in the text of a line whose beginning is written

	headed     bool // the answer's heading is written
	underline  bool // the line before became the answer's heading; an underline may follow
	own        int  // f: level of the answer's own heading
	deeper     bool // a later heading had a level <= f
	containers []container
	column     int // indentation taken off the line behind its innermost quote mark
	fence      *fence
	indented   bool   // in an indented code block
	paragraph  bool   // a paragraph is open
	defining   bool   // of reference definitions
	carried    string // the end of its last line, which begins what the next may end
	apart      bool   // the last line was a heading that is bold text: no paragraph goes on with it
	held       string // first line of a paragraph that may be a heading
	holding    bool
	rows       []string // of a table
	rowPrefix  string
	bullet     string   // of an item whose first line has not begun
	footnotes  bool     // the last block was a footnote definition
	open       []string // kinds of Org quote-like blocks, outermost first
	verbatim   string   // kind of Org block whose body is being copied, as it is written
	verbatimIn string   // and as it was read
}

// NewConverter returns a converter for one text.
func NewConverter(options Options) *Converter {
	c := &Converter{options: options, dialect: options.Dialect, headed: !options.Answer}
	c.text.links = map[string]string{}
	return c
}

// Write takes the next piece of input and returns the Org text that is final now. The
// piece may end anywhere, also within a character.
func (c *Converter) Write(delta string) string {
	delta = delta[:min(len(delta), MaxText-c.accepted)]
	c.accepted += len(delta)
	c.out.Grow(len(delta) + len(delta)/8)
	c.pending = append(c.pending, delta...)
	if c.midLine || bytes.IndexByte(c.pending[c.searched:], '\n') >= 0 || len(c.pending) >= c.retry {
		c.process(false)
	}
	return c.take()
}

// Close ends the text and returns the rest. A text that is not empty ends in one line
// end. The converter must not be used afterwards.
func (c *Converter) Close() string {
	c.process(true)
	if !c.headed {
		c.writeAnswerHeading("")
	}
	c.flushHeld()
	c.closeBlocks(0)
	c.closeOrgBlocks()
	c.flushCarried()
	if c.written {
		c.out.WriteByte('\n')
	}
	return c.take()
}

func (c *Converter) take() string {
	out := c.out.String()
	c.out.Reset()
	return out
}

// process consumes what is decided of the pending input.
func (c *Converter) process(last bool) {
	if len(c.pending) < c.retry && !last && bytes.IndexByte(c.pending[c.searched:], '\n') < 0 {
		c.searched = len(c.pending)
		return
	}
	text := string(c.pending)
	rest := text
	for rest != "" {
		n := c.step(rest, last)
		if n == 0 {
			break
		}
		rest = rest[n:]
	}
	c.pending = append(c.pending[:0], rest...)
	c.searched = len(rest)
	// Looking again costs what is pending: wait until that has grown by an eighth.
	c.retry = len(rest) + max(1, len(rest)/8)
}

// step consumes the next line or a part of it, 0 if that needs more input.
func (c *Converter) step(text string, last bool) int {
	end, complete := len(text), last
	consumed := end
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		end, complete, consumed = i, true, i+1
	}
	l := text[:end]
	if !complete {
		l = wholeRunes(l)
	}
	if c.fence == nil && c.verbatim == "" {
		l = textOf(l)
	}
	if c.midLine {
		n := c.runText(l, complete)
		if !complete {
			return n
		}
		return consumed
	}
	if !complete && l == "" {
		return 0
	}
	n, ok := c.line(l, complete)
	switch {
	case !ok:
		return 0
	case complete && !c.midLine:
		return consumed
	case complete:
		c.runText(l[n:], true)
		return consumed
	case c.midLine:
		n += c.runText(l[n:], false)
	}
	return n
}

// wholeRunes cuts a character off whose bytes have not all come.
func wholeRunes(l string) string {
	for i := 1; i <= min(len(l), utf8.UTFMax); i++ {
		if b := l[len(l)-i]; utf8.RuneStart(b) {
			if !utf8.FullRuneInString(l[len(l)-i:]) {
				return l[:len(l)-i]
			}
			break
		}
	}
	return l
}

// runText converts the text of the open line, and ends the line when it is complete.
func (c *Converter) runText(l string, complete bool) int {
	n := c.text.run(l, false)
	if complete {
		c.midLine = false
		c.hard = c.dialect == Markdown && strings.HasSuffix(l, "  ")
		c.endLine(l[n:])
	}
	c.takeText()
	return n
}

// takeText writes what was made of the text so far.
func (c *Converter) takeText() {
	c.out.Write(c.text.out.Bytes())
	c.text.out.Reset()
}

// line begins a line. It returns how much of it was used up (the rest is the text of a
// line that c.midLine says is open), and false when the line is not decided.
func (c *Converter) line(l string, complete bool) (n int, ok bool) {
	if c.dialect == Auto {
		if c.dialect = decideDialect(l, complete); c.dialect == Auto {
			return 0, complete // a blank line, or not enough of one
		}
	}
	c.text.markdown = c.dialect == Markdown
	c.text.inertOnly = c.dialect == PureOrg
	if !c.headed {
		if isBlank(l) {
			return 0, complete
		}
		used, ok := c.answerHeading(l, complete)
		if used || !ok {
			return 0, ok
		}
	}
	if c.dialect == Markdown {
		return c.markdownLine(l, complete)
	}
	return c.orgLine(l, complete)
}

// textOf is a line outside source: without the CR of its end, which also waits while the
// line is cut there, and with blanks for the controls that end a line elsewhere.
func textOf(l string) string { return blanked(strings.TrimRight(l, "\r")) }

// decideDialect reads the first line that is not blank; Auto means undecided.
func decideDialect(l string, complete bool) Dialect {
	if isBlank(l) {
		return Auto
	}
	stars := runLength(l, '*')
	switch {
	case stars > 0 && stars == len(l) || l == "#":
		if !complete {
			return Auto
		}
	case stars > 0 && l[stars] == ' ' || strings.HasPrefix(l, "#+"):
		return OrgWithMarkdown
	case l[0] == ':':
		if live, decided := drawerStart(l, complete); !decided {
			return Auto
		} else if live {
			return OrgWithMarkdown
		}
	}
	return Markdown
}

// beginLine writes what is due before a line, and its prefix.
func (c *Converter) beginLine(prefix string) {
	c.flushCarried()
	if c.written {
		c.out.WriteByte('\n')
	}
	if c.body {
		for range c.blank {
			c.out.WriteByte('\n')
		}
	}
	c.blank, c.hard, c.apart = 0, false, false
	c.written, c.body = true, true
	c.out.WriteString(prefix)
}

// beginText opens a line of text; continues says that it goes on a paragraph.
func (c *Converter) beginText(prefix string, continues bool) {
	c.flushCarried()
	if continues && c.hard {
		c.out.WriteString(` \\`)
	}
	c.beginLine(prefix)
	if !continues {
		c.text.startParagraph()
	}
	c.text.startLine()
	c.midLine = true
}

// MarkdownToOrg converts a whole Markdown text, its headings at their own levels.
func MarkdownToOrg(text string) string { return convert(text, Options{Dialect: Markdown}) }

// Inert makes a text that is Org already safe to have in a buffer, and converts nothing.
//
// These stay Org: headings, paragraphs, lists, tables, footnotes, emphasis and verbatim
// text; quote, verse, center, example and src blocks, of which src alone has anything
// behind its name, a bare language of a list (a block of another language is an example,
// with the name behind a zero-width space); inactive timestamps; links of the types
// http, https, mailto, id and file (not to a remote file). So do what only changes how
// text looks: comments, fixed-width lines, rules, line breaks, sub- and superscripts,
// cookies, and LaTeX commands that name a character or lay out a formula.
//
// Everything else becomes plain text by a zero-width space within the characters that
// make it live: other "#+" lines, ":NAME:" lines, planning and clock lines, file
// variables, inline code and calls, macros, targets, export snippets, citations, other
// links, active timestamps and diary expressions, other LaTeX commands, the tags :user:,
// :agent: and :draft:, and a table cell that begins like a formula. The body of a src block is
// never changed but for comma escapes.
func Inert(text string) string { return convert(text, Options{Dialect: PureOrg}) }

func convert(text string, options Options) string {
	c := NewConverter(options)
	return c.Write(text) + c.Close()
}
