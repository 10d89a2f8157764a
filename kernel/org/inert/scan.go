package inert

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of what is read ahead. What is longer is held.
const (
	spanLimit = 2048 // bytes of verbatim text or of a citation
	wordLimit = 64   // bytes of a word
)

// A scan reads a line from the left and holds what is in the list. It stops where it needs to see
// more of the line.
type scan struct {
	writer *Writer
	raw    bool   // text that is not Org: only what is found by a mere search is held
	code   bool   // source: only what is live in source too
	table  bool   // a row of a table: what is verbatim ends with its cell
	opaque bool   // nothing counts as verbatim
	marks  []mark // that the beginning of the line asks for, in order
	opened opened // what the paragraph opened and may close

	at, sent int  // bytes read, and written
	behind   int  // the place behind which the next mark may stand
	verbatim int  // 1 + the place of the sign that may begin verbatim text; 0 for none
	url      bool // within a URL
	target   bool // within what may be a target, where nothing is verbatim
	operands int  // the end of the operands of the last command of LaTeX; nothing is verbatim before it
}

// opened is what may be open in a paragraph. Text that looks verbatim but holds the end of it may not
// be verbatim for Org.
type opened struct {
	signs                    signs // of emphasis
	brackets, braces, angles int
	math, parenthesis        bool // a $, and a \( or \[
	dollar, display, formula bool // the same, and $$, if the text from there on may be one formula as yet
	path, url                bool // what a link in double brackets leads to, and in angles
}

// opaque reports whether the text may be within a formula or what a link leads to, where nothing is
// verbatim.
func (o opened) opaque() bool { return o.dollar || o.display || o.formula || o.path || o.url }

// signs is a set of signs of emphasis.
type signs uint8

// signOf is the set of one sign.
func signOf(b byte) signs { return 1 << strings.IndexByte("*/+_=~", b) }

// An outcome says what comes of a place.
type outcome uint8

const (
	passes outcome = iota
	isHeld
	waits // for more of the line
)

// A finding is what was found at a place: held from an offset on, by a rule. Almost all are empty, and
// one of this size is returned in registers.
type finding struct {
	at   int
	what string
	outcome
	rule Rule
}

func hold(at int, rule Rule, what string) finding { return finding{at, what, isHeld, rule} }

// wait says that more of the line is needed, unless there is no more.
func wait(final bool) finding {
	if final {
		return finding{}
	}
	return finding{outcome: waits}
}

// run reads on and writes what is final of the line.
func (s *scan) run(l string, final bool) {
	for {
		if s.at >= len(l) {
			if !final || s.verbatim == 0 {
				break
			}
			s.notVerbatim(l) // its end is missing
			continue
		}
		if len(s.marks) > 0 && s.marks[0].at <= s.at {
			if s.insert(l, s.marks[0].at, Mark) {
				s.writer.note(s.marks[0].rule, s.marks[0].what)
			}
			s.marks = s.marks[1:]
			continue
		}
		trigger := triggers[l[s.at]]
		if trigger == nothing {
			s.at++
			continue
		}
		if trigger == endsURL && !endsInLocal(l[:s.at]) {
			s.url = false
			s.at++
			continue
		}
		label, found := s.look(l, s.at, final)
		if found.outcome == waits {
			break
		}
		if label != "" {
			s.insert(l, s.at, label)
		}
		if found.outcome == isHeld {
			if s.insert(l, found.at, Mark) {
				s.writer.note(found.rule, found.what)
			}
			s.at = max(s.at+1, found.at)
			continue
		}
		s.at++
	}
	if s.at > s.sent {
		s.writer.out.WriteString(l[s.sent:s.at])
		s.sent = s.at
	}
}

// insert writes the line up to a place, and a text there. It returns false if a text was inserted there
// before the line was read again from further left.
func (s *scan) insert(l string, at int, text string) bool {
	if at < s.behind {
		return false
	}
	s.writer.out.WriteString(l[s.sent:at])
	s.writer.out.WriteString(text)
	s.sent, s.behind = at, at+1
	if text == Mark && at < len(l) && strings.IndexByte("*/+_=~", l[at]) >= 0 {
		s.opened.signs |= signOf(l[at]) // the mark is a blank before it
	}
	return true
}

// A trigger says what a byte may be.
type trigger uint8

const (
	nothing trigger = iota
	endsURL         // it ends a URL, and nothing else, unless the text before it is the first word of "Local Variables:"
	begins          // something that is held may begin or end there
)

var triggers = [256]trigger{
	' ': endsURL, '\t': endsURL, '|': endsURL, '(': endsURL, ')': endsURL,
	'=': begins, '~': begins, '*': begins, '/': begins, '+': begins, '_': begins, '[': begins, ']': begins, '{': begins, '}': begins,
	'<': begins, '>': begins, '$': begins, '\\': begins, '^': begins, '@': begins, ':': begins, '%': begins,
}

