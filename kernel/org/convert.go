package org

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"org-agent/kernel/org/inert"
	"org-agent/kernel/text"
)

// maxText is the number of bytes a [Converter] accepts. It drops what a model writes beyond that.
const maxText = 8 << 20

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
	// `code`, [text](url), ![alt](url), ~~struck~~, "## heading", "> quote", "---", "- [x]", tables
	// whose rule says how columns are aligned.
	OrgWithMarkdown
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
	// File says which names and labels the file has that the text goes to, see [ReadNames]. It is
	// asked only when the text has some of its own. Nil means that the file has none.
	File func() *Names
	// Tags are held besides those that always are: tags that the person has chosen for tasks of the agent.
	Tags []string
}

// Names are the names and the labels of footnotes that a file has.
type Names = inert.File

// ReadNames returns the names that a file has.
func ReadNames(text string) *Names { return inert.Read(text) }

// A Converter turns a stream of text from outside into inert Org (see package inert). Its output is
// only ever appended to, without what [text.Shown] leaves out: the result is what Write and Close returned, joined, and does not depend on how
// the input was cut into pieces. It holds back the current line until its kind is known, an inline
// construct until it is closed or eight lines have passed, and a table until it ends. A Converter
// belongs to one goroutine and serves one text.
type Converter struct {
	options  Options
	dialect  Dialect // Auto until decided
	shown    text.Pieces
	pending  []byte // input that is not converted yet, without a line end
	retry    int    // no step is tried before pending has this length
	accepted int    // bytes of input taken

	out     strings.Builder // Org that is not inert yet, from taken on
	taken   int
	inert   *inert.Writer
	done    string // inert Org that was not returned yet
	written bool   // a line has been begun
	body    bool   // that line belongs to the body
	blank   int    // empty lines to write before the next line
	hard    bool   // the paragraph's last line ended in a hard break

	text    inline
	midLine bool // the beginning of the line is written, its text is not yet

	headed      bool // the answer's heading is written
	underline   bool // the line before became the answer's heading, and an underline may follow
	own         int  // the level f of the answer's own heading
	deeper      bool // a later heading had a level <= f
	containers  []container
	column      int // indentation taken off the line behind its innermost quote mark
	fence       *fence
	indented    bool   // in an indented code block
	paragraph   bool   // a paragraph is open
	defining    bool   // that paragraph consists of reference definitions
	carried     string // the end of its last line, held because the next line may close a construct in it
	apart       bool   // the last line was a heading written as bold text: no paragraph continues it
	held        string // first line of a paragraph that may be a heading
	holding     bool
	rows        []string // of a table
	rowPrefix   string
	bullet      string // of an item whose first line is not written yet
	footnotes   bool   // the last block was a footnote definition
	verbatim    string // kind of the Org block whose body is being copied
	block       string // kind of the Org block around the line, whose body is text
	environment string // name of the LaTeX environment that is being copied
	drawer      bool   // within a drawer of Org
}

// NewConverter returns a converter for one text.
func NewConverter(options Options) *Converter {
	c := &Converter{options: options, dialect: options.Dialect, headed: !options.Answer, inert: inert.New(inert.Options{File: options.File, Tags: options.Tags})}
	c.text.links = map[string]string{}
	return c
}

// Write takes the next piece of input and returns the Org text that is now final. A piece may end
// anywhere, also within a character.
func (c *Converter) Write(delta string) string {
	delta = delta[:min(len(delta), maxText-c.accepted)]
	c.accepted += len(delta)
	return c.write(c.shown.Next(delta))
}

// write takes input of which people may be shown everything.
func (c *Converter) write(delta string) string {
	text := delta
	if len(c.pending) > 0 {
		c.pending = append(c.pending, delta...)
		if len(c.pending) < c.retry && strings.IndexByte(delta, '\n') < 0 {
			return ""
		}
		text = string(c.pending)
	}
	c.process(text, false)
	return c.take()
}

// Close ends the text and returns the rest. A text that is not empty ends in one line
// end. The converter must not be used afterwards.
func (c *Converter) Close() string {
	before := c.write(c.shown.Last())
	c.process(string(c.pending), true)
	if !c.headed {
		c.writeAnswerHeading("")
	}
	c.flushHeld()
	c.closeBlocks(0)
	c.flushCarried()
	if c.written {
		c.out.WriteByte('\n')
	}
	last := c.take()
	return before + last + c.inert.Close()
}

