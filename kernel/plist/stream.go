package plist

import (
	"strings"
	"unicode/utf8"

	"github.com/chewxy/sexp"
)

// Stream reads a model's reply while it arrives, so that its :text can be shown as it grows. It
// removes what [Recover] removes, and follows the first candidate as long as that is a plainly
// written plist. For a reply that needs rewriting or repair it reports nothing, and Recover reads
// the reply at the end.
//
// What Stream reports, Recover of the whole text reports too, if that is a plain well-formed
// proposal. There are two exceptions, which only the end can show: a closing tag of thoughts that
// were never opened, after a candidate; and a fence with another candidate, after a candidate in
// the middle of prose.
//
// The work is linear in the reply, however it is cut. Memory is bounded by the reader's 8 MiB. The
// zero value is ready to use. A Stream belongs to one goroutine.
type Stream struct {
	// Input is what the turn showed to the model, as in [RecoverOptions]. Stream reports nothing of
	// a plist that may still be a quotation. It must be set before the first Write.
	Input []string

	raw     strings.Builder // the reply so far, as valid UTF-8
	partial string          // the beginning of an incomplete character
	finder  *finder
	walk    walker
	state   streamState

	envelope  sexp.List
	inPayload bool
	text      strings.Builder
	escape    bool // the text ended with a \
	input     quotations
	checkAt   int // the length of the form at which Input is searched again
	objectAt  int // the length of the object at which its end is looked for again
	shown     bool
	skipped   int
}

type streamState int

const (
	searching streamState = iota // looking for a candidate
	walking                      // looking for its :text
	reading                      // inside its :text
	closing                      // after its :text
	closed                       // the whole form was read
	silent
)

// Write adds the next piece of the reply, which may be cut anywhere.
func (s *Stream) Write(delta string) {
	if s.state == silent || s.state == closed {
		return
	}
	delta = s.partial + delta
	s.partial = delta[len(delta)-cutTail(delta):]
	s.raw.WriteString(validText(delta[:len(delta)-len(s.partial)]))
	if s.raw.Len() > (Limits{}).orDefault().Bytes {
		s.state = silent
		return
	}
	raw := s.raw.String()
	for more := true; more; {
		switch s.state {
		case searching:
			more = s.search(raw)
		case walking, closing:
			more = s.step(raw)
		case reading:
			more = s.read(raw)
		default:
			more = false
		}
	}
	s.check(raw)
}

// Proposal returns the proposal so far, once :text has begun. It has the fields before :text
// (:type, :target, :action, a channel's id) in the shape in which they were written, and the text
// so far.
func (s *Stream) Proposal() (sexp.List, bool) {
	if !s.shown {
		return nil, false
	}
	if !s.inPayload {
		return Put(s.envelope, "text", String(s.text.String())), true
	}
	payload, _ := Get(s.envelope, "payload")
	list, _ := payload.(sexp.List)
	return Put(s.envelope, "payload", Put(list, "text", String(s.text.String()))), true
}

// Text returns the :text so far with its escapes decoded. It only grows, by whole characters.
func (s *Stream) Text() string {
	if !s.shown {
		return ""
	}
	return s.text.String()
}

// Prose returns what of the reply so far is text for a person, as [Recover] finds it in a reply without a
// proposal. It only grows, and ends before what may turn out to be a candidate. It is "" while there is a
// candidate that may be the proposal, and for a reply that begins like data. There is one exception, which only
// the end can show: a closing tag of thoughts that were never opened.
func (s *Stream) Prose() string {
	f := s.finder
	if s.state != searching || f == nil || f.fence.mark != 0 && f.fence.first < 0 {
		return ""
	}
	end := f.pos
	if f.thinking != "" {
		end = f.thinkFrom
	}
	text := strings.TrimRight(trimBlanks(f.between(0, end)), "'`") // which may quote a candidate
	if text == "" || strings.IndexByte("([{;", text[0]) >= 0 || strings.HasPrefix("nil", strings.ToLower(text)) {
		return ""
	}
	return text
}

// search looks for the candidate.
func (s *Stream) search(raw string) bool {
	if s.finder == nil {
		s.finder = newFinder()
		s.input.texts = s.Input
	}
	s.finder.text = raw
	c, ok := s.finder.next()
	for ok && c.kind == jsonCandidate {
		if !s.passObject(raw, c.open) {
			return false
		}
		c, ok = s.finder.next()
	}
	if !ok {
		return false
	}
	s.finder.note(c)
	if c.kind != plainCandidate {
		s.state = silent
		return false
	}
	s.walk = walker{pos: c.open, start: c.open}
	s.state = walking
	return true
}

// passObject continues after the JSON object at offset from, and reports false if it is an action or has no end yet.
// The code of an answer has many objects, behind each of which its text is shown again. The work is linear since an
// object without an end is looked at again when it has grown by an eighth.
func (s *Stream) passObject(raw string, from int) bool {
	size := len(raw) - from
	if size < s.objectAt {
		return false
	}
	end, state := scanJSON(raw, from)
	switch state {
	case jsonOther, jsonInvalid:
		s.finder.skip(from, end)
		s.objectAt = 0
		return true
	case jsonUnclosed:
		s.objectAt = size + size/8
	default:
		s.state = silent
	}
	return false
}

// step moves on to the :text or to the end of the form.
func (s *Stream) step(raw string) bool {
	switch s.walk.next(raw) {
	case atText:
		if s.state == closing {
			s.state = silent // a second :text: not well-formed
			return false
		}
		return s.begin(raw)
	case atEnd:
		s.end(raw)
		return s.state == searching
	case atDoubt:
		s.state = silent
	}
	return false
}

