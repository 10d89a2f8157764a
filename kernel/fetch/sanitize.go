package fetch

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// The limits for elements that become much longer when they are written as Markdown.
const (
	quoteDepth = 12     // nested lists and quotations; each adds a prefix to all lines in it
	tableCells = 20_000 // rows times columns
	linkLimit  = 2 << 10
	// workMost is the maximum work for an article. Each node, and each 64 bytes of text, counts
	// once for every element around it, because each of those elements reads all its content.
	workMost = 2_000_000
)

// sanitize removes from a tree what is not for reading and what would become much longer. It
// reports whether the rest is small enough for the conversion.
func sanitize(root *html.Node) bool {
	t := sanitizer{}
	t.visit(root, 0, 0)
	for _, n := range t.gone {
		n.Parent.RemoveChild(n)
	}
	return t.work <= workMost
}

type sanitizer struct {
	work int
	gone []*html.Node
}

// visit recurses no deeper than the parser, which refuses 512 levels.
func (t *sanitizer) visit(n *html.Node, level, depth int) {
	if t.work += level; n.Type == html.TextNode {
		t.work += level * (len(n.Data) / 64)
	}
	if t.work > workMost {
		return
	}
	switch n.DataAtom {
	case atom.Blockquote, atom.Ul, atom.Ol, atom.Dl:
		if depth++; depth > quoteDepth {
			rename(n)
		}
	case atom.Li:
		if depth > quoteDepth {
			rename(n)
		}
	case atom.Table:
		if !tableFits(n) {
			for d := range n.Descendants() {
				if tabular(d.DataAtom) {
					rename(d)
				}
			}
			rename(n)
		}
	}
	n.Attr = slices.DeleteFunc(n.Attr, isData)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.CommentNode || isUnreadable(c.DataAtom) && c.DataAtom != atom.Noscript && !metadata(c) {
			t.gone = append(t.gone, c)
			continue
		}
		t.visit(c, level+1, depth)
	}
}

func rename(n *html.Node) { n.Data, n.DataAtom, n.Attr = "div", atom.Div, nil }

// metadata reports whether a script contains the metadata of an article.
func metadata(n *html.Node) bool {
	return n.DataAtom == atom.Script && slices.ContainsFunc(n.Attr, func(a html.Attribute) bool {
		return a.Key == "type" && strings.EqualFold(strings.TrimSpace(a.Val), "application/ld+json")
	})
}

// isData reports whether an attribute contains data instead of an address.
func isData(a html.Attribute) bool {
	switch a.Key {
	case "href", "src", "srcset", "poster", "data-src", "data-srcset":
		scheme, _, has := strings.Cut(strings.TrimSpace(a.Val), ":")
		return len(a.Val) > linkLimit || has && slices.Contains([]string{"data", "javascript", "vbscript", "blob", "file"}, strings.ToLower(scheme))
	}
	return false
}

func tabular(a atom.Atom) bool {
	switch a {
	case atom.Table, atom.Thead, atom.Tbody, atom.Tfoot, atom.Tr, atom.Td, atom.Th, atom.Caption, atom.Colgroup, atom.Col:
		return true
	}
	return false
}

// tableFits reports whether a table is small enough if all its rows are as long as the longest,
// including spanned cells.
func tableFits(n *html.Node) bool {
	rows, widest, width, below := 0, 0, 0, 0
	for d := range n.Descendants() {
		switch d.DataAtom {
		case atom.Tr:
			rows, width = rows+1, 0
		case atom.Td, atom.Th:
			across, down := span(d, "colspan"), span(d, "rowspan")
			width += across
			below += across * (down - 1)
			widest = max(widest, width)
		}
		if below > tableCells || rows*widest > tableCells {
			return false
		}
	}
	return below+rows*widest <= tableCells
}

// span returns how many cells a cell spans. A senseless number becomes more than any table may
// have.
func span(n *html.Node, key string) int {
	for _, a := range n.Attr {
		if a.Key != key {
			continue
		}
		count, err := strconv.Atoi(strings.TrimSpace(a.Val))
		if err != nil || count < 1 {
			return 1
		}
		return min(count, tableCells+1)
	}
	return 1
}
