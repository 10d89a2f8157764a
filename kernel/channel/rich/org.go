package rich

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"org-agent/kernel/org"
)

// FromOrg returns what people see of an Org text. Headings are bold lines, items have bullets or their numbers, tables are
// aligned blocks, and lines end where they end in the text. Drawers, properties, planning, keywords, comments, tags and
// the marks of what is held are left out; so is what a chat cannot show, such as the address of a link into a file. Text is
// never left out otherwise.
func FromOrg(source string) Text {
	r := reader{doc: org.Parse(clean(source))}
	r.lines = strings.Split(r.doc.Source, "\n")
	r.w.quoteAt = -1
	r.index()
	for r.at < len(r.lines) {
		r.line()
	}
	for r.w.quotes > 0 {
		r.w.endQuote()
	}
	return r.w.text()
}

// FromModel returns what people see of a text as a model wrote it, be it Org or Markdown: see [org.Converter].
func FromModel(text string) Text {
	c := org.NewConverter(org.Options{})
	converted := c.Write(text)
	return FromOrg(converted + c.Close())
}

// clean makes a text valid, with line ends as they are here and without other control characters.
func clean(source string) string {
	source = strings.ReplaceAll(strings.ToValidUTF8(source, "\ufffd"), "\r\n", "\n")
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) && c != '\n' && c != '\t' {
			return -1
		}
		return c
	}, source)
}

// reader goes over the lines of an Org text.
type reader struct {
	doc      *org.Document
	lines    []string
	at       int // index of the line that is next
	headings map[int]*org.Heading
	blocks   map[int]*org.Block // by the first line that belongs to them
	starts   []int              // offsets of the lines
	ends     map[int]bool       // the lines that end a block that holds structure; true for quotes
	w        paper
}

// index notes on which lines headings and blocks begin and end.
func (r *reader) index() {
	r.headings, r.blocks, r.ends = map[int]*org.Heading{}, map[int]*org.Block{}, map[int]bool{}
	offset := 0
	for _, l := range r.lines {
		r.starts = append(r.starts, offset)
		offset += len(l) + 1
	}
	for _, h := range r.doc.Headings {
		r.headings[h.Line-1] = h
	}
	for _, b := range r.doc.Blocks() {
		r.blocks[r.lineOf(b.Start)] = b
	}
}

// lineOf returns the index of the line in which an offset is.
func (r *reader) lineOf(offset int) int {
	i, found := slices.BinarySearch(r.starts, offset)
	if found {
		return i
	}
	return i - 1
}

// line writes what begins at a line.
func (r *reader) line() {
	line := r.lines[r.at]
	trimmed := strings.TrimSpace(line)
	quote, ends := r.ends[r.at]
	switch {
	case r.headings[r.at] != nil:
		r.heading(r.headings[r.at])
	case r.blocks[r.at] != nil:
		r.block(r.blocks[r.at])
	case ends:
		if quote {
			r.w.endQuote()
		}
		r.at++
	case strings.Trim(trimmed, "\u200b") == "":
		r.w.blank = true
		r.at++
	case isComment(trimmed), isKeyword(trimmed):
		r.at++
	case isDrawer(trimmed) && r.drawerEnd() > 0:
		r.at = r.drawerEnd()
	case isFixed(trimmed):
		r.fixed()
	case strings.HasPrefix(trimmed, `\begin{`) && r.environmentEnd(trimmed) > 0:
		end := r.environmentEnd(trimmed)
		r.w.block(strings.Join(r.lines[r.at:end], "\n"), "latex")
		r.at = end
	case trimmed[0] == '|':
		r.table()
	case isRule(trimmed):
		r.w.element(Plain("———"))
		r.at++
	default:
		r.paragraph()
	}
}

// heading writes a heading, and goes behind its planning and its properties.
func (r *reader) heading(h *org.Heading) {
	title := strings.TrimSpace(h.Todo + " " + h.Title)
	if h.Commented {
		title = strings.TrimSpace("COMMENT " + title)
	}
	t := inline(title, styles(0).with(Bold))
	if n := len(t.Plain); n > 0 {
		t.Spans = append([]Span{{Start: 0, End: n, Style: Bold}}, t.Spans...)
		r.w.blank = true
		r.w.element(t)
	}
	r.w.blank = false
	r.at = max(r.at+1, r.lineOf(h.Body))
	if h.Body >= len(r.doc.Source) {
		r.at = len(r.lines)
	}
}

