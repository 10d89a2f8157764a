package org

import (
	"errors"
	"regexp"
	"strings"
)

// A commentSyntax is how the major mode of a language writes comments. nil is a mode without
// comments.
type commentSyntax struct {
	start, end string // put before and behind the text of a line
	refused    error  // why comments cannot be written
	margin     bool   // start is at the left margin, not at the common indentation
	nested     *regexp.Regexp
	startMark  string // start and end without their blanks
	endMark    string
}

// modes are the languages that have a major mode in a plain Emacs, by what the mode puts before and
// behind a comment.
var modes = []struct{ start, end, languages string }{
	{"# ", "", "python sh bash shell shell-script screen perl cperl ruby tcl awk conf conf-unix conf-space conf-toml conf-javaprop conf-colon makefile makefile-automake makefile-bsdmake makefile-gmake makefile-imake makefile-makepp gdb-script icon m4 authinfo cfengine2 cfengine3 sieve org"},
	{";; ", "", "emacs-lisp elisp lisp common-lisp lisp-interaction lisp-data scheme dsssl asm"},
	{"// ", "", "C++ c++ cpp java js javascript scss objc idl pike opascal delphi verilog antlr less-css"},
	{"/* ", " */", "C c css ld-script"},
	{"<!-- ", " -->", "html mhtml sgml xml nxml"},
	{"-- ", "", "sql sqlite vhdl snmp snmpv2"},
	{"%% ", "", "latex LaTeX beamer tex doctex slitex plain-tex plain-TeX prolog"},
	{"% ", "", "metafont metapost ps bibtex-style"},
	{"! ", "", "f90 dcl conf-xdefaults"},
	{"; ", "", "conf-windows dns zone"},
	{"## ", "", "octave"},
	{"rem ", "", "bat"},
	{"@Comment ", "", "bibtex"},
	{"@c ", "", "texinfo"},
	{`\" `, "", "nroff"},
	{"dnl ", "", "autoconf"},
	{"> ", "", "mail message"},
	{"* ", "", "mixal"},
	{"*% ", "", "conf-ppd"},
	{"{ ", " }", "pascal"},
	{"(* ", " *)", "m2 modula-2"},
	{"! ", " ;", "simula"},
}

// otherModes are languages whose major mode has no comment syntax, or one that is not supported
// here.
var otherModes = map[string]error{
	"text": errNoSyntax, "fundamental": errNoSyntax, "calc": errNoSyntax, "dot": errNoSyntax, "diff": errNoSyntax, "outline": errNoSyntax,
	"prog": errNoSyntax, "special": errNoSyntax, "change-log": errNoSyntax, "ditaa": errNoSyntax, "picture": errNoSyntax,
	"fortran": errOtherMode, "rst": errOtherMode, "js-jsx": errOtherMode,
}

var (
	errNoSyntax  = errors.New("its mode in Emacs has no comment syntax; write :comments no")
	errOtherMode = errors.New("its comments are not supported; write :comments no")
	errNoMode    = errors.New("a plain Emacs has no mode for this language, so no comment syntax; write :comments no")
)

// marginLanguages are the languages whose comments stand at the left margin.
const marginLanguages = " latex LaTeX beamer tex doctex slitex "

// syntaxOf returns the comment syntax of a language in a file. If there is no mode for the
// language, the file stays in the mode of the block before.
func syntaxOf(language string, before *commentSyntax) *commentSyntax {
	if refused, ok := otherModes[language]; ok {
		return &commentSyntax{refused: refused}
	}
	for _, mode := range modes {
		for known := range strings.FieldsSeq(mode.languages) {
			if known == language {
				return newSyntax(mode.start, mode.end, language)
			}
		}
	}
	return before
}

func newSyntax(start, end, language string) *commentSyntax {
	s := &commentSyntax{start: start, end: end, margin: strings.Contains(marginLanguages, " "+language+" ")}
	s.startMark, s.endMark = strings.Trim(start, " "), strings.Trim(end, " ")
	switch {
	case end == "":
	case language == "xml" || language == "nxml":
		s.nested = regexp.MustCompile(`-\\*-`)
	default:
		s.nested = regexp.MustCompile("(?i)" + nestedMark(s.endMark) + "|" + nestedMark(s.startMark))
	}
	return s
}

// nestedMark matches a comment mark with backslashes behind its first character.
func nestedMark(mark string) string {
	return regexp.QuoteMeta(mark[:1]) + `\\*` + regexp.QuoteMeta(mark[1:])
}

// comment returns a text of one or more lines as a comment.
func (s *commentSyntax) comment(text string) (string, error) {
	if s == nil {
		return "", errNoMode
	}
	if s.refused != nil {
		return "", s.refused
	}
	body := strings.TrimRight(text, " \t\n\r")
	rest := text[len(body):]
	if i := strings.IndexByte(rest, '\n'); i >= 0 { // blanks behind the last word are commented
		body, rest = body+rest[:i], rest[i:]
	} else {
		body, rest = body+rest, ""
	}
	lead := len(body) - len(strings.TrimLeft(body, " \t\n\r"))
	lead = strings.LastIndexByte(body[:lead], '\n') + 1
	lines := strings.Split(s.quote(body[lead:]), "\n")
	column := s.column(lines)
	for i, l := range lines {
		if !isBlank(l) {
			before, behind := cutColumn(l, column)
			lines[i] = before + s.start + behind + s.end
		}
	}
	return body[:lead] + strings.Join(lines, "\n") + rest, nil
}

// column returns the column at which the comment marks of lines stand.
func (s *commentSyntax) column(lines []string) int {
	if s.margin {
		return 0
	}
	column := -1
	for _, l := range lines {
		if !isBlank(l) && (column < 0 || columnOf(l) < column) {
			column = columnOf(l)
		}
	}
	return column
}

// cutColumn cuts an indented line at a column; a tab across it becomes blanks.
func cutColumn(text string, target int) (before, behind string) {
	column, i := 0, 0
	for column < target && i < len(text) {
		next := column + 1
		if text[i] == '\t' {
			next = column + tabWidth - column%tabWidth
		}
		if next > target {
			return text[:i] + strings.Repeat(" ", target-column), strings.Repeat(" ", next-target) + text[i+1:]
		}
		column = next
		i++
	}
	return text[:i], text[i:]
}

// quote makes comment marks in the text harmless, as Emacs does: it puts a backslash behind the
// first character of each, and replaces a mark of one character.
func (s *commentSyntax) quote(text string) string {
	if s.nested == nil {
		return text
	}
	var out strings.Builder
	for {
		found := s.nested.FindStringIndex(text)
		if found == nil {
			return out.String() + text
		}
		out.WriteString(text[:found[0]])
		mark := text[found[0]:found[1]]
		if len(s.endMark) == 1 && mark == s.endMark {
			out.WriteString("!" + s.startMark + `\`)
			text = text[found[1]:]
			continue
		}
		out.WriteString(mark[:1] + `\`)
		text = text[found[0]+1:]
	}
}
