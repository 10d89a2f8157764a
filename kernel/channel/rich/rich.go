// Package rich is the text of chats: characters, and spans that say how they look. Drivers make of it what their chat has,
// be it HTML, entities or styles.
//
// Ordering, blocking, ownership: everything here is a pure function over values.
package rich

// Text is a text with spans. The zero value is empty.
type Text struct {
	Plain string // valid UTF-8, without control characters but newlines and tabs
	Spans []Span // ordered by their beginning, an outer one before what is in it; they nest, never overlap otherwise, and none is within code or within its own style
}

// Span is a part of a text, in bytes of Plain.
type Span struct {
	Start, End int
	Style      Style
	Value      string // the address of a link, the language of a block of code ("" if it has none)
}

// Style is how a span looks.
type Style uint8

// The styles.
const (
	Bold Style = iota + 1
	Italic
	Underline
	Strike
	Code  // within a line
	Block // of code, whole lines: the line ends around them do not belong to it
	Quote // whole lines, likewise
	Link
)

// Plain returns a text without spans.
func Plain(s string) Text { return Text{Plain: s} }
