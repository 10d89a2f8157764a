package org

import (
	"fmt"
	"regexp"
	"strings"
)

// IsInert reports whether a text is what [Inert] promises, and if not, why, with the line. A client
// can check a text with it before it shows the text. It shares no code with the converter: it goes
// line by line, with the expressions that Org itself searches for. A text may begin with an
// answer's own heading, tagged :agent:, with a property drawer and drawers of fixed-width lines
// below it ([Annotate]).
func IsInert(text string) (ok bool, reason string) {
	check := inertCheck{}
	for l := range strings.SplitSeq(text, "\n") {
		check.number++
		if check.footnote(l) {
			return false, fmt.Sprintf("line %d: block cut by the end of a footnote", check.number)
		}
		if reason := check.line(l); reason != "" {
			return false, fmt.Sprintf("line %d: %s", check.number, reason)
		}
	}
	if check.block != "" && check.block != "drawer" {
		return false, "#+begin_" + check.block + " without its end"
	}
	return true, ""
}

// An inertCheck reads lines. block is the verbatim block or drawer that the line is in.
type inertCheck struct {
	number int
	block  string
	math   bool // a $, \( or \[ came before in this paragraph
	blanks int  // empty lines directly before
	note   bool // in a footnote definition; two empty lines end it, also within a block
}

// A hazardPattern is an expression that no line of text may match.
type hazardPattern struct {
	what string
	form *regexp.Regexp
}

const liveTypes = `shell|elisp|help|info|man|woman|doi|ftp|news|file\+sys|file\+emacs|docview|gnus|bbdb|irc|rmail|mhe|w3m|eww|bibtex|attachment|org-agent|org-protocol|notmuch|mu4e`

// anywhere are the patterns that no line may match, not even verbatim text.
var anywhere = []hazardPattern{
	{"active timestamp", regexp.MustCompile(`<\d+-\d`)},
	{"diary timestamp", regexp.MustCompile(`<%`)},
	{"diary expression", regexp.MustCompile(`%%\(`)},
	{"file variables", regexp.MustCompile(`(?i)Local Variables:`)},
	{"link type", regexp.MustCompile(`(?i)\b(?:` + liveTypes + `):[^\s]`)},
	{"remote file", regexp.MustCompile(`(?i)\bfile:/+[^/:\s]*:`)},
}

// inText are the patterns that no text may match unless it is verbatim.
var inText = []hazardPattern{
	{"macro", regexp.MustCompile(`\{\{\{`)},
	{"inline code", regexp.MustCompile(`src_[^ \t\n\[{]+[\[{]`)},
	{"inline call", regexp.MustCompile(`call_[^ \t\n\[(]+[\[(]`)},
	{"target", regexp.MustCompile(`<<[^<>\n\r \t]`)},
	{"export snippet", regexp.MustCompile(`@@[-A-Za-z0-9]+:`)},
	{"citation", regexp.MustCompile(`(?i)\[cite[:/]`)},
	{"file variables", regexp.MustCompile(`-\*-`)},
	{"LaTeX", regexp.MustCompile(`\\(?:begin|input|include|write|immediate|directlua|openin|read|usepackage|def|let|catcode|csname)(?:[^A-Za-z]|$)|\^\^`)},
}

// atStart are the patterns that the beginning of no line of text may match.
var atStart = []hazardPattern{
	{"keyword", regexp.MustCompile(`^[ \t]*#\+`)},
	{"drawer or property", regexp.MustCompile(`^[ \t]*:[^ \t\x{200b}][^ \t]*:(?:[ \t]|$)`)},
	{"planning or clock", regexp.MustCompile(`(?i)^[ \t]*(?:SCHEDULED|DEADLINE|CLOSED|CLOCK):`)},
	{"table.el table", regexp.MustCompile(`^[ \t]*\+-[-+]*\+[ \t]*$`)},
}

var (
	bracketLink  = regexp.MustCompile(`\[\[([^\]\[]*)\](?:\[(.*?)\])?\]`)
	harmlessLink = regexp.MustCompile(`^(?:https?:|mailto:|id:|file:|\.{0,2}/|~/)`)
	verbatimText = regexp.MustCompile(`(^|[-\s('"{\x{200b}])(?:=(?:[^\s\x{200b}]|[^\s\x{200b}].*?[^\s\x{200b}])=|~(?:[^\s\x{200b}]|[^\s\x{200b}].*?[^\s\x{200b}])~)([-\s.,:!?;'")}\\\[\x{200b}]|$)`)
	paragraphEnd = regexp.MustCompile(`^(?:\*+ |[ \t]*(?:[-+]|[0-9]+[.)])(?:[ \t]|$)|[ \t]*\||[ \t]*#\+(?i:begin|end)_)`)
	mathStart    = regexp.MustCompile(`\$|\\[(\[]`)
	headingStart = regexp.MustCompile(`^\*+ `)
	liveTags     = regexp.MustCompile(`[ \t]:(?:[\pL\pN_@#%]+:)*(?:user|agent|draft|ARCHIVE|crypt):(?:[\pL\pN_@#%]+:)*[ \t]*$`)
	commented    = regexp.MustCompile(`^\*+ +(?:\S+ +)?(?:\[#.\] *)?COMMENT`)
	agentHeading = regexp.MustCompile(`[ \t]:agent:$`)
	blockStart   = regexp.MustCompile(`(?i)^[ \t]*#\+begin_(quote|verse|center|example|src)(?:[ \t]+(\S+))?[ \t]*$`)
	blockEnd     = regexp.MustCompile(`(?i)^[ \t]*#\+end_(quote|verse|center|example|src)[ \t]*$`)
	language     = regexp.MustCompile(`^[A-Za-z0-9][-A-Za-z0-9_+#.]*$`)
	heldName     = regexp.MustCompile(`^\x{200b}[A-Za-z0-9][-A-Za-z0-9_+#.]*$`)
	formulaCell  = regexp.MustCompile(`\|[ \t]*:?=`)
	quickCell    = regexp.MustCompile(`^[ \t]*\|`)
)

