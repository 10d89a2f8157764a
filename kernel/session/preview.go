package session

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"org-agent/kernel/journal"
	"org-agent/kernel/org"
	"org-agent/kernel/protocol"
)

// preview is the part of the answer that clients show. It has one rendering for each [protocol.View].
// A rendering only grows until it is retracted. A view without a client is not rendered before the
// answer is complete.
type preview struct {
	mu      sync.Mutex
	id      string // of the act it previews; "" when nothing is shown
	raw     string // the verified text so far
	names   *org.Names
	tags    []string // that are held, as they were when the first text began
	begun   bool
	subtree rendering
	plain   rendering
}

// rendering is a converter with its output so far.
type rendering struct {
	converter *org.Converter
	converted int // bytes of the source that were converted
	text      strings.Builder
	chars     int // code points in text
}

// fragment is the new text of a rendering, with the code point of its beginning.
type fragment struct {
	offset int
	text   string
}

// convertTo converts the rest of the source and returns its text.
func (r *rendering) convertTo(source string) fragment {
	if r.converted == len(source) {
		return fragment{offset: r.chars}
	}
	from := r.converted
	r.converted = len(source)
	return r.append(r.converter.Write(source[from:]))
}

// append adds a text to the rendering.
func (r *rendering) append(text string) fragment {
	of := fragment{r.chars, text}
	r.text.WriteString(text)
	r.chars += utf8.RuneCountInString(text)
	return of
}

// view returns the rendering of one view.
func (p *preview) view(view protocol.View) *rendering {
	if view == protocol.ViewPlain {
		return &p.plain
	}
	return &p.subtree
}

// textFrom returns the text from code point n on, and n within the bounds of the text.
func (r *rendering) textFrom(n int) (int, string) {
	text := r.text.String()
	n = max(0, min(n, r.chars))
	for range n {
		_, size := utf8.DecodeRuneInString(text)
		text = text[size:]
	}
	return n, text
}

// AnswerID returns the id of the turn's answer. Its previews and its act have the same id.
func (t *Turn) AnswerID() string { return t.answer }

// originPause is how far apart the pieces of an answer are that only its origin shows. It shows them slowly, and each is
// verified.
const originPause = time.Second / 2

// Streams reports whether a client or the turn's origin shows the answer while it is written. Without one there is
// nothing to preview.
func (t *Turn) Streams() bool { return len(t.session.viewers.streaming()) > 0 || originStreams(t) }

func originStreams(t *Turn) bool {
	origins := t.session.sessions.config.Origins
	return origins != nil && t.Record.Question.Route.Elsewhere() && origins.Streams(t.Record.Question.Route)
}

// showOrigin shows the origin of the turn all of the answer that is verified so far.
func showOrigin(t *Turn, text string) {
	if originStreams(t) {
		act := journal.Act{ID: t.answer, Turn: t.Record.ID, Session: t.session.name()}
		t.session.sessions.config.Origins.Preview(t.Record.Question.Route, act, text)
	}
}

// Pause returns how far apart the pieces of the answer are to be, as a client wishes it, 0 if none has a wish.
func (t *Turn) Pause() time.Duration {
	if len(t.session.viewers.streaming()) == 0 && originStreams(t) {
		return originPause
	}
	return t.session.viewers.pause()
}

// Preview shows text, all of the answer that is verified so far. A text that does not continue the
// last one starts a new preview.
func (t *Turn) Preview(text string) {
	p := &t.preview
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.id == "" || !strings.HasPrefix(text, p.raw) {
		t.restart()
	}
	p.raw = text
	showOrigin(t, text)
	pieces := map[*rendering]fragment{}
	for _, a := range t.session.viewers.streaming() {
		r := p.view(a.view)
		of, rendered := pieces[r]
		if !rendered {
			of = r.convertTo(p.raw)
			pieces[r] = of
		}
		if of.text != "" {
			a.client.Notify(protocol.MethodTurnDelta, protocol.TurnDelta{
				Session: t.session.name(), Turn: t.Record.ID, Event: t.Record.Event, ID: p.id, Offset: of.offset, Text: of.text,
			})
		}
	}
}

// Retract removes the preview from all clients.
func (t *Turn) Retract() {
	p := &t.preview
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.id == "" {
		return
	}
	id := p.id
	*p.clear() = ""
	showOrigin(t, "")
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

// restart starts a new preview. The caller holds the lock.
func (t *Turn) restart() {
	p := &t.preview
	*p.clear() = t.answer
	if !p.begun { // asked once, so that the answer equals its preview
		p.tags, p.begun = t.session.sessions.config.heldTags(), true
	}
	p.subtree.converter = t.converter(protocol.ViewSubtree)
	p.plain.converter = t.converter(protocol.ViewPlain)
}

// converter renders the answer's text for one view.
func (t *Turn) converter(view protocol.View) *org.Converter {
	if view == protocol.ViewPlain {
		return org.NewConverter(org.Options{File: t.names, Tags: t.preview.tags})
	}
	return org.NewConverter(org.Options{
		QuestionLevel: t.Record.Level,
		Answer:        true,
		Properties:    t.properties(),
		File:          t.names,
		Tags:          t.preview.tags,
	})
}

// names returns the Org names in the conversation's file. They are read once, so that the answer
// equals its preview. A file that cannot be read counts as empty.
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

// properties returns the properties of the answer's drawer.
func (t *Turn) properties() []org.Property {
	list := []org.Property{{Key: "ID", Value: t.answer}}
	if t.Record.Question.Route.Kind == protocol.RoutePost { // it answers nothing, and so is no other answer to what is above it
		list = append(list, org.Property{Key: "SENT", Value: "t"})
	}
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

// compose renders the complete text for both views. It continues the preview if the text does. An
// incomplete answer has another drawer than its preview.
func (t *Turn) compose(text string) (subtree, plain string) {
	p := &t.preview
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.id == "" || !strings.HasPrefix(text, p.raw) || t.state != "" {
		t.restart()
	}
	p.raw = text
	for _, r := range []*rendering{&p.subtree, &p.plain} {
		r.convertTo(p.raw)
		r.append(r.converter.Close())
	}
	return t.annotate(p.subtree.text.String()), p.plain.text.String()
}

// previewFrom returns the result of turn/get.
func (t *Turn) previewFrom(view protocol.View, from int) protocol.TurnGetResult {
	p := &t.preview
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.id == "" {
		return protocol.TurnGetResult{}
	}
	r := p.view(view)
	r.convertTo(p.raw)
	offset, text := r.textFrom(from)
	return protocol.TurnGetResult{ID: p.id, Offset: offset, Text: text}
}
