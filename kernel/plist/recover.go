package plist

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/chewxy/sexp"
)

// RecoverOptions are the options of [Recover].
type RecoverOptions struct {
	// Input is everything that the turn showed to the model: message, context and tool results. A
	// plist that occurs verbatim in one of them, and that stands in the reply among other words or
	// in a fence, is a quotation and not a proposal.
	Input []string
	// Finished is true if the text ended because the model was done. Missing closers at the end
	// were then forgotten and not cut off.
	Finished bool
	// IsReply reports whether the :text of an action is text for a conversation. The beginning of
	// such a text is useful even if the rest was cut off. Default: true for a :response.
	IsReply func(action sexp.List) bool
}

// Recovered is the content of a model's reply. Exactly one of Proposal, Text and Err is set.
type Recovered struct {
	// Proposal is a well-formed plist in the shape in which it was written.
	Proposal sexp.List
	// Text is the whole reply as prose if it contains no candidate.
	Text string
	// Steps names the steps that changed something, in the order of the pipeline: think fence
	// embedded quote bare json nesting inner-quotes unclosed truncated prose. If nothing changed,
	// it is "strict" alone. It is never empty.
	Steps []string
	// Err is the reason if there is a candidate that is not a proposal, or if the reply is empty.
	// It is written for the model, which may try again.
	Err error
	// Candidates is the number of plists that may have been meant. Only the first can become the
	// Proposal. Quotations do not count.
	Candidates int
	// Reason says for people why there is no Proposal.
	Reason string
	// Thought is the text that was removed as thoughts, for people to read.
	Thought string
}

// ErrEmpty is the Err of an empty reply.
var ErrEmpty = errors.New("the reply is empty; answer with one plist that begins with (:type")

// Recover finds the one proposal in a model's reply, or reports that the reply is prose. It removes
// thoughts, fences and the prose around a proposal, rewrites other notations, and repairs errors
// that have only one possible repair. It does not guess. Time and memory are linear in the text and
// opt.Input.
func Recover(text string, opt RecoverOptions) Recovered {
	lost := cutTail(text)
	text = validText(text)
	f := newFinder()
	f.text, f.final = text, true
	input := quotations{texts: opt.Input}
	quoted := false
	for {
		c, ok := f.next()
		if !ok {
			break
		}
		if c.kind != jsonCandidate {
			c.end = formEnd(text, c.open)
		}
		end := c.end
		if end < 0 {
			end = len(text)
		}
		if alone := c.first && !f.meaningful(end, len(text)); !alone && input.hold(trimBlanks(text[c.open:end])) {
			quoted = true
			f.skip(c.start, end)
			continue
		}
		f.note(c)
		if c.end < 0 {
			f.block(c)
		} else {
			f.after(c)
		}
	}
	var r Recovered
	if len(f.found) == 0 {
		r = f.prose(quoted)
	} else {
		r = f.proposal(pick(f.found), opt, lost)
	}
	r.Thought = f.thoughts()
	return r
}

// ReadProposal returns the first well-formed plist in a finished text, whether or not it is usable
// as an action, with the steps that led to it. The error says why there is none. isReply is as in
// [RecoverOptions].
func ReadProposal(text string, isReply func(action sexp.List) bool) (proposal sexp.List, steps []string, err error) {
	r := Recover(text, RecoverOptions{Finished: true, IsReply: isReply})
	if r.Proposal == nil {
		return nil, r.Steps, errors.New(r.Reason)
	}
	return r.Proposal, r.Steps, nil
}

// pick returns the candidate that counts: the one with which the text begins, or else the first at
// the start of a fence, or else the first.
func pick(found []candidate) candidate {
	if last := found[len(found)-1]; last.fenced && !found[0].first {
		return last
	}
	return found[0]
}

