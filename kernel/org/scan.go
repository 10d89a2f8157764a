package org

import "strings"

// Parse scans a note. It never fails: the note's faults are in Diagnostics. Lines end in LF or
// CRLF. NULs and invalid UTF-8 are text. Source beyond [MaxSource] bytes is not read.
func Parse(source string) *Document { return parse(source, splitLines) }

// ParseWith does the same as [Parse], with values of #+TODO: lines for a text that has none itself.
func ParseWith(source string, sequences []string) *Document {
	d := Parse(source)
	for _, k := range d.Keywords {
		if k.Key == "TODO" || k.Key == "SEQ_TODO" || k.Key == "TYP_TODO" {
			return d
		}
	}
	if len(sequences) == 0 {
		return d
	}
	keywords := d.Keywords
	for _, sequence := range sequences {
		keywords = append(keywords[:len(keywords):len(keywords)], Keyword{Key: "TODO", Value: sequence})
	}
	return reparse(d, keywords)
}

func parse(source string, split func(string) []line) *Document {
	d := &Document{Source: source, headerArgs: map[string][]writtenValue{}}
	if len(source) > MaxSource {
		source = source[:MaxSource]
		d.report(1, 1, Error, "the note is larger than %d MiB; the rest was not read", MaxSource>>20)
	}
	d.lines = split(source)
	d.todo = todoKeywords(d.lines)
	return d.scan(len(source))
}

// reparse parses a document again with other keywords.
func reparse(old *Document, keywords []Keyword) *Document {
	d := &Document{Source: old.Source, headerArgs: map[string][]writtenValue{}, lines: old.lines, todo: map[string]bool{}}
	for _, k := range keywords {
		addTodoKeywords(d.todo, k.Key, k.Value)
	}
	defaultTodoKeywords(d.todo)
	d.scan(len(old.Source))
	clear(d.headerArgs)
	for _, k := range keywords {
		if k.Key == "PROPERTY" {
			d.propertyKeyword(k.Value, k.Line)
		}
	}
	return d
}

// scan goes over lines of size bytes.
func (d *Document) scan(size int) *Document {
	s := &scanner{doc: d, lines: d.lines, ends: findEnds(d.lines)}
	s.fileDrawer()
	for s.next < len(s.lines) {
		s.scanLine()
	}
	s.leaveEnclosures()
	s.closeHeadings(1, size)
	return d
}

// A scanner goes over the lines once.
type scanner struct {
	doc      *Document
	lines    []line
	next     int         // the line to scan
	open     []*Heading  // headings whose subtree is open, outermost first
	inside   []enclosure // the open enclosures, outermost first
	items    []int       // the columns of the list items that are open, outermost first
	blank    bool        // the line before was blank
	attached affiliated
	ends     ends
}

// affiliated collects the keyword lines directly above a block.
type affiliated struct {
	name    string
	named   bool
	headers []affiliatedLine
	first   int // offset of the first line, -1 if none
}

type affiliatedLine struct {
	value string
	line  int
}

func (s *scanner) scanLine() {
	s.leaveEnclosures()
	if s.next == len(s.lines) {
		return
	}
	l := s.lines[s.next]
	s.next++
	if level := headingLevel(l.text); level > 0 {
		s.heading(l, level)
		return
	}
	s.leaveItems(l.text)
	if begin, kind, rest, ok := blockDelimiter(l.text); ok {
		if begin {
			s.beginBlock(l, kind, rest)
		} else {
			s.doc.report(l.number, indentation(l.text)+1, Warning, "#+end_%s without #+begin_%s", kind, kind)
		}
		s.attached = affiliated{}
		return
	}
	if key, value, ok := keywordLine(l.text); ok {
		s.keyword(l, strings.ToUpper(key), value)
		return
	}
	s.beginEnclosure(l)
	s.attached = affiliated{}
}

func (s *scanner) keyword(l line, key, value string) {
	value = strings.Trim(value, " \t\n\r") // as org-trim does
	if !s.attached.named && s.attached.headers == nil {
		s.attached.first = l.start
	}
	switch key {
	case "NAME", "DATA", "LABEL", "RESNAME", "SOURCE", "SRCNAME", "TBLNAME":
		s.attached.name, s.attached.named = value, true
		return
	case "HEADER", "HEADERS":
		s.attached.headers = append(s.attached.headers, affiliatedLine{value, l.number})
		return
	}
	if !isAffiliated(key) {
		s.attached = affiliated{}
	}
	if key == "PROPERTY" {
		s.doc.propertyKeyword(value, l.number)
	}
	s.doc.Keywords = append(s.doc.Keywords, Keyword{key, value, l.number, l.start, l.start + len(l.text)})
}

