package inert

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// anywhere finds what Org or Emacs finds by a mere search, also in text that is verbatim.
func (s *scan) anywhere(l string, i int, final bool) finding {
	switch l[i] {
	case ' ':
		if endsInLocal(l[:i]) {
			return prefixed(l, i, " variables:", final, "file variables")
		}
		s.url = false
	case '*':
		if i > 0 && l[i-1] == '-' {
			if found := s.modeLine(l, i, final); found.outcome != passes {
				return found
			}
		}
	case '_':
		if s.raw && endsInWord(l[:i], "src") {
			return s.inlineSource(l, i, final)
		}
	case '%':
		if !s.code && i > 0 && l[i-1] == '<' {
			return prefixed(l, i, "%%(", final, "a diary expression")
		}
	case '[':
		if !s.code {
			return s.bracket(l, i, final)
		}
	case ':':
		if !s.code {
			return s.colon(l, i, final)
		}
	case '\t', '<', '>', '|', ']', '{', '}', '(', ')':
		s.url = false
	case '$':
		s.url = false // a formula that began before it
	}
	if s.url && strings.IndexByte("*/_+=~", l[i]) >= 0 {
		// Emphasis that began before a URL ends it.
		if i+1 == len(l) {
			return wait(final)
		}
		if after, _ := utf8.DecodeRuneInString(l[i+1:]); mayFollow(after) {
			s.url = false
		}
	}
	return finding{}
}

// endsInLocal reports whether a text ends like the first word of "Local Variables:".
func endsInLocal(text string) bool {
	n := len(text) - len("local")
	return n >= 0 && text[len(text)-1]|0x20 == 'l' && strings.EqualFold(text[n:], "local")
}

// prefixed holds the place i if the text from there begins with a prefix.
func prefixed(l string, i int, prefix string, final bool, what string) finding {
	n := min(len(prefix), len(l)-i)
	switch {
	case !strings.EqualFold(l[i:i+n], prefix[:n]):
		return finding{}
	case n < len(prefix):
		return wait(final)
	}
	return hold(i, Inline, what)
}

// modeLine handles the star of "-*-". Emacs reads variables between two of them.
func (s *scan) modeLine(l string, i int, final bool) finding {
	if i+1 == len(l) {
		return wait(final)
	}
	if l[i+1] != '-' {
		return finding{}
	}
	content, _, ok := strings.Cut(l[i+2:], "-*-")
	if !ok {
		return wait(final)
	}
	if s.raw && strings.Count(l, "-*-") == 2 && harmlessVariables(content) {
		return finding{}
	}
	return hold(i, Inline, "file variables")
}

// harmlessVariables reports whether code may begin with these variables: how it is read, and in which
// of the listed languages it is.
func harmlessVariables(content string) bool {
	if content = strings.TrimSpace(content); !strings.Contains(content, ":") {
		return rules.listedLanguage(content)
	}
	for variable := range strings.SplitSeq(content, ";") {
		name, value, _ := strings.Cut(variable, ":")
		name = strings.ToLower(strings.TrimSpace(name))
		if name == "mode" && rules.listedLanguage(strings.TrimSpace(value)) || name == "" && value == "" {
			continue
		}
		if !rules.variables[name] {
			return false
		}
	}
	return true
}

// endsInWord reports whether a text ends in a word, in any case, that no other letter stands before.
func endsInWord(text, word string) bool {
	n := len(text) - len(word)
	return n >= 0 && strings.EqualFold(text[n:], word) && (n == 0 || !isAlnum(text[n-1]))
}

// inlineSource handles the "_" of "src_LANGUAGE{" in text that is not Org. There Org 9.6 still
// highlights it, so only listed languages stay.
func (s *scan) inlineSource(l string, i int, final bool) finding {
	word, found := babelWord(l, i, "{[", final)
	if found.outcome == isHeld && rules.listedLanguage(word) {
		return finding{}
	}
	found.rule = Language
	return found
}

// babelWord reads the word behind the "_" at i, up to a bracket. Without one there is no call.
func babelWord(l string, i int, brackets string, final bool) (string, finding) {
	rest := l[i+1:]
	end := strings.IndexAny(rest, brackets+" \t")
	switch {
	case end < 0 && len(rest) < wordLimit:
		return "", wait(final)
	case end < 0 || end > wordLimit:
		return "", hold(i, Inline, "code within a line")
	case end == 0 || rest[end] == ' ' || rest[end] == '\t':
		return "", finding{}
	}
	return rest[:end], hold(i, Inline, "code within a line")
}

// bracket handles "[": a citation, or a link to a file that another machine has.
func (s *scan) bracket(l string, i int, final bool) finding {
	s.url = false
	rest := l[i+1:]
	if n := min(len(rest), len("cite")); strings.EqualFold(rest[:n], "cite"[:n]) {
		if n < len("cite") {
			return wait(final)
		}
		return citation(rest, i+1, final)
	}
	if i > 0 && l[i-1] == '[' {
		remote, known := remoteFile(rest, final)
		switch {
		case !known:
			return wait(final)
		case remote:
			return hold(i+1, Inline, "a link to a file elsewhere")
		}
	}
	return finding{}
}

