package inert

import (
	"regexp"
	"strings"
	"unicode"
)

// A mark is a place in a line, before which the zero-width space stands.
type mark struct {
	at   int
	rule Rule
	what string
}

var (
	drawerStart      = regexp.MustCompile(`^[ \t]*:[-_\pL\pN]+:[ \t]*$`)
	environmentStart = regexp.MustCompile(`^[ \t]*\\begin\{([A-Za-z0-9*]+)\}`)
	reservedScript   = regexp.MustCompile(`(?i)(?:^|[ \t]):on[a-z]+(?:[ \t]|$)|javascript:|vbscript:|data:|[<>]`)
	lispFormula      = regexp.MustCompile(`'\(|=[ \t]*'|(?i:\bremote[ \t]*\()`)
)

// whole writes a line that has ended.
func (w *Writer) whole(l string) {
	switch {
	case w.block != "":
		w.blockLine(l)
		w.countBlank(l)
		return
	case isBlank(l):
		w.properties, w.belongs = false, false
		w.endParagraph()
		w.out.WriteString(l)
		if w.countBlank(l); w.blanks > 1 {
			w.footnote = false
		}
		return
	}
	w.blanks = 0
	if w.properties && w.property(l) {
		return
	}
	w.properties = false
	if stars := len(l) - len(strings.TrimLeft(l, "*")); stars > 0 && strings.HasPrefix(l[stars:], " ") {
		w.heading(l)
		return
	}
	w.element(l)
}

func (w *Writer) countBlank(l string) {
	if isBlank(l) {
		w.blanks++
	} else {
		w.blanks = 0
	}
}

// element writes a line that is neither blank, nor a heading, nor in a block or in a drawer of properties.
func (w *Writer) element(l string) {
	indent, belongs := indentation(l), w.belongs
	w.belongs = false
	switch rest := l[indent:]; {
	case strings.HasPrefix(rest, "#+"):
		w.hashPlus(l, indent)
	case !w.verse && w.latex == "" && (isMarked(rest, '#') && !belongs || isMarked(rest, ':')):
		w.endParagraph()
		w.scanned(l, scan{raw: true}) // a comment, or text of fixed width
	case rest[0] == ':':
		w.colon(l, indent)
	case rest[0] == '|':
		w.endParagraph()
		s := w.textScan()
		s.table, s.marks = true, formulas(l)
		s.opaque = s.opaque || strings.HasPrefix(rest, "|-") // a rule, in which Org sees no text
		w.scanned(l, s)
		w.paragraph = w.scan.opened
		w.endParagraph()
	default:
		w.footnote = w.footnote || startsFootnote(l)
		if rest[0] == '\\' && w.latex == "" {
			if begin := environmentStart.FindStringSubmatch(l); begin != nil {
				w.latex = begin[1]
			}
		}
		s := w.textScan()
		s.marks = sexps(l)
		w.scanned(l, s)
		w.paragraph = w.scan.opened
	}
	w.endEnvironment(l)
}

// isMarked reports whether a line begins with a sign that stands for the whole of it.
func isMarked(rest string, sign byte) bool {
	return rest[0] == sign && (len(rest) == 1 || rest[1] == ' ')
}

// endParagraph notes that nothing of what is open goes on behind the line. In a verse all lines are one
// text, also those that are something else outside of it.
func (w *Writer) endParagraph() {
	if !w.verse {
		w.paragraph = opened{}
	}
}

// endEnvironment notes that a line ends the LaTeX environment.
func (w *Writer) endEnvironment(l string) {
	if w.latex != "" && strings.HasSuffix(strings.TrimRight(l, " \t"), `\end{`+w.latex+"}") {
		w.latex = ""
	}
}

// textScan is the scan of a line of text here.
func (w *Writer) textScan() scan {
	return scan{writer: w, opened: w.paragraph, opaque: w.latex != ""}
}

// scanned writes a whole line.
func (w *Writer) scanned(l string, s scan) {
	s.writer = w
	w.scan = s
	w.scan.run(l, true)
}

// heading writes a heading. Nothing that began above it goes on.
func (w *Writer) heading(l string) {
	w.surroundings = surroundings{}
	s := w.textScan()
	if at := w.reservedTags(l); at > 0 {
		s.marks = []mark{{at, Property, "a tag of the kernel's"}}
	}
	w.scanned(l, s)
}

// reservedTags returns the place of the last colon of a heading's tags if one of them is reserved,
// else 0. Org 9.7 takes tags without a blank before them, so none is asked for.
func (w *Writer) reservedTags(l string) int {
	l = strings.TrimRight(l, " \t")
	if !strings.HasSuffix(l, ":") {
		return 0
	}
	tags := l[strings.LastIndexFunc(l, func(r rune) bool { return r != ':' && !isTag(r) })+1:]
	for tag := range strings.SplitSeq(tags, ":") {
		if rules.heldTag(tag, w.options.Tags) {
			return len(l) - 1
		}
	}
	return 0
}

// isTag reports whether a tag may have a character: for Emacs the marks of letters are letters, too.
func isTag(r rune) bool {
	return unicode.In(r, unicode.Letter, unicode.Mark, unicode.Nd, unicode.Nl) || strings.ContainsRune("_@#%", r)
}