// block writes a block, or goes into one that holds structure.
func (r *reader) block(b *org.Block) {
	delete(r.blocks, r.at)
	end := r.lineOf(b.End)
	if b.End >= len(r.doc.Source) && !strings.HasSuffix(r.doc.Source, "\n") {
		end = len(r.lines)
	}
	switch b.Kind {
	case "src":
		r.w.block(b.Body, b.Language)
	case "example":
		r.w.block(b.Body, "")
	case "verse":
		r.w.element(inline(b.Body, 0))
	case "comment", "export":
	default:
		if b.Kind == "quote" {
			r.w.quotes++
		}
		r.ends[end-1] = b.Kind == "quote"
		r.at = b.Line // behind "#+begin"
		return
	}
	r.at = max(end, r.at+1)
}

func isComment(line string) bool { return line == "#" || strings.HasPrefix(line, "# ") }

// isKeyword reports whether a line is "#+KEY: value", or the mark of a block that is none.
func isKeyword(line string) bool {
	if !strings.HasPrefix(line, "#+") {
		return false
	}
	key, _, found := strings.Cut(line[2:], ":")
	lower := strings.ToLower(key)
	return found && key != "" && !strings.ContainsAny(key, " \t") || strings.HasPrefix(lower, "begin_") || strings.HasPrefix(lower, "end_")
}

func isDrawer(line string) bool {
	return len(line) > 2 && line[0] == ':' && line[len(line)-1] == ':' && !strings.ContainsAny(line[1:len(line)-1], ": \t") && !strings.EqualFold(line, ":end:")
}

// drawerEnd returns the line behind the end of the drawer that begins here, 0 if it has none.
func (r *reader) drawerEnd() int {
	for i := r.at + 1; i < len(r.lines) && r.headings[i] == nil; i++ {
		line := strings.TrimSpace(r.lines[i])
		if strings.EqualFold(line, ":end:") {
			return i + 1
		}
		if isDrawer(line) {
			return 0
		}
	}
	return 0
}

func isRule(line string) bool { return len(line) >= 5 && strings.Trim(line, "-") == "" }

func isFixed(line string) bool { return line == ":" || strings.HasPrefix(line, ": ") }

// fixed writes lines that begin with a colon.
func (r *reader) fixed() {
	var lines []string
	for ; r.at < len(r.lines) && isFixed(strings.TrimSpace(r.lines[r.at])); r.at++ {
		lines = append(lines, strings.TrimPrefix(strings.TrimSpace(r.lines[r.at])[1:], " "))
	}
	r.w.block(strings.Join(lines, "\n"), "")
}

// environmentEnd returns the line behind the LaTeX environment that begins here, 0 if it is none.
func (r *reader) environmentEnd(line string) int {
	name, _, found := strings.Cut(line[len(`\begin{`):], "}")
	if !found {
		return 0
	}
	const most = 200 // lines, so that many that have no end take no time
	for i := r.at; i < min(len(r.lines), r.at+most) && r.headings[i] == nil && strings.TrimSpace(r.lines[i]) != ""; i++ {
		if strings.HasSuffix(strings.TrimSpace(r.lines[i]), `\end{`+name+"}") {
			return i + 1
		}
	}
	return 0
}

// paragraph writes the lines of a paragraph or of an item, up to where something else begins.
func (r *reader) paragraph() {
	first := r.lines[r.at]
	prefix, rest, ordered := bullet(first)
	lines := []string{strings.TrimRight(rest, " \t")}
	for r.at++; r.at < len(r.lines) && r.continues(r.lines[r.at]); r.at++ {
		lines = append(lines, strings.TrimRight(r.lines[r.at], " \t"))
	}
	for i, line := range lines {
		if cut, found := strings.CutSuffix(line, `\\`); found {
			lines[i] = strings.TrimRight(cut, " ")
		}
	}
	t := Plain(prefix)
	body := strings.Join(lines, "\n")
	if term, description, found := strings.Cut(body, " ::"); found && prefix != "" && !ordered && !strings.Contains(term, "\n") && (description == "" || description[0] == ' ' || description[0] == '\n') {
		inner := inline(term, styles(0).with(Bold))
		if n := len(inner.Plain); n > 0 {
			inner.Spans = append([]Span{{Start: 0, End: n, Style: Bold}}, inner.Spans...)
		}
		t = join(t, join(inner, Plain(":")))
		body = description
	}
	if body, found := strings.CutPrefix(body, "[fn:"); found && prefix == "" {
		if label, definition, found := strings.Cut(body, "]"); found && !strings.ContainsAny(label, ": \n") {
			r.w.element(join(Plain("["+withoutMarks(label)+"]"), inline(definition, 0)))
			return
		}
	}
	r.w.element(join(t, inline(body, 0)))
}

