package org

import (
	"html"
	"strings"
	"unicode/utf8"

	"org-agent/kernel/text"
)

// bracket handles [text](url), [text][label], [label] and [^footnote].
func (c *inline) bracket(text string, final bool) (n int, decided bool) {
	if len(text) < 4 && !final {
		return 0, false
	}
	if strings.HasPrefix(text, "[fn:") || strings.HasPrefix(text, "[[") {
		return 0, true
	}
	limited := text[:min(len(text), spanLimit)]
	final = final || len(limited) < len(text)
	closing, decided := closingBracket(limited, final)
	if closing == 0 || !decided {
		return 0, decided
	}
	if closing == len(limited) && !final {
		return 0, false
	}
	label := limited[1 : closing-1]
	rest := limited[closing:]
	switch {
	case strings.HasPrefix(label, "^"):
		return c.footnote(label[1:], closing)
	case strings.HasPrefix(rest, "("):
		destination, end := parseDestination(rest)
		if end == 0 {
			return 0, final
		}
		c.link(label, destination)
		return closing + end, true
	case strings.HasPrefix(rest, "["):
		end := strings.IndexByte(rest, ']')
		if end < 0 {
			return 0, final
		}
		reference := rest[1:end]
		if reference == "" {
			reference = label
		}
		if destination, ok := c.links[foldLabel(reference)]; ok {
			c.link(label, destination)
			return closing + end + 1, true
		}
	case !strings.HasPrefix(rest, ":"):
		if destination, ok := c.links[foldLabel(label)]; ok {
			c.link(label, destination)
			return closing, true
		}
	}
	return 0, true
}

func foldLabel(label string) string {
	return strings.ToLower(text.Line(label))
}

// closingBracket returns the length of the balanced bracket at the start of text.
func closingBracket(text string, final bool) (n int, decided bool) {
	if strings.IndexByte(text, ']') < 0 {
		return 0, final
	}
	depth, seen := 0, 0
	for i := 0; i < len(text); {
		switch text[i] {
		case '[':
			depth++
			if seen++; seen > maxDelimiters {
				return 0, true
			}
		case ']':
			if depth--; depth == 0 {
				return i + 1, true
			}
		case '\\', '`':
			skip, known := skipOpaque(text[i:], final)
			if !known {
				return 0, false
			}
			if seen++; seen > maxDelimiters {
				return 0, true
			}
			i += skip
			continue
		}
		i++
	}
	return 0, final
}

// footnote writes [^id] as [fn:id], or as text if Org does not allow the label.
func (c *inline) footnote(label string, n int) (int, bool) {
	label, ok := footnoteLabel(label)
	if !ok {
		return 0, true
	}
	if c.prev == 0 {
		c.write(zeroWidthSpace) // at the start of a line it would be a definition
	}
	c.write("[fn:" + label + "]")
	return n, true
}

func footnoteLabel(label string) (string, bool) {
	if label == "" || len(label) > wordLimit {
		return "", false
	}
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && isAlnum(byte(r)) || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, label), true
}

// destinationEnd returns the length of "(destination title)", 0 if it is none.
func destinationEnd(text string) int {
	_, end := parseDestination(text)
	return end
}

// parseDestination reads "(url "title")"; the title is dropped.
func parseDestination(text string) (destination string, end int) {
	i := 1 + indentation(text[1:])
	start := i
	if i < len(text) && text[i] == '<' {
		closing := strings.IndexByte(text[i:], '>')
		if closing < 0 {
			return "", 0
		}
		destination = text[i+1 : i+closing]
		i += closing + 1
	} else {
		for depth := 0; i < len(text) && text[i] != ' ' && text[i] != '\t'; i++ {
			if text[i] == '\\' && i+1 < len(text) {
				i++
				continue
			}
			if text[i] == '(' {
				depth++
			}
			if text[i] == ')' {
				if depth == 0 {
					break
				}
				depth--
			}
		}
		destination = text[start:min(i, len(text))]
	}
	if i >= len(text) {
		return "", 0
	}
	i += indentation(text[i:])
	if i < len(text) && strings.IndexByte(`"'(`, text[i]) >= 0 {
		closing := text[i]
		if closing == '(' {
			closing = ')'
		}
		for i++; i < len(text) && text[i] != closing; i++ {
			if text[i] == '\\' {
				i++
			}
		}
		if i >= len(text) {
			return "", 0
		}
		i++
		i += indentation(text[i:])
	}
	if i >= len(text) || text[i] != ')' {
		return "", 0
	}
	return destination, i + 1
}

