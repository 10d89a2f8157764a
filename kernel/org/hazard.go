package org

import "strings"

// isHarmlessLink reports whether text from outside may have links of this type.
func isHarmlessLink(kind string) bool {
	switch kind {
	case "http", "https", "mailto", "id", "file":
		return true
	}
	return false
}

// isLiveLink reports whether Org or a common package registers the link type. Such a link is live
// wherever it stands.
func isLiveLink(kind string) bool {
	switch kind {
	case "elisp", "shell", "help", "info", "man", "woman", "doi", "ftp", "news", "sys", "emacs",
		"file+sys", "file+emacs", "docview", "gnus", "bbdb", "irc", "rmail", "mhe", "w3m", "eww",
		"bibtex", "attachment", "agent", "org-agent", "protocol", "org-protocol", "notmuch", "mu4e",
		"message", "calibre", "zotero", "wl", "vm", "elfeed", "pdf", "pdftools", "pdfview", "nov",
		"djvu", "magit", "orgit", "git", "tel", "sms", "calc", "cite", "coderef", "radio", "fuzzy",
		"custom", "sh", "bash", "eshell", "lisp", "sly", "slime", "javascript", "data", "jar", "treemacs":
		return true
	}
	return false
}

// hazard breaks up text that Org would act on wherever it stands. It returns the length of what it
// wrote, 0 if the text begins nothing of the kind.
func (c *inline) hazard(text string, final bool) (n int, decided bool) {
	switch text[0] {
	case '{':
		return c.breakPrefix(text, "{{{", 2, final)
	case '%':
		return c.breakPrefix(text, "%%(", 1, final)
	case '^':
		return c.breakPrefix(text, "^^", 1, final)
	case '-':
		return c.breakPrefix(text, "-*-", 1, final)
	case '@':
		return c.snippet(text, final)
	case '<':
		live, decided := liveAngle(text, final)
		if live {
			c.breakUp("<")
			return 1, true
		}
		return 0, decided
	case '[':
		if len(text) == 1 {
			return 0, final
		}
		if text[1] == '[' {
			return c.orgLink(text, final)
		}
		if live, decided := citation(text, final); live || !decided {
			if live {
				c.breakUp("[")
				return 1, true
			}
			return 0, false
		}
	case '\\':
		return c.command(text, final)
	}
	return 0, true
}

// breakPrefix writes a zero-width space behind the first bytes of a prefix.
func (c *inline) breakPrefix(text, prefix string, first int, final bool) (n int, decided bool) {
	has, decided := hasPrefixFold(text, prefix, final)
	if !has {
		return 0, decided
	}
	c.breakUp(prefix[:first])
	return first, true
}

// snippet breaks up @@html:…@@.
func (c *inline) snippet(text string, final bool) (n int, decided bool) {
	if !strings.HasPrefix(text, "@@") {
		return 0, len(text) > 1 || final
	}
	if len(text) == 2 {
		return 0, final
	}
	if isAlnum(text[2]) || text[2] == '-' || text[2] == '@' {
		c.breakUp("@")
		return 1, true
	}
	return 0, true
}

// liveAngle reports whether text begins an active timestamp, a diary expression or a target.
func liveAngle(text string, final bool) (live, decided bool) {
	const longestYear = 8
	if len(text) == 1 {
		return false, final
	}
	switch {
	case text[1] == '%':
		return true, true
	case text[1] == '<':
		if len(text) == 2 {
			return false, final
		}
		return text[2] != ' ' && text[2] != '\t', true
	}
	digits := 1
	for digits < len(text) && digits <= longestYear && text[digits] >= '0' && text[digits] <= '9' {
		digits++
	}
	if digits == len(text) {
		return false, final
	}
	return digits > 1 && (text[digits] == '-' || digits > longestYear), true
}

// citation recognises [cite: and [cite/.
func citation(text string, final bool) (live, decided bool) {
	has, decided := hasPrefixFold(text, "[cite", final)
	if !has {
		return false, decided
	}
	if len(text) == 5 {
		return false, final
	}
	return text[5] == ':' || text[5] == '/', true
}