// colon writes a line that begins with a colon: it may begin or end a drawer.
func (w *Writer) colon(l string, indent int) {
	if drawerStart.MatchString(l) { // without its end the line is text
		switch name := strings.ToLower(strings.TrimRight(l[indent:], " \t")); name {
		case ":end:":
			w.drawer = !w.drawer // without a beginning it is one for Org
		case ":properties:":
			w.drawer, w.properties = true, true
		default:
			w.drawer = true
		}
	}
	w.scanned(l, w.textScan())
	w.paragraph = w.scan.opened
}

// property writes a line of a property drawer and returns true, or false if the line ends the drawer.
func (w *Writer) property(l string) bool {
	indent := indentation(l)
	key, ok := propertyKey(l[indent:])
	if !ok || strings.EqualFold(key, "end") {
		return false
	}
	if rules.heldProperty(key) {
		w.note(Property, "the property "+key)
		l = l[:indent] + ":" + heldPrefix + l[indent+1:]
	}
	// In a drawer with other lines it is text.
	w.scanned(l, scan{opaque: true, opened: w.paragraph})
	w.paragraph = w.scan.opened
	return true
}

// propertyKey reads ":KEY:" or ":KEY: value". As for Org a key may contain colons.
func propertyKey(text string) (string, bool) {
	if len(text) < 3 || text[0] != ':' {
		return "", false
	}
	for i := 2; i < len(text) && text[i-1] != ' ' && text[i-1] != '\t'; i++ {
		if text[i] == ':' && (i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\t') {
			return text[1:i], true
		}
	}
	return "", false
}

// formulas returns the cells of a table's row that begin like a formula in Lisp or one over another table.
func formulas(l string) []mark {
	var marks []mark
	for i := range len(l) {
		if l[i] != '|' {
			continue
		}
		at := i + 1 + indentation(l[i+1:])
		cell, _, _ := strings.Cut(l[at:], "|")
		formula, ok := strings.CutPrefix(strings.TrimPrefix(cell, ":"), "=")
		if ok && lispFormula.MatchString("="+formula) {
			marks = append(marks, mark{at, Formula, "a formula in Lisp or over another table"})
		}
	}
	return marks
}

// sexps returns the diary expression that a line begins with. The agenda finds it at the line's first
// column only.
func sexps(l string) []mark {
	if at := len(l) - len(strings.TrimPrefix(l, "&")); strings.HasPrefix(l[at:], "%%(") {
		return []mark{{at + 1, Inline, "a diary expression"}}
	}
	return nil
}

// startsFootnote reports whether a line begins a footnote's definition.
func startsFootnote(l string) bool { return strings.HasPrefix(l, "[fn:") }

// hashPlus writes a line that begins with "#+". One that is no keyword is text, and so is one that is held.
func (w *Writer) hashPlus(l string, indent int) {
	text := l[indent+2:]
	switch {
	case hasFold(text, "begin_"):
		w.begin(l, indent)
		return
	case hasFold(text, "end_verse"):
		w.verse = false
	}
	s := scan{opaque: true, opened: w.paragraph}
	key, value := keyword(text)
	switch from := len(l) - len(value); {
	case key == "":
	case key == "header" || key == "headers":
		s.marks, _ = argumentMarks(l, from)
	case key == "tblfm":
		if lispFormula.MatchString("=" + value) {
			s.marks = []mark{{indent + 1, Formula, "a formula in Lisp or over another table"}}
		}
	case isName(key):
		if w.inFile().has(value) {
			s.marks = []mark{{indent + 1, Keyword, "a name that the file has"}}
		}
	case strings.HasPrefix(key, "attr_"):
		if reservedScript.MatchString(value) {
			s.marks = []mark{{indent + 1, Keyword, "a script"}}
		}
	case rules.heldKeyword(key):
		s.marks = []mark{{indent + 1, Keyword, "#+" + strings.ToUpper(key)}}
	}
	isText := key == "" || len(s.marks) > 0 && s.marks[0].at == indent+1
	w.scanned(l, s)
	if w.paragraph = w.scan.opened; !isText {
		w.endParagraph()
		w.belongs = isName(key) || key == "caption" || key == "header" || key == "headers" || strings.HasPrefix(key, "attr_")
	}
}

// isName reports whether a keyword names what stands below it, or says of what it is the result.
func isName(key string) bool {
	switch key {
	case "name", "data", "label", "resname", "source", "srcname", "tblname", "results", "result":
		return true
	}
	return false
}

// keyword reads "KEY: value" or "KEY[option]: value". The key is in lower case and without its option.
func keyword(text string) (key, value string) {
	word, _ := cutWord(text)
	colon := strings.IndexByte(word, ':')
	if open := strings.IndexByte(word, '['); open >= 0 && (colon < 0 || open < colon) {
		// An option may hold blanks.
		end := strings.Index(text, "]:")
		if end < 0 {
			return "", ""
		}
		return strings.ToLower(text[:open]), text[end+2:]
	}
	if colon <= 0 {
		return "", ""
	}
	return strings.ToLower(text[:colon]), text[colon+1:]
}

func hasFold(text, prefix string) bool {
	return len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix)
}