// footnote tracks footnote definitions. It returns true when one ends within a block.
func (c *inertCheck) footnote(l string) bool {
	if strings.Trim(l, " \t") != "" {
		c.blanks = 0
		c.note = c.note && !headingStart.MatchString(l) || c.block == "" && strings.HasPrefix(l, "[fn:")
		return false
	}
	c.blanks++
	ends := c.note && c.blanks == 2
	c.note = c.note && c.blanks < 2
	return ends && c.block != ""
}

func (c *inertCheck) line(l string) string {
	if c.block != "" {
		return c.inside(l)
	}
	if paragraphEnd.MatchString(l) {
		c.math = false
	}
	if headingStart.MatchString(l) {
		defer func() { c.math = false }()
		return c.heading(l)
	}
	if match := blockStart.FindStringSubmatch(l); match != nil {
		return c.begin(strings.ToLower(match[1]), match[2])
	}
	if blockEnd.MatchString(l) {
		return ""
	}
	for _, pattern := range atStart {
		if pattern.form.MatchString(l) {
			return pattern.what
		}
	}
	if quickCell.MatchString(l) && formulaCell.MatchString(l) {
		return "formula in a table cell"
	}
	return c.text(l)
}

func (c *inertCheck) heading(l string) string {
	if c.number == 1 && agentHeading.MatchString(l) {
		c.block = "answer"
		l = agentHeading.ReplaceAllString(l, "")
	}
	if liveTags.MatchString(l) {
		return "reserved tag"
	}
	if commented.MatchString(l) {
		return "COMMENT"
	}
	return c.text(l)
}

// inside checks a line of a block's body, or of a drawer below an answer's heading.
func (c *inertCheck) inside(l string) string {
	switch c.block {
	case "answer":
		c.block = ""
		if l == ":PROPERTIES:" {
			c.block = "drawer"
			return ""
		}
		return c.line(l)
	case "drawer":
		if l == ":END:" {
			c.block = "trail"
		}
		return ""
	case "trail":
		if l == ":THOUGHTS:" || l == ":CALLS:" {
			c.block = "fixed width"
			return ""
		}
		c.block = ""
		return c.line(l)
	case "fixed width":
		switch {
		case l == ":END:":
			c.block = "trail"
			return ""
		case l != ":" && !strings.HasPrefix(l, ": "):
			return "text that is not fixed-width in a drawer"
		}
		return c.text(l)
	}
	if match := blockEnd.FindStringSubmatch(l); match != nil && strings.EqualFold(match[1], c.block) {
		c.block = ""
		return ""
	}
	if headingStart.MatchString(l) {
		return "heading within a block"
	}
	if c.block == "example" {
		return matchAny(anywhere, l)
	}
	return ""
}

func (c *inertCheck) begin(kind, rest string) string {
	switch kind {
	case "src":
		if !language.MatchString(rest) {
			return "src block without a bare language name"
		}
		if !isListedLanguage(rest) {
			return "src block of a language that is not listed"
		}
		c.block = kind
	case "example":
		c.block = kind
		if heldName.MatchString(rest) {
			return ""
		}
		fallthrough
	default:
		if rest != "" {
			return "block with arguments"
		}
	}
	return ""
}

func (c *inertCheck) text(l string) string {
	for _, match := range bracketLink.FindAllStringSubmatch(l, -1) {
		if !harmlessLink.MatchString(match[1]) {
			return "link of another type"
		}
	}
	if reason := matchAny(anywhere, bracketLink.ReplaceAllString(l, "[[$2]]")); reason != "" {
		return reason
	}
	if isBlank(l) {
		c.math = false
	}
	return matchAny(inText, c.withoutVerbatim(bracketLink.ReplaceAllString(l, "[[$2]]")))
}

// withoutVerbatim removes the verbatim spans from a line, up to where a formula may begin.
func (c *inertCheck) withoutVerbatim(l string) string {
	var out strings.Builder
	for !c.math {
		match := verbatimText.FindStringSubmatchIndex(l)
		end := len(l)
		if match != nil {
			end = match[3]
		}
		c.math = mathStart.MatchString(l[:end])
		out.WriteString(l[:end])
		if match == nil {
			return out.String()
		}
		if c.math {
			l = l[end:]
			break
		}
		// The next span may begin where this one ended, so its last character stays.
		l = l[match[4]:]
		out.WriteByte(' ')
		if l == "" {
			break
		}
		if match[4] == match[5] {
			break
		}
	}
	return out.String() + l
}

func matchAny(patterns []hazardPattern, l string) string {
	for _, pattern := range patterns {
		if pattern.form.MatchString(l) {
			return pattern.what
		}
	}
	return ""
}