// look says what comes of the place i. label is what is added in front of it to a footnote's label.
func (s *scan) look(l string, i int, final bool) (label string, found finding) {
	found = s.anywhere(l, i, final)
	if found.outcome == waits || s.raw {
		return "", found
	}
	if found.outcome == isHeld {
		if s.keepTrack(l, i, final).outcome == waits {
			return "", finding{outcome: waits}
		}
		return "", found
	}
	switch l[i] {
	case '_', '{', '@', '\\', '^', '<':
		found = s.inText(l, i, final)
	case ']', ':':
		label = s.footnote(l, i)
	}
	if s.verbatim > 0 && (found.outcome == isHeld || label != "") {
		switch s.isVerbatim(l, final) {
		case waits:
			return "", finding{outcome: waits}
		case isHeld:
			return "", finding{}
		}
		s.notVerbatim(l)
		s.at--
		return "", finding{} // the line is read again from there
	}
	if tracked := s.keepTrack(l, i, final); found.outcome == passes {
		found = tracked
	}
	return label, found
}

// notVerbatim goes back behind the sign that begins no verbatim text after all.
func (s *scan) notVerbatim(l string) {
	s.opened.signs |= signOf(l[s.verbatim-1])
	s.at, s.verbatim, s.url = s.verbatim, 0, false
}

// keepTrack notes what the byte at i opens or closes.
func (s *scan) keepTrack(l string, i int, final bool) finding {
	b := l[i]
	if b == '=' || b == '~' {
		return s.sign(l, i, final)
	}
	if s.verbatim > 0 {
		return finding{}
	}
	o := &s.opened
	switch b {
	case '*', '/', '+', '_':
		if s.mayOpen(l, i) {
			o.signs |= signOf(b)
		}
	case '[':
		o.brackets++
		o.path = i > 0 && (l[i-1] == '[' || l[i-1] == '\\' && o.path)
	case ']':
		o.brackets = max(o.brackets-1, 0)
		o.path = o.path && i > 0 && l[i-1] == '\\'
	case '{':
		o.braces++
	case '}':
		o.braces = max(o.braces-1, 0)
	case '<':
		o.angles++
		s.target = i > 0 && l[i-1] == '<'
	case '>':
		o.angles, o.url = max(o.angles-1, 0), false
		s.target = false
	case ':':
		o.url = o.url || endsInAngle(l[:i])
	case '$':
		o.math = true
		return s.dollar(l, i, final)
	case '\\':
		return s.backslash(l, i, final)
	}
	return finding{}
}

// dollar notes whether a formula may begin at the sign. It ends the one that began at the sign before it.
func (s *scan) dollar(l string, i int, final bool) finding {
	o := &s.opened
	if i+1 == len(l) {
		o.dollar = false
		return wait(final)
	}
	o.display = o.display || l[i+1] == '$'
	o.dollar = (i == 0 || l[i-1] != '$') && strings.IndexByte(" \t,.;", l[i+1]) < 0
	return finding{}
}

// backslash notes what formula begins or ends there, and how far the operands of a command reach.
func (s *scan) backslash(l string, i int, final bool) finding {
	o := &s.opened
	if i+1 == len(l) {
		return wait(final)
	}
	switch l[i+1] {
	case '(', '[':
		o.parenthesis, o.formula = true, true
	case ')', ']':
		o.formula = false
	}
	end := i + 1
	for end < len(l) && isLetter(l[end]) {
		end++
	}
	if end == i+1 {
		return finding{}
	}
	if end < len(l) && l[end] == '*' {
		end++
	}
	for end < len(l) && (l[end] == '[' || l[end] == '{') {
		closing, ends, limit := byte(']'), "[]{}", min(len(l), end+spanLimit)
		if l[end] == '{' {
			closing, ends = '}', "{}" // other brackets may stand in braces
		}
		length := strings.IndexAny(l[end+1:limit], ends)
		if length < 0 {
			if limit == len(l) && !final {
				return finding{outcome: waits}
			}
			if limit < len(l) {
				end = limit // it is too long to be read ahead
			}
			break
		}
		if l[end+1+length] != closing {
			break
		}
		end += length + 2
	}
	s.operands = end
	if end == len(l) {
		return wait(final)
	}
	return finding{}
}

