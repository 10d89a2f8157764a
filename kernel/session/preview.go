package session

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"org-agent/kernel/org"
	"org-agent/kernel/protocol"
)

// preview is the answer as far as it has been shown. There are two renderings
// of it, one for each [protocol.View]; both only grow until it is taken back, and a
// view that nobody looks at is not rendered before the answer is whole.
type preview struct {
	mu      sync.Mutex
	id      string // of the act it previews; "" when nothing is shown
	raw     string // the verified text so far
	names   *org.Names
	subtree rendering
	plain   rendering
}

// rendering is a converter and what it has given so far.
type rendering struct {
	converter *org.Converter
	read      int // bytes of the source that were converted
	text      strings.Builder
	chars     int // code points in text
}

// piece is what became final of a rendering, with the code point at which it stands.
type piece struct {
	offset int
	text   string
}

// upTo converts what is new of the source.
func (r *rendering) upTo(source string) piece {
	if r.read == len(source) {
		return piece{offset: r.chars}
	}
	from := r.read
	r.read = len(source)
	return r.take(r.converter.Write(source[from:]))
}

func (r *rendering) take(text string) piece {
	of := piece{r.chars, text}
	r.text.WriteString(text)
	r.chars += utf8.RuneCountInString(text)
	return of
}

// view is the rendering for one view.
func (p *preview) view(view protocol.View) *rendering {
	if view == protocol.ViewPlain {
		return &p.plain
	}
	return &p.subtree
}

// from is the text from code point n on.
func (r *rendering) from(n int) (int, string) {
	text := r.text.String()
	n = max(0, min(n, r.chars))
	for range n {
		_, size := utf8.DecodeRuneInString(text)
		text = text[size:]
	}
	return n, text
}

// AnswerID is the id of the turn's answer, the same for its previews and its
// act.
func (t *Turn) AnswerID() string { return t.answer }

// Streams reports whether a client shows the answer while it is written. Without one there is
// nothing to preview.
func (t *Turn) Streams() bool { return len(t.session.viewers.streaming()) > 0 }

// Preview shows text, all of the answer that is verified so far. Text that
// does not continue what was shown begins the preview anew.
func (t *Turn) Preview(text string) {
	p := &t.preview
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.id == "" || !strings.HasPrefix(text, p.raw) {
		t.restart()
	}
	p.raw = text
	pieces := map[*rendering]piece{}
	for _, a := range t.session.viewers.streaming() {
		r := p.view(a.view)
		of, rendered := pieces[r]
		if !rendered {
			of = r.upTo(p.raw)
			pieces[r] = of
		}
		if of.text != "" {
			a.client.Notify(protocol.MethodTurnDelta, protocol.TurnDelta{
				Session: t.session.name(), Turn: t.Record.ID, Event: t.Record.Event, ID: p.id, Offset: of.offset, Text: of.text,
			})
		}
	}
}

// Retract takes the preview back: clients show nothing of it until a new one
// begins.
func (t *Turn) Retract() {
	p := &t.preview
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.id == "" {
		return
	}
	id := p.id
	*p.clear() = ""
	for _, a := range t.session.viewers.streaming() {
		a.client.Notify(protocol.MethodTurnDelta, protocol.TurnDelta{
			Session: t.session.name(), Turn: t.Record.ID, Event: t.Record.Event, ID: id, Offset: 0, Text: "",
		})
	}
}

// clear forgets what was shown and returns the place of the id.
func (p *preview) clear() *string {
	p.raw, p.subtree, p.plain = "", rendering{}, rendering{}
	return &p.id
}

// restart begins the preview anew. The caller holds the lock.
func (t *Turn) restart() {
	p := &t.preview
	*p.clear() = t.answer
	p.subtree.converter = t.converter(protocol.ViewSubtree)
	p.plain.converter = t.converter(protocol.ViewPlain)
}

// converter renders the answer's text for one view.
func (t *Turn) converter(view protocol.View) *org.Converter {
	if view == protocol.ViewPlain {
		return org.NewConverter(org.Options{File: t.names})
	}
	return org.NewConverter(org.Options{
		QuestionLevel: t.Record.Level,
		Answer:        true,
		Properties:    t.properties(),
		File:          t.names,
	})
}

// names are those that the conversation's file has. They are read once, so that the answer is the
// text that was shown. A file that cannot be read has none.
func (t *Turn) names() *org.Names {
	if t.preview.names == nil {
		text, err := os.ReadFile(t.session.file.path())
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.session.logger().Warn("names of the conversation not read", "err", err)
		}
		t.preview.names = org.ReadNames(string(text))
	}
	return t.preview.names
}

// properties is the answer's drawer.
func (t *Turn) properties() []org.Property {
	list := []org.Property{{Key: "ID", Value: t.answer}}
	if t.skill != "" {
		list = append(list, org.Property{Key: "SKILL", Value: t.skill})
	}
	if t.model != "" {
		list = append(list, org.Property{Key: "MODEL", Value: t.model})
	}
	if t.state != "" {
		list = append(list, org.Property{Key: "STATE", Value: string(t.state)})
	}
	return list
}

// compose renders the whole of text for both views, going on from the preview
// when text continues it. An answer that is not whole has another drawer than
// its preview had.
func (t *Turn) compose(text string) (subtree, plain string) {
	p := &t.preview
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.id == "" || !strings.HasPrefix(text, p.raw) || t.state != "" {
		t.restart()
	}
	p.raw = text
	for _, r := range []*rendering{&p.subtree, &p.plain} {
		r.upTo(p.raw)
		r.take(r.converter.Close())
	}
	return t.annotate(p.subtree.text.String()), p.plain.text.String()
}

// previewFrom is what turn/get answers.
func (t *Turn) previewFrom(view protocol.View, from int) protocol.TurnGetResult {
	p := &t.preview
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.id == "" {
		return protocol.TurnGetResult{}
	}
	r := p.view(view)
	r.upTo(p.raw)
	offset, text := r.from(from)
	return protocol.TurnGetResult{ID: p.id, Offset: offset, Text: text}
}
