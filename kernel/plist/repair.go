package plist

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/chewxy/sexp"
)

// mender repairs one candidate that does not read. src begins with its ( or {
// and ends where it must end.
type mender struct {
	kind     candidateKind
	src      string
	finished bool
	isReply  func(sexp.List) bool
	lost     int // bytes at the end of src that are a cut character
}

// repair returns the proposal if there is exactly one way to have one, with the
// length of src it takes and the repair's name.
func (m mender) repair(cause error) (proposal sexp.List, rewrites []string, n int, name string) {
	var syntax *SyntaxError
	errors.As(cause, &syntax)
	if syntax != nil && syntax.Kind == LimitExceeded {
		return nil, nil, 0, ""
	}
	if proposal, rewrites, n = m.innerQuotes(); proposal != nil {
		return proposal, rewrites, n, "inner-quotes"
	}
	if syntax == nil {
		return nil, nil, 0, ""
	}
	switch {
	case syntax.Kind == UnclosedList && m.finished:
		if proposal, rewrites, _, _ = parse(m.kind, m.src+"\n"+m.closers(m.src)); proposal != nil {
			return proposal, rewrites, len(m.src), "unclosed"
		}
	case syntax.Kind == UnclosedString:
		if proposal, rewrites = m.truncated(syntax.Offset); proposal != nil {
			return proposal, rewrites, len(m.src), "truncated"
		}
	}
	return nil, nil, 0, ""
}

// closers is what closes the lists open at the end of src.
func (m mender) closers(src string) string {
	if m.kind != jsonCandidate {
		depth, inString := 0, false
		for i := 0; i < len(src); i++ {
			depth, inString = structure(src, &i, depth, inString)
		}
		return strings.Repeat(")", max(0, min(depth, codecDepth)))
	}
	var open []byte
	for i := 0; i < len(src); i++ {
		switch c := src[i]; c {
		case '{', '[':
			open = append(open, c+2)
		case '}', ']':
			open = open[:max(0, len(open)-1)]
		case '"':
			end := jsonStringEnd(src, i)
			if end < 0 {
				end = len(src)
			}
			i = end - 1
		}
	}
	open = open[max(0, len(open)-codecDepth):]
	var b strings.Builder
	for i := len(open) - 1; i >= 0; i-- {
		b.WriteByte(open[i])
	}
	return b.String()
}

// truncated completes the string that is open from its quote at start on, if it
// is the text of a reply; the … says that it was cut.
func (m mender) truncated(start int) (sexp.List, []string) {
	content := m.src[start+1:]
	for range m.lost {
		content = strings.TrimSuffix(content, "\uFFFD")
	}
	var text, quoted string
	if m.kind == jsonCandidate {
		if i := strings.LastIndexByte(content, '\\'); i >= 0 && len(content)-i < 6 && escaping(content, i) {
			if rest := content[i+1:]; rest == "" || rest[0] == 'u' && len(rest) < 5 {
				content = content[:i] // an escape was cut
			}
		}
		text = jsonText(content)
		quoted = `"` + content + "…\""
	} else {
		if i := len(content) - 1; i >= 0 && content[i] == '\\' && escaping(content, i) {
			content = content[:i]
		}
		text = stringText(content)
		quoted = `"` + content + "…\""
	}
	if trimBlanks(text) == "" {
		return nil, nil
	}
	closed := m.src[:start] + quoted
	proposal, rewrites, _, err := parse(m.kind, closed+m.closers(closed))
	if err != nil || !m.isReply(proposal) || !endsWithText(proposal, text+"…") {
		return nil, nil
	}
	return proposal, rewrites
}

// escaping says whether the \ at i is not itself escaped.
func escaping(s string, i int) bool {
	n := 0
	for i-n-1 >= 0 && s[i-n-1] == '\\' {
		n++
	}
	return n%2 == 0
}