// link writes a link, or only its text where Org could not follow the link safely.
func (c *inline) link(label, destination string) {
	target, ok := linkTarget(destination)
	inner := inline{markdown: c.markdown, cell: c.cell, inLink: true, begun: true, links: c.links, line: c.line, active: c.active}
	if c.inLink || !ok {
		inner.prev, inner.opened = c.prev, c.opened
	}
	inner.run(label, true)
	description := inner.out.String()
	if c.inLink || !ok {
		c.writePlain(description)
		c.opened = inner.opened
		if !c.inLink && destination != "" && destination[0] != '#' && destination != label {
			c.apart = false
			c.write(" (")
			c.plain(destination)
			c.write(")")
		}
		return
	}
	if c.prev == '[' {
		c.write(zeroWidthSpace)
	}
	if description == "" || label == destination || label == target {
		c.write("[[" + target + "]]")
		return
	}
	c.write("[[" + target + "][" + describe(description) + "]]")
}

// describe makes a description in which nothing ends the link.
func describe(description string) string {
	description = strings.ReplaceAll(description, "]]", "]"+zeroWidthSpace+"]")
	if strings.HasSuffix(description, "]") {
		description += zeroWidthSpace
	}
	return description
}

func (c *inline) image(text string, final bool) (n int, decided bool) {
	if len(text) == 1 {
		return 0, final
	}
	if text[1] != '[' {
		return 0, true
	}
	limited := text[1:min(len(text), spanLimit)]
	final = final || len(limited)+1 < len(text)
	closing, decided := closingBracket(limited, final)
	if closing == 0 || !decided {
		return 0, decided
	}
	if closing == len(limited) && !final {
		return 0, false
	}
	rest := limited[closing:]
	if !strings.HasPrefix(rest, "(") {
		return 0, true
	}
	destination, end := parseDestination(rest)
	if end == 0 {
		return 0, final
	}
	c.link(limited[1:closing-1], destination)
	return 1 + closing + end, true
}

// angle handles <https://…>, <name@host> and <br>.
func (c *inline) angle(text string, final bool) (n int, decided bool) {
	if !c.markdown {
		return 0, true // Org has these
	}
	limited := text[:min(len(text), spanLimit)]
	end := strings.IndexAny(limited[1:], "> \t<")
	if end < 0 {
		return 0, final || len(limited) < len(text)
	}
	end++
	inner := limited[1:end]
	if strings.EqualFold(strings.TrimSuffix(inner, "/"), "br") {
		return c.lineBreak(text, final)
	}
	if limited[end] != '>' {
		if n := htmlTag(limited); n > 0 {
			c.plain(limited[:n])
			return n, true
		}
		return 0, final || len(limited) < len(text) || !mayBeTag(limited)
	}
	if strings.IndexByte(inner, '@') > 0 && !strings.ContainsAny(inner, ":/") {
		c.link(inner, "mailto:"+inner)
		return end + 1, true
	}
	if scheme, _, ok := strings.Cut(inner, ":"); ok && isHarmlessLink(strings.ToLower(scheme)) {
		if _, ok := linkTarget(inner); ok {
			c.link(inner, inner)
			return end + 1, true
		}
	}
	return 0, true
}

// htmlTag returns the length of the opening tag with attributes, or of the comment, at the start of
// text. The text in its quotes is not read as Markdown.
func htmlTag(text string) int {
	if strings.HasPrefix(text, "<!--") {
		if end := strings.Index(text[4:], "-->"); end >= 0 {
			return 4 + end + 3
		}
		return 0
	}
	if !mayBeTag(text) {
		return 0
	}
	quote := byte(0)
	for i := 1; i < len(text); i++ {
		switch b := text[i]; {
		case quote != 0:
			if b == quote {
				quote = 0
			}
		case b == '"' || b == '\'':
			if text[i-1] != '=' {
				return 0
			}
			quote = b
		case b == '<' || b == '`':
			return 0
		case b == '>':
			return i + 1
		}
	}
	return 0
}

// mayBeTag reports whether a "<" begins "<name attribute=" or "<!--" and is not a single sign.
func mayBeTag(text string) bool {
	if strings.HasPrefix(text, "<!--") {
		return true
	}
	i := 1
	for i < len(text) && isAlnum(text[i]) {
		i++
	}
	name := i
	i += indentation(text[i:])
	if name == 1 || !isLetter(text[1]) || i == name {
		return false
	}
	for i < len(text) && (isAlnum(text[i]) || strings.IndexByte("-_:", text[i]) >= 0) {
		i++
	}
	return i == len(text) || text[i] == '='
}

