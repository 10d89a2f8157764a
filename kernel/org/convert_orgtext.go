package org

import (
	"regexp"
	"strings"
)

// orgLine begins a line of Org text.
func (c *Converter) orgLine(l string, complete bool) (n int, ok bool) {
	if c.copies() {
		if complete {
			c.copyLine(l)
		}
		return 0, complete
	}
	if isBlank(l) {
		if complete {
			c.closeBlocks(0)
			c.blank++
		}
		return 0, complete
	}
	if l[0] == '>' && c.block == "" {
		return c.quotedLine(l, complete)
	}
	if len(c.containers) > 0 {
		c.closeBlocks(0)
	}
	indent := indentation(l)
	trimmed := l[indent:]
	if trimmed[0] == '|' {
		if complete {
			if c.rows == nil {
				c.rowPrefix = l[:indent]
			}
			c.rows = append(c.rows, strings.TrimRight(trimmed, " \t"))
		}
		return 0, complete
	}
	c.flushTable()
	if element, decided := c.isElement(trimmed, complete); element || !decided {
		if decided {
			c.element(l, trimmed)
		}
		return 0, decided
	}
	c.drawer = false
	switch trimmed[0] {
	case '*', '#':
		level, title, decided := c.headingLine(l, complete)
		if !decided || level > 0 && !complete {
			return 0, false
		}
		if level > 0 {
			c.heading(level, title)
			return 0, true
		}
	case '`', '~':
		kind, decided := fenceKind(trimmed, complete)
		if !decided {
			return 0, false
		}
		if kind == fenceLine {
			c.openFence(l, l[:indent])
			return 0, true
		}
	}
	mark, used, decided := orgMark(trimmed, complete)
	switch {
	case !decided:
		return 0, false
	case mark == orgRule:
		c.paragraph = false
		c.beginLine(l[:indent] + mark)
		return 0, true
	}
	n, ok = c.textLine(l[:indent]+mark, trimmed[used:], indent+used, complete, c.paragraph)
	c.paragraph = c.paragraph || ok
	return n, ok
}

// orgRule is a line across the page.
const orgRule = "-----"

// orgMark returns what Org has for the first n bytes of a line where Markdown has other signs: for a
// rule, the box of a task that is done, and the colon behind the label of a footnote. Models begin
// an answer in Org and go on in Markdown.
func orgMark(l string, complete bool) (mark string, n int, decided bool) {
	switch l[0] {
	case '-':
		if isRun(l) {
			if complete && isRule(l) && len(trimBlanks(l)) < len(orgRule) {
				return orgRule, len(l), true
			}
			return "", 0, complete
		}
		const done = "- [x] "
		if strings.HasPrefix(l, done) {
			return "- [X] ", len(done), true
		}
		return "", 0, complete || !strings.HasPrefix(done, l)
	case '[':
		closing := strings.IndexByte(l, ']')
		switch {
		case !strings.HasPrefix(l, "[fn:"[:min(len(l), 4)]) || len(l) > spanLimit:
			return "", 0, true
		case closing < 0 || closing+1 == len(l):
			return "", 0, complete
		case l[closing+1] == ':':
			return l[:closing+1], closing + 2, true
		}
	}
	return "", 0, true
}

// quotedLine writes a line behind Markdown's mark of a quote into a block of Org.
func (c *Converter) quotedLine(l string, complete bool) (n int, ok bool) {
	if !complete {
		return 0, false
	}
	c.flushTable()
	c.drawer = false
	if len(c.containers) == 0 {
		c.openQuote()
	}
	rest := strings.TrimPrefix(l[1:], " ")
	if isBlank(rest) {
		c.paragraph = false
		c.blank++
		return 0, true
	}
	// A heading or an end of the block would end the quote.
	mark, used := "", 0
	if rest[0] == '*' || rest[0] == '#' {
		mark, used, _ = guard(rest, true)
	}
	n, ok = c.textLine(mark, rest[used:], len(l)-len(rest)+used, true, c.paragraph)
	c.paragraph = true
	return n, ok
}