// stringText is a string's content without its escapes.
func stringText(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			b.WriteByte(unescape(s[i]))
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// endsWithText says whether the last thing in x, or in the :payload that is the
// last thing in it, is :text with that value.
func endsWithText(x sexp.List, text string) bool {
	if len(x) < 2 {
		return false
	}
	if payload, ok := x[len(x)-1].(sexp.List); ok && x[len(x)-2] == sexp.Sexp(Keyword("payload")) {
		return endsWithText(payload, text)
	}
	return x[len(x)-2] == sexp.Sexp(Keyword("text")) && x[len(x)-1] == sexp.Sexp(String(text))
}

// isResponse says whether an action is a response: words for the conversation it came from.
func isResponse(action sexp.List) bool {
	kind, _ := KeywordValue(action, "type")
	return kind == "response"
}

// innerQuotes reads the candidate with unescaped quotes in its :text, if there
// is exactly one place where that string can end.
func (m mender) innerQuotes() (proposal sexp.List, rewrites []string, n int) {
	start, level := m.textStart()
	if start < 0 {
		return nil, nil, 0
	}
	budget := 8*len(m.src) + 1024 // of characters looked at, to stay linear
	tries := 8                    // of readings that look right
	quotes := 0
	for i := start + 1; i < len(m.src) && budget > 0; i++ {
		switch m.src[i] {
		case '\\':
			i++
			continue
		case '"':
			quotes++
		default:
			continue
		}
		end := m.tail(i+1, level, &budget)
		if quotes == 1 && end >= 0 {
			return nil, nil, 0 // the string ends well; something else is wrong
		}
		if end < 0 {
			continue
		}
		if tries--; tries < 0 {
			return nil, nil, 0
		}
		list, steps, _, err := parse(m.kind, m.src[:start+1]+escapeQuotes(m.src[start+1:i])+m.src[i:end])
		if err != nil {
			continue
		}
		if proposal != nil {
			return nil, nil, 0 // two readings
		}
		proposal, rewrites, n = list, steps, end
	}
	if budget <= 0 {
		return nil, nil, 0
	}
	return proposal, rewrites, n
}

// escapeQuotes writes a \ before each quote in a string's content that has none.
func escapeQuotes(content string) string {
	var b strings.Builder
	for i := 0; i < len(content); i++ {
		switch content[i] {
		case '\\':
			b.WriteByte('\\')
			if i++; i == len(content) {
				return b.String()
			}
		case '"':
			b.WriteByte('\\')
		}
		b.WriteByte(content[i])
	}
	return b.String()
}

// textStart is the offset of the quote that opens the :text, on top or in
// :payload, and how many lists are open there; -1 if there is none.
func (m mender) textStart() (start, level int) {
	if m.kind == jsonCandidate {
		return m.jsonTextStart()
	}
	i := 1
	level = 1
	operator := strings.ToLower(tokenAt(m.src, blanksAfter(m.src, 1)))
	if operator == "list" || operator == "quote" {
		i = blanksAfter(m.src, 1) + len(operator)
		if operator == "quote" {
			if i = blanksAfter(m.src, i) + 1; i > len(m.src) {
				return -1, 0
			}
			level = 2
		}
	}
	top := level
	for i < len(m.src) {
		i = m.blanks(i)
		if i < len(m.src) && m.src[i] == ')' && level > top {
			level--
			i++
			continue
		}
		key := tokenAt(m.src, i)
		if key == "" {
			return -1, 0
		}
		i = m.blanks(i + len(key))
		name := strings.TrimPrefix(strings.ToLower(key), ":")
		if i < len(m.src) && m.src[i] == '"' && name == "text" {
			return i, level
		}
		if i < len(m.src) && m.src[i] == '(' && name == "payload" && level == top {
			i++
			level++
			continue
		}
		if i = m.item(i); i < 0 {
			return -1, 0
		}
	}
	return -1, 0
}

// blanks is the offset behind the white space and comments at i.
func (m mender) blanks(i int) int {
	for i < len(m.src) {
		switch {
		case classes[m.src[i]]&blank != 0:
			i++
		case m.src[i] == ';':
			n := strings.IndexByte(m.src[i:], '\n')
			if n < 0 {
				return len(m.src)
			}
			i += n + 1
		default:
			return i
		}
	}
	return i
}

// item is the offset behind the string, list or token at i, or -1.
func (m mender) item(i int) int {
	if i >= len(m.src) {
		return -1
	}
	switch m.src[i] {
	case '"':
		return jsonStringEnd(m.src, i) // strings end alike
	case '(':
		return formEnd(m.src, i)
	case ')':
		return -1
	}
	for i < len(m.src) && (classes[m.src[i]]&delimiter == 0 || m.src[i] == '\'') {
		_, n := utf8.DecodeRuneInString(m.src[i:])
		i += n
	}
	return i
}

// tail is where the candidate ends if its text's string does before i, with level
// lists open: keys and values up to the last ). It is -1 if that cannot be.
func (m mender) tail(i, level int, budget *int) int {
	if m.kind == jsonCandidate {
		return m.jsonTail(i, level, budget)
	}
	from := i
	end := -1
	for i < len(m.src) && end < 0 {
		i = m.blanks(i)
		if i < len(m.src) && m.src[i] == ')' {
			i++
			if level--; level == 0 {
				end = i
			}
			continue
		}
		key := tokenAt(m.src, i)
		if len(key) < 2 || key[0] != ':' && !m.kind.bare() {
			break
		}
		next := m.item(m.blanks(i + len(key)))
		if next < 0 {
			i = len(m.src)
			break
		}
		i = next
	}
	*budget -= i - from
	return end
}
