package files

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"org-agent/kernel/protocol"
)

// receiptBytes is the maximum size of a change in a receipt, in bytes, because the journal keeps
// receipts permanently. A longer change is only named, and cannot be undone.
const receiptBytes = 256 << 10

// ForReceipt returns the change for a receipt. It is opaque, and cannot be undone, if the file is not a
// text or the change is longer than 256 KiB.
func (c Change) ForReceipt() protocol.FileChange {
	result := protocol.FileChange{File: c.Path, Created: c.New}
	piece, isText := c.Piece()
	if !isText || len(piece.Old)+len(piece.New) > receiptBytes {
		result.Opaque = true
		return result
	}
	result.Old, result.New, result.Before, result.After = piece.Old, piece.New, piece.Before, piece.After
	return result
}

// Piece is the changed part of a file for an editor: New replaces Old between Before and After.
// Before and After are up to 80 characters of the text around.
type Piece struct {
	Old, New, Before, After string
}

// Piece returns the changed part. ok is false if the file is not a text, because an editor would
// show something else.
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
	old, changed := string(before), string(after)
	head := commonLength(old, changed, func(s string, n int) byte { return s[n] })
	for head > 0 && (head < len(old) && !utf8.RuneStart(old[head]) || head < len(changed) && !utf8.RuneStart(changed[head])) {
		head--
	}
	old, changed = old[head:], changed[head:]
	tail := commonLength(old, changed, func(s string, n int) byte { return s[len(s)-1-n] })
	for tail > 0 && !utf8.RuneStart(old[len(old)-tail]) {
		tail--
	}
	whole := string(after)
	return Piece{
		Old: old[:len(old)-tail], New: changed[:len(changed)-tail],
		Before: last(whole[:head], contextLength), After: first(whole[len(whole)-tail:], contextLength),
	}, true
}

// contextLength is the maximum length of Before and After in characters.
const contextLength = 80

// carriage reports whether a text has lines that all end in a carriage return and a newline.
func carriage(text []byte) bool {
	lines := bytes.Count(text, []byte("\n"))
	return lines > 0 && lines == bytes.Count(text, []byte("\r\n"))
}

// commonLength returns how many bytes two texts have in common at one end.
func commonLength(a, b string, at func(s string, n int) byte) int {
	n := 0
	for n < min(len(a), len(b)) && at(a, n) == at(b, n) {
		n++
	}
	return n
}

// last returns the end of a text, at most n characters.
func last(text string, n int) string {
	at := len(text)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:at])
		at -= size
	}
	return strings.Clone(text[at:])
}

// first returns the beginning of a text, at most n characters.
func first(text string, n int) string {
	at := 0
	for ; n > 0 && at < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return strings.Clone(text[:at])
}