// copies reports whether lines are copied: in a fenced block, in a block of Org that is no Org, and
// in a LaTeX environment.
func (c *Converter) copies() bool {
	return c.fence != nil || c.verbatim != "" || c.environment != ""
}

// copyLine copies a line, or ends what is copied.
func (c *Converter) copyLine(l string) {
	switch {
	case c.fence != nil:
		c.fenceLine(l)
		return
	case c.environment != "" && isBlank(l):
		c.environment = "" // without its end it was none
		c.reread(l)
		return
	}
	c.beginLine("")
	c.out.WriteString(strings.TrimRight(l, "\r"))
	if begin, kind, _, ok := blockDelimiter(strings.TrimRight(l, "\r")); ok && !begin && kind == c.verbatim {
		c.verbatim = ""
	}
	if c.environment != "" && strings.HasSuffix(trimBlanks(l), `\end{`+c.environment+"}") {
		c.environment = ""
	}
}

// elementWords are what lines of Org begin with that are neither text nor headings, in upper case.
var elementWords = []string{"#+", `\BEGIN{`, "SCHEDULED:", "DEADLINE:", "CLOSED:", "CLOCK:"}

var (
	environmentStart = regexp.MustCompile(`^\\begin\{([A-Za-z0-9*]+)\}`)
	planningStart    = regexp.MustCompile(`^(?:SCHEDULED|DEADLINE|CLOSED|CLOCK):[ \t]*[<\[]`)
)

// isElement reports whether a line without its indentation is one of Org that is copied as it is: a
// keyword, the beginning or end of a block or drawer, a property, planning, a LaTeX environment, and
// in Org text a comment and a line of fixed width.
func (c *Converter) isElement(l string, complete bool) (is, decided bool) {
	if !complete && strings.IndexByte("#:\\SDCsdc", l[0]) < 0 {
		return false, true
	}
	if !complete {
		for _, word := range elementWords {
			if n := min(len(word), len(l)); strings.EqualFold(l[:n], word[:n]) {
				return false, false
			}
		}
		return false, l[0] != ':' && l[0] != '#'
	}
	switch l[0] {
	case '#':
		return strings.HasPrefix(l, "#+") || c.dialect != Markdown && (l == "#" || strings.HasPrefix(l, "# ")), true
	case ':':
		if isDrawer(l) {
			return true, true
		}
		_, _, property := propertyLine(l)
		return c.drawer && property || c.dialect != Markdown && (l == ":" || strings.HasPrefix(l, ": ")), true
	case '\\':
		return environmentStart.MatchString(l), true
	}
	return strings.IndexByte("SDC", l[0]) >= 0 && planningStart.MatchString(l), true
}

// element copies a line for which isElement is true. l has its indentation.
func (c *Converter) element(l, trimmed string) {
	c.flushCarried()
	c.flushBullet()
	c.paragraph = false
	if trimmed[0] != ':' || isDrawer(trimmed) {
		c.drawer = trimmed[0] == ':' && !strings.EqualFold(trimBlanks(trimmed), ":END:")
	}
	if begin, kind, _, ok := blockDelimiter(trimmed); ok {
		switch {
		case begin && isVerbatim(kind) && kind != "verse":
			c.verbatim = kind
		case begin && c.block == "":
			c.block = kind
		case !begin && kind == c.block:
			c.block = ""
		}
	}
	if start := environmentStart.FindStringSubmatch(trimmed); start != nil && !strings.HasSuffix(trimBlanks(trimmed), `\end{`+start[1]+"}") {
		c.environment = start[1]
	}
	prefix := l[:len(l)-len(trimmed)]
	if c.dialect == Markdown {
		prefix = c.indent()
	}
	c.beginLine(prefix + strings.TrimRight(trimmed, " \t\r"))
}