// citation handles "cite:" and "cite/style:", with a key before the bracket that closes it.
func citation(rest string, at int, final bool) finding {
	text := rest[:min(len(rest), spanLimit)]
	end := len("cite")
	for end < len(text) && (text[end] == '/' || text[end] == '_' || text[end] == '-' || isAlnum(text[end])) {
		end++
	}
	if end == len(text) {
		return wait(final || len(text) == spanLimit)
	}
	if text[end] != ':' || end > len("cite") && text[len("cite")] != '/' {
		return finding{}
	}
	keys, closed := text[end:], false
	depth := 1
	for k := range len(keys) { // brackets are paired, with or without a key between them
		if depth += bracketDepth(keys[k]); depth == 0 {
			keys, closed = keys[:k], true
			break
		}
	}
	switch {
	case strings.Contains(keys, "@") || !closed && (final || len(text) == spanLimit):
		return hold(at, Inline, "a citation")
	case !closed:
		return finding{outcome: waits}
	}
	return finding{}
}

func bracketDepth(b byte) int {
	switch b {
	case '[':
		return 1
	case ']':
		return -1
	}
	return 0
}

// colon handles ":" behind the type of a link or behind a planning keyword.
func (s *scan) colon(l string, i int, final bool) finding {
	if s.url {
		return finding{}
	}
	start := i
	for start > 0 && i-start < wordLimit && (isAlnum(l[start-1]) || l[start-1] == '-' || l[start-1] == '+') {
		start--
	}
	word := strings.ToLower(l[start:i])
	if word == "" {
		return finding{}
	}
	// In brackets blanks and a line end may follow the colon.
	bracket := strings.HasSuffix(l[:start], "[[") || strings.HasSuffix(l[:start], "<")
	if bracket && rules.linkTypes[word] {
		return hold(i, Inline, "a link of the type "+word)
	}
	if i+1 == len(l) {
		return wait(final)
	}
	switch word {
	case "scheduled", "deadline", "closed", "clock":
		return planning(l, i, final)
	}
	if l[i+1] == ' ' || l[i+1] == '\t' {
		return finding{}
	}
	for kind := word; ; {
		if rules.linkTypes[kind] {
			return hold(i, Inline, "a link of the type "+kind)
		}
		if rules.harmless[kind] {
			if kind == "file" {
				remote, known := remoteFile(l[i+1:], final)
				if !known {
					return wait(final)
				}
				if remote {
					return hold(i, Inline, "a link to a file elsewhere")
				}
			}
			s.url = mayBeginURL(l[:i-len(kind)])
			return finding{}
		}
		at := strings.IndexAny(kind, "-+")
		if at < 0 {
			break
		}
		kind = kind[at+1:]
	}
	// In double brackets an unknown type may be an abbreviation of the person's for another.
	if strings.HasSuffix(l[:start], "[[") && isLetter(word[0]) {
		return hold(i, Inline, "a link of the type "+word)
	}
	return finding{}
}

// mayBeginURL reports whether Org takes the type of a link that stands behind a text for the beginning
// of one. It does not behind what it takes for a letter, nor where the type is the end of a subscript or
// of a command of LaTeX.
func mayBeginURL(text string) bool {
	for i := len(text) - 1; i >= 0; i-- {
		switch b := text[i]; {
		case strings.IndexByte(" \t()[]<>{}|", b) >= 0, strings.HasSuffix(text[:i+1], Mark):
			return true
		case strings.IndexByte("_^$%'\\", b) >= 0, b >= utf8.RuneSelf, len(text)-i > wordLimit:
			return false
		}
	}
	return true
}

// planning handles the colon behind a planning keyword. A diary expression in its timestamp is held
// as well; without this mark the agenda would complain of what is left.
func planning(l string, i int, final bool) finding {
	rest := strings.TrimLeft(l[i+1:], " \t")
	if rest == "" {
		return wait(final)
	}
	if rest[0] != '<' && rest[0] != '[' {
		return finding{}
	}
	found := prefixed(rest, 1, "%%(", final, "planning by a diary expression")
	found.at = i
	return found
}

// remoteFile reports whether Emacs would open the file through another program or from another
// machine: /method:host:name, //host/name.
func remoteFile(path string, final bool) (remote, known bool) {
	slashes := len(path) - len(strings.TrimLeft(path, "/"))
	switch {
	case slashes == len(path):
		return false, final
	case slashes == 0:
		return path[0] == '\\', true
	case slashes == 2 || path[slashes] == '\\':
		return true, true
	}
	name := path[slashes:min(len(path), slashes+wordLimit)]
	end := strings.IndexAny(name, "/:| \t]")
	if end < 0 {
		return len(name) == wordLimit, final || len(name) == wordLimit
	}
	return name[end] == ':' || name[end] == '|', true
}