// lineBreak writes <br> as Org's line break at the end of a line, else as a blank.
func (c *inline) lineBreak(text string, final bool) (n int, decided bool) {
	closing := strings.IndexByte(text, '>')
	if closing < 0 {
		return 0, final
	}
	n = closing + 1
	if isBlank(text[n:]) {
		if !final {
			return 0, false
		}
		if !c.cell && c.prev != 0 {
			c.after = false
			c.write(` \\`)
		}
		return len(text), true
	}
	if c.prev != ' ' {
		c.write(zeroWidthSpace) // "Local<br>Variables:" is not "Local Variables:"
		c.out.WriteByte(' ')
		c.prev = ' '
	}
	return n, true
}

// orgLink copies a whole [[target][description]] as it is. It returns 0 if the text begins none.
func (c *inline) orgLink(text string, final bool) (n int, decided bool) {
	if text[0] != '[' || c.literals {
		return 0, true
	}
	if len(text) == 1 {
		return 0, final
	}
	if text[1] != '[' || c.inLink {
		return 0, true
	}
	limited := text[:min(len(text), spanLimit)]
	target, description, end := cutOrgLink(limited)
	if end == 0 || target == "" || c.cell && strings.IndexByte(description, '|') >= 0 {
		return 0, final || len(limited) < len(text) || end > 0
	}
	c.write(text[:end])
	return end, true
}

// cutOrgLink reads [[target]] or [[target][description]] at the start of text.
func cutOrgLink(text string) (target, description string, end int) {
	i := strings.IndexAny(text[2:], "[]")
	if i <= 0 || text[2+i] != ']' {
		return "", "", 0
	}
	target = text[2 : 2+i]
	rest := text[2+i+1:]
	if strings.HasPrefix(rest, "]") {
		return target, "", len(text) - len(rest) + 1
	}
	if !strings.HasPrefix(rest, "[") {
		return "", "", 0
	}
	closing := strings.Index(rest, "]]")
	if closing <= 1 {
		return "", "", 0
	}
	return target, rest[1:closing], len(text) - len(rest) + closing + 2
}

// isHarmlessLink reports whether a link in Markdown may become one of this type in Org.
func isHarmlessLink(kind string) bool {
	switch kind {
	case "http", "https", "mailto", "id", "file":
		return true
	}
	return false
}

// remoteFile reports whether Emacs would open a file through another program or machine.
func remoteFile(path string) bool {
	name := strings.TrimLeft(path, "/")
	if strings.HasPrefix(name, `\\`) || len(path)-len(name) == 2 {
		return true
	}
	end := strings.IndexAny(name, "/: \t")
	return len(name) < len(path) && end >= 0 && name[end] == ':'
}

// linkTarget converts a destination to the target of an Org link. ok is false for a type other than
// http(s), mailto, id and file, and for a destination that cannot be written safely.
func linkTarget(destination string) (string, bool) {
	destination = html.UnescapeString(destination)
	scheme, rest, hasScheme := strings.Cut(destination, ":")
	if hasScheme && strings.ContainsAny(scheme, "/?#") {
		hasScheme = false
	}
	switch lower := strings.ToLower(scheme); {
	case hasScheme && (lower == "http" || lower == "https" || lower == "mailto"):
		return lower + ":" + encodeURL(rest), rest != ""
	case hasScheme && lower == "id":
		return "id:" + rest, isPlainPath(rest)
	case hasScheme && lower == "file":
		return "file:" + rest, isPlainPath(rest) && !remoteFile(rest)
	case hasScheme || destination == "" || destination[0] == '#':
		return "", false
	case strings.HasPrefix(destination, "//"):
		return "https:" + encodeURL(destination), true
	}
	path := strings.ReplaceAll(destination, "%20", " ")
	return "file:" + path, isPlainPath(path) && !remoteFile(path)
}

// encodeURL percent-encodes the characters that an Org link cannot contain.
func encodeURL(text string) string {
	const digits = "0123456789ABCDEF"
	var out strings.Builder
	out.Grow(len(text))
	for i := range len(text) {
		b := text[i]
		double := i > 0 && text[i-1] == b && (b == '@' || b == '%' || b == '^')
		if b > ' ' && b != 0x7f && strings.IndexByte("<>[]{}|\\^`\"$", b) < 0 && !double {
			out.WriteByte(b)
			continue
		}
		out.WriteByte('%')
		out.WriteByte(digits[b>>4])
		out.WriteByte(digits[b&15])
	}
	return out.String()
}

// isPlainPath reports whether a file name or an id contains nothing that Org reads as syntax.
func isPlainPath(path string) bool {
	for i := range len(path) {
		if path[i] < ' ' || path[i] == 0x7f || strings.IndexByte("<>[]{}|\\^`\"$@%", path[i]) >= 0 {
			return false
		}
	}
	return path != "" && strings.TrimSpace(path) == path
}