// continues reports whether a line belongs to the paragraph before it.
func (r *reader) continues(line string) bool {
	trimmed := strings.TrimSpace(line)
	_, ends := r.ends[r.at]
	if ends || r.headings[r.at] != nil || r.blocks[r.at] != nil || strings.Trim(trimmed, "\u200b") == "" {
		return false
	}
	prefix, _, _ := bullet(line)
	return prefix == "" && trimmed[0] != '|' && !isComment(trimmed) && !isKeyword(trimmed) && !isFixed(trimmed) && !isRule(trimmed) &&
		!(isDrawer(trimmed) && r.drawerEnd() > 0) && !strings.HasPrefix(line, "[fn:") &&
		!(strings.HasPrefix(trimmed, `\begin{`) && r.environmentEnd(trimmed) > 0)
}

// bullet cuts the bullet or the number of an item off a line, with its box, as people see them. prefix is "" for a line
// that begins no item, and rest is then the line.
func bullet(line string) (prefix, rest string, ordered bool) {
	rest = strings.TrimLeft(line, " \t")
	indentation := strings.ReplaceAll(line[:len(line)-len(rest)], "\t", "        ")
	digits := 0
	for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
		digits++
	}
	switch {
	case rest == "":
		return "", line, false
	case rest[0] == '-' || rest[0] == '+' || rest[0] == '*' && indentation != "":
		prefix, rest = "•", rest[1:]
	case digits > 0 && digits < 10 && digits < len(rest) && (rest[digits] == '.' || rest[digits] == ')'):
		prefix, rest, ordered = rest[:digits+1], rest[digits+1:], true
	default:
		return "", line, false
	}
	if rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return "", line, false
	}
	rest = strings.TrimLeft(rest, " \t")
	if counter, after, found := strings.Cut(rest, "]"); found && strings.HasPrefix(counter, "[@") {
		rest = strings.TrimLeft(after, " ")
	}
	for _, box := range []struct{ org, shown string }{{"[ ]", "☐"}, {"[X]", "☑"}, {"[x]", "☑"}, {"[-]", "☐"}} {
		if after, found := strings.CutPrefix(rest, box.org); found && (after == "" || after[0] == ' ') {
			prefix, rest = prefix+" "+box.shown, strings.TrimLeft(after, " ")
			break
		}
	}
	return indentation + prefix + " ", rest, ordered
}

// join returns two texts as one.
func join(a, b Text) Text {
	spans := slices.Clone(a.Spans)
	for _, s := range b.Spans {
		s.Start += len(a.Plain)
		s.End += len(a.Plain)
		spans = append(spans, s)
	}
	return Text{Plain: a.Plain + b.Plain, Spans: spans}
}

// paper is what is written of a text.
type paper struct {
	plain   strings.Builder
	spans   []Span
	blank   bool // an empty line stands before what is next
	quotes  int  // that are open
	quoteAt int  // where the outermost of them begins, negative if nothing of it is written
}

// element writes something in lines of its own.
func (w *paper) element(t Text) {
	t.Plain = strings.TrimRight(t.Plain, " \t\n")
	if strings.TrimSpace(t.Plain) == "" {
		return
	}
	if w.plain.Len() > 0 {
		w.plain.WriteByte('\n')
		if w.blank {
			w.plain.WriteByte('\n')
		}
	}
	w.blank = false
	at := w.plain.Len()
	if w.quotes > 0 && w.quoteAt < 0 {
		w.quoteAt = at
	}
	for _, s := range t.Spans {
		if s.End = min(s.End, len(t.Plain)); s.Start < s.End {
			w.spans = append(w.spans, Span{Start: s.Start + at, End: s.End + at, Style: s.Style, Value: s.Value})
		}
	}
	w.plain.WriteString(t.Plain)
}

// block writes a block of code.
func (w *paper) block(body, language string) {
	body = strings.TrimRight(withoutMarks(body), " \t\n")
	w.element(Text{Plain: body, Spans: []Span{{Start: 0, End: len(body), Style: Block, Value: withoutMarks(language)}}})
}

// withoutMarks takes out what holds a text back from Org.
func withoutMarks(text string) string { return strings.ReplaceAll(text, "\u200b", "") }

func (w *paper) endQuote() {
	if w.quotes--; w.quotes == 0 && w.quoteAt >= 0 {
		w.spans = append(w.spans, Span{Start: w.quoteAt, End: w.plain.Len(), Style: Quote})
		w.quoteAt = -1
	}
}

// text returns what is written.
func (w *paper) text() Text {
	slices.SortStableFunc(w.spans, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(inner(a), inner(b)))
	})
	return Text{Plain: w.plain.String(), Spans: w.spans}
}

// inner orders spans of the same place: quotes are around all else, and nothing is within code.
func inner(s Span) int {
	switch s.Style {
	case Quote:
		return 0
	case Code, Block:
		return 2
	}
	return 1
}
