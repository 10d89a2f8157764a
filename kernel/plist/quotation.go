package plist

import (
	"index/suffixarray"
	"slices"
	"strings"
)

// quotations reports whether parts of a reply occur verbatim in the turn's input. It searches
// directly for the first few parts and then builds an index of the input, so that a reply full of
// quotations takes time linear in its length.
type quotations struct {
	texts    []string
	searches int
	index    *suffixarray.Index
}

// direct is for how many parts a direct search is cheaper than an index.
const direct = 8

// between separates two texts in the index. It cannot occur in a part, because parts are UTF-8.
const between = "\xff"

func (q *quotations) hold(piece string) bool {
	if piece == "" {
		return false
	}
	if q.searches++; q.searches <= direct {
		return slices.ContainsFunc(q.texts, func(text string) bool { return strings.Contains(text, piece) })
	}
	if q.index == nil {
		q.index = suffixarray.New([]byte(strings.Join(q.texts, between)))
	}
	return len(q.index.Lookup([]byte(piece), 1)) > 0
}
