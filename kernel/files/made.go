package files

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"unicode/utf8"
)

type madeKey struct{}

// made is what was changed in a context, in the order in which it was.
type made struct {
	mu      sync.Mutex
	changes []Change
}

// Noting returns a context in which the changes that are made are noted, and what returns those
// made so far, the first first.
func Noting(ctx context.Context) (context.Context, func() []Change) {
	m := &made{}
	return context.WithValue(ctx, madeKey{}, m), func() []Change {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.changes[:len(m.changes):len(m.changes)]
	}
}

// Note notes a change that was made in a context: those of [Change.Make] note themselves, and
// one that an editor made for a tool is noted by the tool.
func Note(ctx context.Context, c Change) {
	if m, noting := ctx.Value(madeKey{}).(*made); noting {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.changes = append(m.changes, c)
	}
}

// Piece is the part of a file that a change made another, as an editor shows it: New stands in
// the place of Old, between Before and After, which are at most 80 characters of what is around it.
type Piece struct {
	Old, New, Before, After string
}

// Piece is what the change made another; ok is false of what is no text, as no editor would show
// the same.
func (c Change) Piece() (p Piece, ok bool) {
	if !utf8.Valid(c.Before) || !utf8.Valid(c.After) {
		return Piece{}, false
	}
	before, after := c.Before, c.After
	if c.New || carriage(before) {
		if carriage(after) {
			before, after = bytes.ReplaceAll(before, []byte("\r\n"), []byte("\n")), bytes.ReplaceAll(after, []byte("\r\n"), []byte("\n"))
		}
	}
	const mark = "\ufeff"
	if c.New || bytes.HasPrefix(before, []byte(mark)) {
		before, after = bytes.TrimPrefix(before, []byte(mark)), bytes.TrimPrefix(after, []byte(mark))
	}
	old, made := string(before), string(after)
	head := alike(old, made, func(s string, n int) byte { return s[n] })
	for head > 0 && (head < len(old) && !utf8.RuneStart(old[head]) || head < len(made) && !utf8.RuneStart(made[head])) {
		head--
	}
	old, made = old[head:], made[head:]
	tail := alike(old, made, func(s string, n int) byte { return s[len(s)-1-n] })
	for tail > 0 && !utf8.RuneStart(old[len(old)-tail]) {
		tail--
	}
	whole := string(after)
	return Piece{
		Old: old[:len(old)-tail], New: made[:len(made)-tail],
		Before: last(whole[:head], around), After: first(whole[len(whole)-tail:], around),
	}, true
}

// around is how many characters around a piece are kept.
const around = 80

// carriage reports whether every line of a text, and there is one, ends as on DOS.
func carriage(text []byte) bool {
	lines := bytes.Count(text, []byte("\n"))
	return lines > 0 && lines == bytes.Count(text, []byte("\r\n"))
}

// alike is how many bytes of two texts are the same from one end on.
func alike(a, b string, at func(s string, n int) byte) int {
	n := 0
	for n < min(len(a), len(b)) && at(a, n) == at(b, n) {
		n++
	}
	return n
}

// last is the end of a text, of at most n characters.
func last(text string, n int) string {
	at := len(text)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:at])
		at -= size
	}
	return strings.Clone(text[at:])
}

// first is the beginning of a text, of at most n characters.
func first(text string, n int) string {
	at := 0
	for ; n > 0 && at < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return strings.Clone(text[:at])
}