// inText finds what is live in text only, and not where it is verbatim.
func (s *scan) inText(l string, i int, final bool) finding {
	switch l[i] {
	case '_':
		brackets := ""
		if endsInWord(l[:i], "src") {
			brackets = "{["
		} else if endsInWord(l[:i], "call") {
			brackets = "(["
		} else {
			break
		}
		_, found := babelWord(l, i, brackets, final)
		return found
	case '{':
		if strings.HasSuffix(l[:i], "{{") {
			return macro(l, i, final)
		}
	case '<':
		if strings.HasSuffix(l[:i], "<<") {
			return radioTarget(l, i, final)
		}
	case '@':
		if i > 0 && l[i-1] == '@' {
			return snippet(l, i, final)
		}
	case '\\':
		return s.command(l, i, final)
	case '^':
		if i > 0 && l[i-1] == '^' && (s.opened.math || s.opened.parenthesis || s.opaque || s.verbatim > 0 || i < s.operands) {
			if i+1 == len(l) {
				return wait(final)
			}
			if l[i+1] > ' ' && l[i+1] < 0x7f && l[i+1] != '^' {
				return hold(i, Inline, "a character of TeX by its code")
			}
		}
	}
	return finding{}
}

// macro handles the third brace of "{{{NAME(" or "{{{NAME}}}".
func macro(l string, i int, final bool) finding {
	end := i + 1
	for end < len(l) && (isLetter(l[end]) || end > i+1 && (isAlnum(l[end]) || l[end] == '-' || l[end] == '_')) {
		end++
	}
	rest := l[end:]
	switch {
	case rest == "" || len(rest) < 3 && strings.Trim(rest, "}") == "" && end > i+1:
		return wait(final)
	case end > i+1 && (rest[0] == '(' || strings.HasPrefix(rest, "}}}")):
		return hold(i, Inline, "a macro")
	}
	return finding{}
}

// radioTarget handles the third "<" of "<<<TEXT>>>". Org takes the same text elsewhere for a link. What follows
// it is then no part of a URL or of verbatim text that begins within it. A mark in it, which holds something
// else, is no text.
func radioTarget(l string, i int, final bool) finding {
	rest := l[i+1:]
	end := strings.IndexAny(rest, "<>")
	switch {
	case end < 0 && len(rest) < spanLimit:
		return wait(final)
	case end >= 0 && end+3 > len(rest) && strings.Trim(rest[end:], ">") == "":
		return wait(final)
	case end == 0 || end > 0 && !strings.HasPrefix(rest[end:], ">>>"):
		return finding{}
	}
	if text := strings.ReplaceAll(rest[:max(end, 0)], Mark, ""); end > 0 && strings.IndexFunc(text, isNoProse) < 0 &&
		!slices.ContainsFunc(strings.FieldsFunc(text, isNoLetter), func(word string) bool { return rules.harmless[strings.ToLower(word)] }) {
		return finding{}
	}
	return hold(i, Inline, "a target that other text links to")
}

// isNoProse reports whether a character is one that means something to Org within a line.
func isNoProse(r rune) bool { return isNoLetter(r) && !strings.ContainsRune(" .,;!?()&-", r) }

func isNoLetter(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// snippet handles the second "@" of "@@BACKEND:".
func snippet(l string, i int, final bool) finding {
	end := i + 1
	for end < len(l) && (isAlnum(l[end]) || l[end] == '-') {
		end++
	}
	switch {
	case end == len(l):
		return wait(final)
	case end > i+1 && l[end] == ':':
		return hold(i, Language, "raw text for an exporter")
	}
	return finding{}
}

// command handles a backslash: a command of LaTeX that reads, writes, runs or redefines.
func (s *scan) command(l string, i int, final bool) finding {
	end := i + 1
	for end < len(l) && isLetter(l[end]) {
		end++
	}
	if end == len(l) && !final {
		return finding{outcome: waits}
	}
	name := l[i+1 : end]
	if rules.heldTeX(name) {
		return hold(i+1, Inline, `the command \`+name)
	}
	if name != "begin" && name != "end" {
		return finding{}
	}
	if end == len(l) || l[end] != '{' {
		return finding{}
	}
	environment, _, ok := strings.Cut(l[end+1:min(len(l), end+1+wordLimit)], "}")
	if !ok {
		if len(l) <= end+1+wordLimit {
			return wait(final)
		}
		return finding{}
	}
	if rules.heldTeX(environment) {
		return hold(i+1, Inline, "the environment "+environment)
	}
	return finding{}
}

// footnote returns what the label of a footnote gets when it ends at i, so that the file has no other
// of that name.
func (s *scan) footnote(l string, i int) string {
	if l[i] != ']' && l[i] != ':' {
		return ""
	}
	before := l[max(0, i-wordLimit):i]
	start := strings.LastIndexByte(before, '[')
	if start < 0 || !strings.HasPrefix(before[start:], "[fn:") {
		return ""
	}
	label := before[start+len("[fn:"):]
	for _, r := range label {
		if !isLabel(r) {
			return ""
		}
	}
	if label == "" {
		return ""
	}
	return strings.TrimPrefix(s.writer.label(label), label)
}
