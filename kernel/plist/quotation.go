package plist

import (
	"index/suffixarray"
	"strings"
)

// quotations answers whether pieces of a reply stand verbatim in the turn's
// input. A few answers are looked for directly; more of them by an index of the
// input, so that a reply full of quotations costs no more than its length.
type quotations struct {
	input string
	asked int
	index *suffixarray.Index
}

// direct is how many answers are cheaper without an index.
const direct = 8

func (q *quotations) hold(piece string) bool {
	if len(piece) > len(q.input) || piece == "" {
		return false
	}
	if q.asked++; q.asked <= direct {
		return strings.Contains(q.input, piece)
	}
	if q.index == nil {
		q.index = suffixarray.New([]byte(q.input))
	}
	return len(q.index.Lookup([]byte(piece), 1)) > 0
}