// take returns what is final.
func (c *Converter) take() string {
	done := c.done
	c.done = ""
	if text := c.out.String()[c.taken:]; text != "" {
		done += c.inert.Write(text)
		c.taken = c.out.Len()
	}
	// What a stream brings is short. Its pieces share a buffer of this size.
	if c.taken > 4096 {
		c.out.Reset()
		c.taken = 0
	}
	return done
}

// process converts as much of the pending input as can be decided.
func (c *Converter) process(text string, last bool) {
	c.out.Grow(len(text) + len(text)/8)
	rest := text
	for rest != "" {
		n := c.step(rest, last)
		rest = rest[n:]
		if n == 0 || c.midLine {
			break // the text of the open line is converted as far as it is decided
		}
	}
	c.pending = append(c.pending[:0], rest...)
	// A step looks at all that is pending. Waiting until it has grown by an eighth keeps this
	// linear.
	c.retry = len(rest) + max(1, len(rest)/8)
}

// step converts the next line or a part of it. It returns 0 if it needs more input.
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

// wholeRunes removes a character at the end whose bytes have not all arrived.
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

// takeText moves the text that the inline converter has made to the output.
func (c *Converter) takeText() {
	c.out.Write(c.text.out.Bytes())
	c.text.out.Reset()
}

// line begins a line. It returns how many bytes it used; the rest is the text of the line if
// c.midLine is set. ok is false when the line cannot be decided yet.
func (c *Converter) line(l string, complete bool) (n int, ok bool) {
	if c.dialect == Auto {
		if c.dialect = decideDialect(l, complete); c.dialect == Auto {
			return 0, complete // a blank line, or too little of a line
		}
	}
	c.text.markdown = c.dialect == Markdown
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

// textOf returns the text of a line outside of source. It removes the CR at the end, also if the
// line may continue, and replaces controls that other programs take for line ends by blanks.
func textOf(l string) string { return blankControls(strings.TrimRight(l, "\r")) }

// decideDialect returns the dialect by the first line that is not blank. Auto means that it is not
// decided yet.
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
		if is, decided := startsDrawer(l, complete); !decided {
			return Auto
		} else if is {
			return OrgWithMarkdown
		}
	}
	return Markdown
}

// beginLine writes the empty lines and the line end that are due, and a prefix.
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

// beginText opens a line of text. continues says that it belongs to the open paragraph.
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

// Inert makes a text that is Org already inert. It converts nothing, and leaves out what [text.Shown] does. A text that is not empty begins
// with text and ends in one line end. The tags are held besides those that always are, as in [Options].
func Inert(s string, tags ...string) string {
	if s = strings.Trim(text.Shown(s), "\n"); s == "" {
		return ""
	}
	return strings.TrimRight(inert.Text(s+"\n", inert.Options{Tags: tags}), "\n") + "\n"
}

// TagWakes reports whether a heading with a tag has the agent do something: it is a task, or wakes skills. own are the
// tags that the person has chosen for tasks.
func TagWakes(tag string, own ...string) bool { return inert.Wakes(tag, own) }

// IsInert reports whether a text is inert, and if not, why, with the line. A text may begin with an
// answer's own heading, tagged :agent:, with a property drawer below it ([Annotate]).
func IsInert(text string) (ok bool, reason string) {
	body, lines := text, 0
	if heading, rest, _ := strings.Cut(text, "\n"); headingLevel(heading) > 0 && strings.HasSuffix(heading, ":"+agentTag+":") {
		title := strings.TrimLeft(strings.TrimSuffix(heading, ":"+agentTag+":"), "* ")
		if place, ok := inert.Check("* "+title, inert.Options{}); !ok {
			return false, "line 1: " + place.What
		}
		body, lines = rest, 1
		if drawer, rest, ok := strings.Cut(rest, "\n:END:\n"); ok && strings.HasPrefix(drawer, ":PROPERTIES:\n") {
			body, lines = rest, lines+strings.Count(drawer, "\n")+2
		}
	}
	if place, ok := inert.Check(body, inert.Options{}); !ok {
		return false, fmt.Sprintf("line %d: %s", lines+place.Line, place.What)
	}
	return true, ""
}

func convert(text string, options Options) string {
	c := NewConverter(options)
	return c.Write(text) + c.Close()
}