// orgLink writes a whole [[target][description]] of a harmless type, and breaks up any other.
func (c *inline) orgLink(text string, final bool) (n int, decided bool) {
	limited := text[:min(len(text), spanLimit)]
	target, description, end := cutOrgLink(limited)
	if end == 0 && !final && len(limited) == len(text) {
		return 0, false
	}
	if end == 0 || c.inLink || !isHarmlessTarget(target) || c.cell && strings.IndexByte(description, '|') >= 0 {
		c.breakUp("[")
		return 1, true
	}
	if description == "" {
		c.write("[[" + target + "]]")
		return end, true
	}
	inner := inline{markdown: c.markdown, inertOnly: c.inertOnly, cell: c.cell, math: c.math, inLink: true, begun: true, part: true, line: c.line}
	inner.run(description, true)
	c.write("[[" + target + "][" + describe(inner.out.String()) + "]]")
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

// isHarmlessTarget reports whether a target in [[…]] is a link of a harmless type that is written
// as linkTarget writes it, or a file name with a slash.
func isHarmlessTarget(target string) bool {
	scheme, rest, ok := strings.Cut(target, ":")
	if !ok || strings.ContainsAny(scheme, "/~.") {
		if !strings.HasPrefix(target, "/") && !strings.HasPrefix(target, "./") &&
			!strings.HasPrefix(target, "../") && !strings.HasPrefix(target, "~/") {
			return false
		}
		remote, _ := remoteFile(target, true)
		return isPlainPath(target) && !remote
	}
	switch scheme {
	case "http", "https", "mailto":
		return rest != "" && encodeURL(rest) == rest
	case "id":
		return isPlainPath(rest)
	case "file":
		remote, _ := remoteFile(rest, true)
		return isPlainPath(rest) && !remote
	}
	return false
}

// remoteFile reports whether Emacs would open a file name through another program:
// /method:host:name.
func remoteFile(path string, final bool) (remote, decided bool) {
	i := 0
	for i < len(path) && path[i] == '/' {
		i++
	}
	if i == len(path) {
		return false, final
	}
	if path[i] == '\\' {
		return true, true // the escaped character may be a slash
	}
	if i == 0 {
		return false, true
	}
	end := strings.IndexAny(path[i:min(len(path), i+wordLimit)], "/: \t")
	if end < 0 {
		return len(path) > i+wordLimit, final || len(path) > i+wordLimit
	}
	return path[i+end] == ':', true
}

// babelCall reports whether the text behind "src_" or "call_" makes a live call. part says that
// more text follows behind rest.
func babelCall(rest string, final, part bool) (live, decided bool) {
	for i := range min(len(rest), wordLimit) {
		switch rest[i] {
		case ' ', '\t', '\r':
			return false, true
		case '{', '[', '(', '<', '|', '\\': // the last three may become a bracket or brace
			return true, true
		}
	}
	if len(rest) >= wordLimit {
		return true, true
	}
	return final && part, final
}

// command handles a backslash and letters. A command that is plainly mathematics or names a
// character stays; any other LaTeX command is broken up.
func (c *inline) command(text string, final bool) (n int, decided bool) {
	n = 1
	for n < len(text) && n <= wordLimit && isLetter(text[n]) {
		n++
	}
	if n == len(text) && !final {
		return 0, false
	}
	if n == 1 {
		if n < len(text) && (text[1] == '(' || text[1] == '[') {
			c.math = true
		}
		return 0, true
	}
	if isMathematics(text[1:n]) {
		c.write(text[:n])
		return n, true
	}
	c.breakUp(`\`)
	return 1, true
}

func isLetter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }

// defuseVerbatim breaks up what the agenda, or a search for links in an entry, also finds in
// verbatim text. part says that more text follows behind it. Where a formula may be open nothing is
// verbatim.
func (c *inline) defuseVerbatim(content string, part bool) string {
	if c.math {
		return defuseMath(content)
	}
	if !strings.ContainsAny(content, "<%:[-lL") {
		return content
	}
	var out strings.Builder
	for i := range len(content) {
		rest := content[i:]
		switch content[i] {
		case '<':
			if live, _ := liveAngle(rest, true); live && !strings.HasPrefix(rest, "<<") {
				out.WriteString("<" + zeroWidthSpace)
				continue
			}
		case '%':
			if strings.HasPrefix(rest, "%%(") {
				out.WriteString("%" + zeroWidthSpace)
				continue
			}
		case '-':
			if strings.HasPrefix(rest, "-*-") {
				out.WriteString("-" + zeroWidthSpace)
				continue
			}
		case '[':
			if strings.HasPrefix(rest, "[[") && strings.IndexByte(rest, ':') > 0 {
				if target, _, end := cutOrgLink(rest[:min(len(rest), spanLimit)]); end == 0 || !isHarmlessTarget(target) {
					out.WriteString("[" + zeroWidthSpace)
					continue
				}
			}
		case ':':
			kind := wordEnding(content[:i])
			remote := false
			if kind[strings.LastIndexByte(kind, '+')+1:] == "file" {
				remote, _ = remoteFile(rest[1:], true)
			}
			if remote || (len(rest) == 1 && part || len(rest) > 1 && rest[1] != ' ') && isLiveLink(kind[strings.LastIndexByte(kind, '+')+1:]) {
				out.WriteString(zeroWidthSpace)
			}
		case ' ':
			if has, _ := hasPrefixFold(rest, " variables:", true); has && strings.HasSuffix(wordEnding(content[:i]), "local") {
				out.WriteString(zeroWidthSpace)
			}
		}
		out.WriteByte(content[i])
	}
	return out.String()
}

// wordEnding returns the letters, digits and plus signs that text ends with, in lower case.
func wordEnding(text string) string {
	i := len(text)
	for i > 0 && len(text)-i < wordLimit && (isAlnum(text[i-1]) || text[i-1] == '+') {
		i--
	}
	return strings.ToLower(text[i:])
}
