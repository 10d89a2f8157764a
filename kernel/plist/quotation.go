package plist

import (
	"index/suffixarray"
	"slices"
	"strings"
)

// quotations answers whether pieces of a reply stand verbatim in the turn's
// input. A few answers are looked for directly; more of them by an index of the
// input, so that a reply full of quotations costs no more than its length.
type quotations struct {
	texts []string
	asked int
	index *suffixarray.Index
}

// direct is how many answers are cheaper without an index.
const direct = 8

// between stands between two texts in the index. It is in no piece, which is UTF-8.
const between = "\xff"

func (q *quotations) hold(piece string) bool {
	if piece == "" {
		return false
	}
	if q.asked++; q.asked <= direct {
		return slices.ContainsFunc(q.texts, func(text string) bool { return strings.Contains(text, piece) })
	}
	if q.index == nil {
		q.index = suffixarray.New([]byte(strings.Join(q.texts, between)))
	}
	return len(q.index.Lookup([]byte(piece), 1)) > 0
}