// sign handles = and ~, which begin and end verbatim text.
func (s *scan) sign(l string, i int, final bool) finding {
	if s.verbatim > 0 {
		if l[s.verbatim-1] != l[i] {
			return finding{}
		}
		closes, known := closesVerbatim(l, s.verbatim-1, i, final)
		if !known {
			return finding{outcome: waits}
		}
		if closes && (s.opened.closedIn(l[s.verbatim:i]) || isBeforeDash(l, i)) {
			s.notVerbatim(l) // what it opens counts
			s.at--
		} else if closes {
			s.verbatim = 0
		}
		return finding{}
	}
	if !s.mayOpen(l, i) {
		return finding{}
	}
	if i+1 == len(l) {
		return wait(final)
	}
	before, _ := utf8.DecodeLastRuneInString(l[:i])
	if next, _ := utf8.DecodeRuneInString(l[i+1:]); s.opaque || s.target || s.opened.opaque() || i < s.operands || isSpace(next) || inLink(l[:i]) || isDash(before) {
		s.opened.signs |= signOf(l[i])
		return finding{}
	}
	s.verbatim = i + 1
	return finding{}
}

// mayOpen reports whether Org may take the sign at i for the beginning of emphasis.
func (s *scan) mayOpen(l string, i int) bool {
	if i == 0 {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(l[:i])
	switch before {
	case '-', '–', '—', '(', '\'', '"', '{':
		return true
	}
	return isSpace(before) || s.table && before == '|'
}

// endsInAngle reports whether a text ends in "<" and the type of a link that stays.
func endsInAngle(text string) bool {
	open := strings.LastIndexByte(text[max(0, len(text)-wordLimit):], '<')
	return open >= 0 && rules.harmless[strings.ToLower(text[max(0, len(text)-wordLimit)+open+1:])]
}

// inLink reports whether a text may end within a link that has no brackets.
func inLink(text string) bool {
	return strings.IndexByte(text[strings.LastIndexAny(text, " \t")+1:], ':') >= 0
}

// closesVerbatim reports whether the sign at i ends what began at start.
func closesVerbatim(l string, start, i int, final bool) (closes, known bool) {
	before, _ := utf8.DecodeLastRuneInString(l[:i])
	if i < start+2 || isSpace(before) {
		return false, true
	}
	if i+1 == len(l) {
		return final, final
	}
	after, _ := utf8.DecodeRuneInString(l[i+1:])
	return mayFollow(after), true
}

func mayFollow(r rune) bool {
	return strings.ContainsRune("-.,:!?;'\")}\\[", r) || isDash(r) || isSpace(r)
}

// isDash reports whether a character is one of the dashes beside which emphasis begins and ends since
// Org 9.6. Nothing counts as verbatim that is so in only one of both.
func isDash(r rune) bool { return r == '–' || r == '—' }

// isBeforeDash reports whether the sign at i stands directly before a dash.
func isBeforeDash(l string, i int) bool {
	after, _ := utf8.DecodeRuneInString(l[i+1:])
	return isDash(after)
}

// isSpace follows Emacs's syntax for white space.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r == '\u200b' }

// isVerbatim reports whether the text that began at the sign is verbatim for Org: isHeld if so, passes
// if not. It is not where something that began before it may end within it.
func (s *scan) isVerbatim(l string, final bool) outcome {
	start := s.verbatim - 1
	limit := min(len(l), start+spanLimit)
	for i := start + 1; i < limit; i++ {
		switch {
		case s.table && l[i] == '|':
			return passes
		case l[i] != l[start]:
			continue
		}
		closes, known := closesVerbatim(l, start, i, final)
		switch {
		case !known:
			return waits
		case closes && !s.opened.closedIn(l[start+1:i]) && !isBeforeDash(l, i):
			return isHeld
		case closes:
			return passes
		}
	}
	if final || limit < len(l) {
		return passes
	}
	return waits
}

// closedIn reports whether a text may hold the end of what is open.
func (o opened) closedIn(text string) bool {
	if !strings.ContainsAny(text, "*/+_=~]}>$\\") {
		return false
	}
	inner := opened{}
	for i := range len(text) {
		switch b := text[i]; b {
		case '*', '/', '+', '_', '=', '~':
			if closes, _ := closesVerbatim(text, -2, i, false); closes && o.signs&signOf(b) != 0 {
				return true
			}
		case '[':
			inner.brackets++
		case ']':
			if inner.brackets--; inner.brackets < 0 && o.brackets > 0 {
				return true
			}
		case '{':
			inner.braces++
		case '}':
			if inner.braces--; inner.braces < 0 && o.braces > 0 {
				return true
			}
		case '<':
			inner.angles++
		case '>':
			if inner.angles--; inner.angles < 0 && o.angles > 0 {
				return true
			}
		case '$':
			if o.math {
				return true
			}
		case '\\':
			if o.parenthesis && i+1 < len(text) && (text[i+1] == ')' || text[i+1] == ']') {
				return true
			}
		}
	}
	return false
}
