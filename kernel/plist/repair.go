package plist

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/chewxy/sexp"
)

// mender repairs one candidate that cannot be read. src begins with its ( or { and ends where the
// candidate must end.
type mender struct {
	kind     candidateKind
	src      string
	finished bool
	isReply  func(sexp.List) bool
	lost     int // how many bytes at the end of src are an incomplete character
}

// repair returns the proposal if there is exactly one possible repair, with its length in src and
// the name of the repair.
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

// closers returns the closers of the lists that are open at the end of src.
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

// truncated closes the string that is open since its quote at start, if it is the text of a reply.
// It appends … to show that the text was cut.
func (m mender) truncated(start int) (sexp.List, []string) {
	content := m.src[start+1:]
	for range m.lost {
		content = strings.TrimSuffix(content, "\uFFFD")
	}
	var text, quoted string
	if m.kind == jsonCandidate {
		if i := strings.LastIndexByte(content, '\\'); i >= 0 && len(content)-i < 6 && escaping(content, i) {
			if rest := content[i+1:]; rest == "" || rest[0] == 'u' && len(rest) < 5 {
				content = content[:i] // remove an incomplete escape
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

// escaping reports whether the \ at i is not itself escaped.
func escaping(s string, i int) bool {
	n := 0
	for i-n-1 >= 0 && s[i-n-1] == '\\' {
		n++
	}
	return n%2 == 0
}

// stringText returns the content of a string with its escapes decoded.
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

// endsWithText reports whether the last field of x, or of the :payload that ends x, is :text with
// that value.
func endsWithText(x sexp.List, text string) bool {
	if len(x) < 2 {
		return false
	}
	if payload, ok := x[len(x)-1].(sexp.List); ok && x[len(x)-2] == sexp.Sexp(Keyword("payload")) {
		return endsWithText(payload, text)
	}
	return x[len(x)-2] == sexp.Sexp(Keyword("text")) && x[len(x)-1] == sexp.Sexp(String(text))
}

// isResponse reports whether an action is a response, which is text for its own conversation.
func isResponse(action sexp.List) bool {
	kind, _ := KeywordValue(action, "type")
	return kind == "response"
}

// innerQuotes reads a candidate with unescaped quotes in its :text, if there is exactly one place
// where that string can end.
func (m mender) innerQuotes() (proposal sexp.List, rewrites []string, n int) {
	start, level := m.textStart()
	if start < 0 {
		return nil, nil, 0
	}
	budget := 8*len(m.src) + 1024 // how many characters may be examined, so that the work is linear
	tries := 8                    // how many plausible readings are tried
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
			return nil, nil, 0 // the string is correct, so the error is elsewhere
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
			return nil, nil, 0 // two possible readings
		}
		proposal, rewrites, n = list, steps, end
	}
	if budget <= 0 {
		return nil, nil, 0
	}
	return proposal, rewrites, n
}

// escapeQuotes escapes each unescaped quote in the content of a string.
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

// textStart returns the offset of the quote that opens the :text, on top or in :payload, and the
// number of lists that are open there. It returns -1 if there is none.
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

// blanks returns the offset after the white space and comments at i.
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

// item returns the offset after the string, list or token at i, or -1.
func (m mender) item(i int) int {
	if i >= len(m.src) {
		return -1
	}
	switch m.src[i] {
	case '"':
		return jsonStringEnd(m.src, i) // strings of both notations end in the same way
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

// tail returns where the candidate ends if the string of its text ends before i, with level lists
// open: after keys and values up to the last ). It returns -1 if that is impossible.
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