// propertyKeyword takes the value of a line "#+PROPERTY: header-args… value".
func (d *Document) propertyKeyword(text string, line int) {
	name, value := text, ""
	if i := strings.IndexAny(text, " \t"); i >= 0 {
		name, value = text[:i], trimBlanks(text[i:])
	}
	if value != "" && len(name) >= len("header-args") && strings.EqualFold(name[:len("header-args")], "header-args") {
		d.setHeaderArgs(strings.ToLower(name), writtenValue{value, line})
	}
}

func isAffiliated(key string) bool {
	key, _, _ = strings.Cut(key, "[")
	switch key {
	case "CAPTION", "PLOT", "RESULT", "RESULTS":
		return true
	}
	return strings.HasPrefix(key, "ATTR_")
}

func (s *scanner) heading(l line, level int) {
	s.closeHeadings(level, l.start)
	s.attached, s.items = affiliated{}, nil
	h := parseHeading(l.text, level, s.doc.todo)
	h.Line, h.Start, h.LineEnd = l.number, l.start, l.end
	if len(s.open) > 0 {
		h.Parent = s.open[len(s.open)-1]
	}
	if s.next < len(s.lines) {
		if planning, ok := planningLine(s.lines[s.next].text, s.lines[s.next].number); ok {
			h.Planning = planning
			s.next++
		}
	}
	h.Properties = s.propertyDrawer()
	h.Body = s.offset(s.next)
	s.doc.Headings = append(s.doc.Headings, h)
	s.open = append(s.open, h)
}

// offset returns the start of the line with that index, or the end of the source.
func (s *scanner) offset(index int) int {
	if index < len(s.lines) {
		return s.lines[index].start
	}
	if len(s.lines) == 0 {
		return 0
	}
	return s.lines[len(s.lines)-1].end
}

// propertyDrawer reads a property drawer that begins at the next line. As in Org any line in it
// that is no property makes it an ordinary drawer.
func (s *scanner) propertyDrawer() []Property {
	if s.next >= len(s.lines) || !strings.EqualFold(trimBlanks(s.lines[s.next].text), ":PROPERTIES:") {
		return nil
	}
	properties := []Property{}
	for i := s.next + 1; i < len(s.lines); i++ {
		l := s.lines[i]
		if strings.EqualFold(trimBlanks(l.text), ":END:") {
			s.next = i + 1
			return properties
		}
		key, value, ok := propertyLine(l.text)
		if !ok {
			s.doc.report(l.number, 1, Warning, "this line is no property, so the drawer above is not a property drawer")
			return nil
		}
		properties = append(properties, Property{key, value, l.number})
	}
	s.doc.report(s.lines[s.next].number, 1, Warning, "property drawer without :END:")
	return nil
}

// fileDrawer reads the drawer of the whole file. Only comments may stand before it.
func (s *scanner) fileDrawer() {
	first := 0
	for first < len(s.lines) {
		text := trimBlanks(s.lines[first].text)
		if text != "#" && !strings.HasPrefix(text, "# ") {
			break
		}
		first++
	}
	if first == len(s.lines) || !strings.EqualFold(trimBlanks(s.lines[first].text), ":PROPERTIES:") {
		return
	}
	s.next = first
	s.doc.Properties = s.propertyDrawer()
}

// closeHeadings ends at offset the open subtrees of that level and deeper.
func (s *scanner) closeHeadings(level, offset int) {
	for len(s.open) > 0 && s.open[len(s.open)-1].Level >= level {
		s.open[len(s.open)-1].End = offset
		s.open = s.open[:len(s.open)-1]
	}
}

// todoKeywords returns the TODO keywords of the file: those of its #+TODO: lines, or else TODO and
// DONE.
func todoKeywords(lines []line) map[string]bool {
	words := map[string]bool{}
	for _, l := range lines {
		if !strings.HasPrefix(l.text, "#+") {
			continue
		}
		key, value, _ := keywordLine(l.text)
		addTodoKeywords(words, strings.ToUpper(key), value)
	}
	defaultTodoKeywords(words)
	return words
}

// addTodoKeywords adds the TODO keywords of a line "#+KEY: VALUE", if it sets any.
func addTodoKeywords(words map[string]bool, key, value string) {
	switch key {
	case "TODO", "SEQ_TODO", "TYP_TODO":
		for _, word := range strings.Fields(value) {
			word, _, _ = strings.Cut(word, "(")
			if word != "|" && word != "" {
				words[word] = true
			}
		}
	}
}

func defaultTodoKeywords(words map[string]bool) {
	if len(words) == 0 {
		words["TODO"], words["DONE"] = true, true
	}
}