// cutTail returns how many bytes at the end are the beginning of an incomplete character.
func cutTail(text string) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if c := text[len(text)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRuneInString(text[len(text)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// isTrim reports whether c is removed from both ends of a text.
func isTrim(c rune) bool {
	return c == 0 || c == '\uFEFF' || c < utf8.RuneSelf && classes[byte(c)]&blank != 0 || c >= utf8.RuneSelf && unicode.IsSpace(c)
}

func trimBlanks(s string) string { return strings.TrimFunc(s, isTrim) }

// between returns the text between two offsets without its thoughts.
func (f *finder) between(from, to int) string {
	if !f.thought || f.thinkTo <= from || f.thinkFrom >= to {
		return f.text[from:to]
	}
	return f.text[from:max(from, f.thinkFrom)] + f.text[min(to, f.thinkTo):to]
}

// meaningful reports whether there is more than white space, comments and thoughts between two
// offsets.
func (f *finder) meaningful(from, to int) bool {
	s := f.between(from, to)
	for {
		s = strings.TrimLeftFunc(s, isTrim)
		if !strings.HasPrefix(s, ";") {
			return s != ""
		}
		_, s, _ = strings.Cut(s, "\n")
	}
}

// firstSteps returns the first steps of the list.
func (f *finder) firstSteps() []string {
	if f.thought {
		return []string{"think"}
	}
	return nil
}

// prose returns the result without a candidate.
func (f *finder) prose(quoted bool) Recovered {
	steps := f.firstSteps()
	text := trimBlanks(f.between(0, len(f.text)))
	proposal, fenced, err := whole(text)
	if fenced {
		steps = append(steps, "fence")
	}
	switch {
	case proposal != nil:
		return Recovered{Proposal: proposal, Steps: orStrict(steps), Candidates: 1}
	case err != nil && errors.Is(err, ErrEmpty):
		return Recovered{Err: err, Steps: orStrict(steps), Reason: err.Error()}
	case err != nil:
		return Recovered{Err: err, Steps: orStrict(steps), Reason: err.Error(), Candidates: 1}
	}
	reason := "there is no plist in the text"
	if quoted {
		reason = "the plist in the text is quoted from what the model was shown"
	}
	return Recovered{Text: text, Steps: append(steps, "prose"), Reason: reason}
}

// whole examines a text without a candidate. If the text is only a plist, alone or in a fence, it
// is a proposal, even if an unusable one, and not prose for a person. So is a text that is only
// nil.
func whole(text string) (proposal sexp.List, fenced bool, err error) {
	if text == "" {
		return nil, false, ErrEmpty
	}
	if inner, ok := soleFence(text); ok {
		text, fenced = inner, true
	}
	word := strings.ToLower(text[:min(len(text), 8)])
	if word != "nil" && text[0] != '(' && text[0] != ';' {
		return nil, false, nil
	}
	x, err := Read(text)
	if err != nil {
		var syntax *SyntaxError
		if j := blanksAfter(text, 1); text[0] == '(' && len(tokenAt(text, j)) > 1 && text[j] == ':' &&
			errors.As(err, &syntax) && syntax.Kind != UnexpectedClose {
			return nil, fenced, err
		}
		return nil, false, nil
	}
	list, ok := x.(sexp.List)
	if !ok {
		return nil, false, nil
	}
	if len(list) == 0 {
		return nil, fenced, ErrEmpty
	}
	if key, ok := list[0].(Keyword); !ok || key == "" {
		return nil, false, nil
	}
	if err := WellFormed(list); err != nil {
		return nil, fenced, err
	}
	return list, fenced, nil
}

// soleFence returns the content of a fence that is the whole text.
func soleFence(text string) (string, bool) {
	first, rest, ok := strings.Cut(text, "\n")
	mark := text[0]
	if !ok || mark != '`' && mark != '~' {
		return "", false
	}
	f := fence{mark: mark, count: len(first) - len(strings.TrimLeft(first, string(mark)))}
	if f.count < 3 || strings.Contains(first[f.count:], "`") {
		return "", false
	}
	line := f.closing(rest, 0)
	if line < 0 || strings.Contains(rest[line:], "\n") {
		return "", false
	}
	inner := trimBlanks(rest[:line])
	return inner, inner != ""
}

// closing returns the offset of the line that closes f, searching text from the line that contains
// from. It returns -1 if there is none.
func (f fence) closing(text string, from int) int {
	for from <= len(text) {
		line, _, more := strings.Cut(text[from:], "\n")
		if f.closes(line) {
			return from
		}
		if !more {
			return -1
		}
		from += len(line) + 1
	}
	return -1
}

// closes reports whether line closes f.
func (f fence) closes(line string) bool {
	line = strings.Trim(line, " \t\r")
	return len(line) >= f.count && f.count > 0 && strings.Trim(line, string(f.mark)) == ""
}

func orStrict(steps []string) []string {
	if len(steps) == 0 {
		return []string{"strict"}
	}
	return steps
}

// formEnd returns the offset after the ) that closes the ( at i, or -1. It looks only at
// parentheses, strings and comments.
func formEnd(text string, i int) int {
	depth, inString := 0, false
	for ; i < len(text); i++ {
		if depth, inString = structure(text, &i, depth, inString); depth == 0 {
			return i + 1
		}
	}
	return -1
}

// structure processes the character at *i of a form, at this depth or in a string. It processes a
// comment as a whole, up to the end of its line.
func structure(text string, i *int, depth int, inString bool) (int, bool) {
	switch c := text[*i]; {
	case c == '\\' && inString:
		*i++
	case c == '"':
		inString = !inString
	case inString:
	case c == '(':
		depth++
	case c == ')':
		depth--
	case c == ';':
		n := strings.IndexByte(text[*i:], '\n')
		if n < 0 {
			n = len(text) - *i
		}
		*i += n - 1
	}
	return depth, inString
}

// proposal reads the candidate that counts.
func (f *finder) proposal(c candidate, opt RecoverOptions, lost int) Recovered {
	steps := f.firstSteps()
	if c.fenced {
		steps = append(steps, "fence")
	}
	result := Recovered{Candidates: f.count}
	n, rewrites, repair := 0, []string(nil), ""
	result.Proposal, rewrites, n, result.Err = parse(c.kind, f.text[c.open:])
	end := c.open + n
	if result.Err != nil {
		region := f.region(c)
		m := mender{kind: c.kind, src: f.text[c.open:region], finished: opt.Finished, isReply: opt.IsReply}
		if m.isReply == nil {
			m.isReply = isResponse
		}
		if region == len(f.text) {
			m.lost = lost
		} else {
			_, _, _, result.Err = parse(c.kind, m.src)
		}
		proposal, again, length, name := m.repair(result.Err)
		if proposal != nil {
			result.Proposal, result.Err = proposal, nil
			rewrites, repair, end = again, name, c.open+length
		}
	}
	if result.Err != nil {
		if !c.fenced && !c.first {
			steps = append(steps, "embedded")
		}
		result.Err = inPlace(result.Err, f.text, c.open)
		result.Reason = result.Err.Error()
		result.Steps = orStrict(steps)
		return result
	}
	if !c.fenced && !c.first || f.meaningful(end, f.contentEnd(c, end)) {
		steps = append(steps, "embedded")
	}
	steps = append(steps, rewrites...)
	if repair != "" {
		steps = append(steps, repair)
	}
	result.Steps = orStrict(steps)
	return result
}

// contentEnd returns the end of the construct that contains c, given the end of c.
func (f *finder) contentEnd(c candidate, end int) int {
	if c.fenced {
		if line := c.fence.closing(f.text, end); line >= 0 {
			return line
		}
	}
	return len(f.text)
}

// region returns the furthest offset that c may reach: the closing line of its fence outside of
// strings, or the last line if that closes the fence, or else the end of the text.
func (f *finder) region(c candidate) int {
	if !c.fenced {
		return len(f.text)
	}
	if c.end >= 0 {
		return f.contentEnd(c, c.end)
	}
	depth, inString := 0, false
	for i := c.open; i < len(f.text); i++ {
		if c.kind != jsonCandidate {
			depth, inString = structure(f.text, &i, depth, inString)
		} else if f.text[i] == '"' {
			if i = jsonStringEnd(f.text, i) - 1; i < 0 {
				break
			}
		}
		if i < len(f.text) && f.text[i] == '\n' && !inString {
			if line, _, _ := strings.Cut(f.text[i+1:], "\n"); c.fence.closes(line) {
				return i + 1
			}
		}
	}
	text := strings.TrimRightFunc(f.text, isTrim)
	if i := strings.LastIndexByte(text, '\n') + 1; i > c.open && c.fence.closes(text[i:]) {
		return i
	}
	return len(f.text)
}

// parse reads one candidate from the beginning of src, rewrites it and checks it. n is the length
// that was read.
func parse(kind candidateKind, src string) (proposal sexp.List, rewrites []string, n int, err error) {
	var x sexp.Sexp
	if kind == jsonCandidate {
		r := jsonReader{src: src, limits: Limits{}.orDefault()}
		x, err = r.object(false)
		n = r.pos
		if err == nil && n > r.limits.Bytes {
			err = r.fail(0, LimitExceeded, "an object longer than %d bytes; split it", r.limits.Bytes)
		}
	} else {
		r := NewTreeReader(src, Limits{})
		x, err = r.Next()
		n = r.Offset()
	}
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = ErrEmpty // a candidate is never empty, but the reader may return io.EOF
		}
		return nil, nil, n, err
	}
	if kind.quoted() {
		rewrites = append(rewrites, "quote")
	}
	x, bare := keywords(unquote(x), kind.bare())
	if bare {
		rewrites = append(rewrites, "bare")
	}
	if kind == jsonCandidate {
		rewrites = append(rewrites, "json")
	}
	x, nested := unnest(x)
	if nested {
		rewrites = append(rewrites, "nesting")
	}
	if err := WellFormed(x); err != nil {
		return nil, nil, n, err
	}
	list, ok := x.(sexp.List)
	if !ok || len(list) == 0 {
		return nil, nil, n, ErrEmpty
	}
	return list, rewrites, n, nil
}

// inPlace converts the position of an error from one relative to offset to one relative to the
// beginning of text.
func inPlace(err error, text string, offset int) error {
	var syntax *SyntaxError
	if !errors.As(err, &syntax) {
		return fmt.Errorf("the plist cannot be used: %w", err)
	}
	moved := *syntax
	base := Position{Line: 1, Column: 1}.advance(text, offset, false)
	if moved.Line == 1 {
		moved.Column += base.Column - 1
	}
	moved.Line += base.Line - 1
	moved.Offset += offset
	return &moved
}