// begin reads the fields before :text when :text has begun.
func (s *Stream) begin(raw string) bool {
	depth := s.walk.depth
	source := raw[s.walk.start:s.walk.keyAt] + strings.Repeat(")", depth)
	envelope, rewrites, _, err := parse(plainCandidate, source)
	if err != nil || len(rewrites) > 0 {
		s.state = silent
		return false
	}
	s.envelope, s.inPayload = envelope, depth == 2
	s.state = reading
	return true
}

// read adds to the text.
func (s *Stream) read(raw string) bool {
	rest := raw[s.walk.pos:]
	s.walk.pos = len(raw)
	for rest != "" {
		if s.escape {
			if _, n := utf8.DecodeRuneInString(rest); n > 1 {
				s.text.WriteString(rest[:n])
				rest = rest[n:]
			} else {
				s.text.WriteByte(unescape(rest[0]))
				rest = rest[1:]
			}
			s.escape = false
			continue
		}
		n := strings.IndexAny(rest, `"\`)
		if n < 0 {
			s.text.WriteString(rest)
			return false
		}
		s.text.WriteString(rest[:n])
		if rest[n] == '"' {
			s.walk.pos = len(raw) - len(rest) + n + 1
			s.state = closing
			return true
		}
		s.escape = true
		rest = rest[n+1:]
	}
	return false
}

// end leaves the form. It skips a form that may be a quotation.
func (s *Stream) end(raw string) {
	c := s.finder.found[len(s.finder.found)-1]
	if !s.shown && s.quotation(raw[c.open:s.walk.pos]) {
		if c.first || s.skipped >= direct {
			s.state = silent
			return
		}
		s.skipped++
		s.finder.found = s.finder.found[:0]
		s.finder.skip(c.start, s.walk.pos)
		s.envelope, s.text, s.checkAt = nil, strings.Builder{}, 0
		s.state = searching
		return
	}
	s.state = closed
}

// check reports what was read unless it may be a quotation. In that case it checks again each time
// the form has doubled in size.
func (s *Stream) check(raw string) {
	if s.shown || s.envelope == nil || s.state == silent || s.state == searching {
		return
	}
	piece := raw[s.walk.start:s.walk.pos]
	if len(piece) < s.checkAt && s.state != closed {
		return
	}
	s.checkAt = 2 * len(piece)
	s.shown = !s.quotation(piece)
}

func (s *Stream) quotation(piece string) bool {
	return s.input.hold(trimBlanks(piece))
}

// walker follows the structure of an arriving plist up to its :text, on top or in :payload.
type walker struct {
	start    int
	pos      int
	depth    int
	inString bool
	comment  bool
	token    int    // 1 + the offset of the current token; 0 outside of tokens
	items    [3]int // how many items have begun on top (1) and in :payload (2)
	key      [3]string
	keyAt    int
	payload  bool // the list at depth 2 is the :payload
}

type walkEvent int

const (
	atWait  walkEvent = iota // waiting for more text
	atText                   // after the quote that opens the text
	atEnd                    // after the last )
	atDoubt                  // this is not a plain plist
)

func (w *walker) next(raw string) walkEvent {
	for w.pos < len(raw) {
		c := raw[w.pos]
		switch {
		case w.comment:
			w.comment = c != '\n'
		case w.inString:
			if c == '\\' {
				if w.pos+1 == len(raw) {
					return atWait
				}
				w.pos++
			}
			w.inString = c != '"'
		case w.token > 0:
			if classes[c]&delimiter == 0 {
				break
			}
			if !w.endToken(raw[w.token-1 : w.pos]) {
				return atDoubt
			}
			continue // with the delimiter
		case classes[c]&blank != 0:
		case c == ';':
			w.comment = true
		case c == ')':
			w.depth--
			if w.depth == 0 {
				w.pos++
				return atEnd
			}
		case c == '\'':
			if w.fields() {
				return atDoubt
			}
		default:
			if !w.item(c) {
				return atDoubt
			}
			if c == '"' && w.isText() {
				w.pos++
				return atText
			}
			w.open(c)
		}
		w.pos++
	}
	return atWait
}

// open enters the construct that begins with c.
func (w *walker) open(c byte) {
	switch c {
	case '"':
		w.inString = true
	case '(':
		w.depth++
		if w.depth == 2 {
			w.payload = w.key[1] == "payload" && w.items[1]%2 == 0
			w.items[2] = 0
		}
	default:
		w.token = 1 + w.pos
	}
}

// fields reports whether the keys of the current list matter.
func (w *walker) fields() bool { return w.depth == 1 || w.depth == 2 && w.payload }

// item counts an element that begins with c. It returns false if a key must stand here and the
// element cannot be one.
func (w *walker) item(c byte) bool {
	if !w.fields() {
		return true
	}
	w.items[w.depth]++
	if w.items[w.depth]%2 == 0 {
		return true
	}
	w.keyAt = w.pos
	return c == ':'
}

// endToken processes a complete token. It returns false if the list is not plain.
func (w *walker) endToken(token string) bool {
	w.token = 0
	if token == "." && w.fields() {
		return false
	}
	if w.fields() && w.items[w.depth]%2 == 1 {
		w.key[w.depth] = fold(token[1:])
	}
	return true
}

// isText reports whether the element that has just begun is the value of :text.
func (w *walker) isText() bool {
	return w.fields() && w.items[w.depth]%2 == 0 && w.key[w.depth] == "text"
}
