package org_test

import (
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extended "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"org-agent/kernel/org"
	"org-agent/kernel/org/inert"
)

// An outline describes a document, with a line for each block, in words that Markdown and Org
// share. The test compares what a Markdown parser finds in the input with what Org's parser finds
// in the result. testdata/outline.el makes the same outline of Org.
type outline struct {
	source []byte
	lines  []string
	depth  int    // containers around the block
	marks  string // kinds of emphasis around the text
	broken string // what the two languages cannot share, or ""
}

var markdownParser = goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote)).Parser()

// markdownOutline returns the outline of a Markdown text. broken says why it cannot be compared.
func markdownOutline(source string) (lines []string, broken string) {
	o := &outline{source: []byte(source)}
	o.blocks(markdownParser.Parse(text.NewReader(o.source)))
	return o.lines, o.broken
}

func (o *outline) line(words ...string) {
	o.lines = append(o.lines, strings.TrimSpace(strings.Join(words, " ")))
}

func (o *outline) blocks(parent ast.Node) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		o.block(n)
	}
}

func (o *outline) container(name string, n ast.Node) {
	o.line("(" + name)
	o.depth++
	o.blocks(n)
	o.depth--
	o.line(")")
}

func (o *outline) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		o.heading(n)
	case *ast.Paragraph, *ast.TextBlock:
		o.paragraph(o.inline(n))
	case *ast.ThematicBreak:
		o.line("rule")
	case *ast.CodeBlock:
		o.code("", o.body(n))
	case *ast.FencedCodeBlock:
		language := ""
		if n.Info != nil {
			language = org.LanguageName(string(n.Info.Value(o.source)))
		}
		o.code(language, o.body(n))
	case *ast.Blockquote:
		if o.quoted(n) {
			o.blocks(n) // Org's quotes do not nest
			return
		}
		o.container("quote", n)
	case *ast.List:
		o.list(n)
	case *extended.Table:
		o.table(n)
	case *extended.FootnoteList:
		// Footnotes stand at the end of the tree, wherever they were defined.
		for f := n.FirstChild(); f != nil; f = f.NextSibling() {
			label, _ := org.FootnoteLabel(string(f.(*extended.Footnote).Ref))
			o.container("footnote "+label, f)
		}
	case *ast.HTMLBlock:
		o.broken = "HTML block"
	case *ast.LinkReferenceDefinition:
		o.broken = "reference definition"
	default:
		o.broken = n.Kind().String()
	}
}

func (o *outline) quoted(n ast.Node) bool {
	for p := n.Parent(); p != nil; p = p.Parent() {
		if _, ok := p.(*ast.Blockquote); ok {
			return true
		}
	}
	return false
}

// heading adds a heading. Org has headings at the top only; elsewhere they are bold text.
func (o *outline) heading(n *ast.Heading) {
	if o.depth == 0 {
		if title := o.inline(n); title != "" {
			o.line("heading", strconv.Itoa(n.Level), title)
		}
		return
	}
	o.marks += "b"
	title := o.inline(n)
	o.marks = o.marks[:len(o.marks)-1]
	if title != "" {
		o.paragraph("<b " + title + ">")
	}
}

func (o *outline) paragraph(words string) {
	if words = outlineWords(words); words != "" {
		o.line("text", words)
	}
}

func (o *outline) code(language, body string) {
	kind := "example"
	switch {
	case inert.Listed(language):
		kind = "src " + language
	case language != "":
		kind = "example " + language // the first line of the example has the name
	}
	o.line(kind, strconv.Quote(body))
}

func (o *outline) body(n ast.Node) string {
	var body strings.Builder
	for i := range n.Lines().Len() {
		segment := n.Lines().At(i)
		body.Write(segment.Value(o.source))
	}
	return body.String()
}

func (o *outline) list(n *ast.List) {
	kind := "unordered"
	if n.IsOrdered() {
		kind = "ordered"
	}
	// Lists that follow each other are one in Org, of the kind of the first.
	if _, follows := n.PreviousSibling().(*ast.List); follows {
		o.lines = o.lines[:len(o.lines)-1]
	} else {
		o.line("(" + kind)
	}
	o.depth++
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		o.container("item"+o.checkbox(item), item)
	}
	o.depth--
	o.line(")")
}

func (o *outline) checkbox(item ast.Node) string {
	if item.FirstChild() != nil {
		if box, ok := item.FirstChild().FirstChild().(*extended.TaskCheckBox); ok {
			if box.IsChecked {
				return " on"
			}
			return " off"
		}
	}
	return ""
}

func (o *outline) table(n *extended.Table) {
	o.line("(table")
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, outlineWords(o.inline(cell)))
		}
		o.line("row", strings.TrimRight(strings.Join(cells, " | "), " |"))
		if _, ok := row.(*extended.TableHeader); ok {
			o.line("row -")
		}
	}
	o.line(")")
}

// inline returns the text below a node, with its objects in angle brackets.
func (o *outline) inline(parent ast.Node) string {
	var out strings.Builder
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		out.WriteString(o.object(n))
	}
	return strings.TrimSpace(out.String())
}

func (o *outline) object(n ast.Node) string {
	switch n := n.(type) {
	case *ast.Text:
		words := string(n.Value(o.source))
		if !n.IsRaw() {
			words = html.UnescapeString(string(util.UnescapePunctuations([]byte(words))))
		}
		switch {
		case n.HardLineBreak():
			return words + "<br>"
		case n.SoftLineBreak():
			return words + " "
		}
		return words
	case *ast.String:
		return string(n.Value)
	case *ast.CodeSpan:
		var code strings.Builder
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			if t, ok := c.(*ast.Text); ok {
				code.Write(t.Value(o.source))
			}
		}
		words := strings.ReplaceAll(code.String(), "\n", " ")
		if words == "" || strings.TrimSpace(words) != words {
			return words // Org has no such code
		}
		return "<code " + words + ">"
	case *ast.Emphasis:
		return o.emphasis(n, "ib"[n.Level-1:n.Level])
	case *extended.Strikethrough:
		return o.emphasis(n, "s")
	case *ast.Link:
		return o.link(o.inline(n), string(n.Destination))
	case *ast.Image:
		return o.link(o.inline(n), string(n.Destination))
	case *ast.AutoLink:
		label := string(n.Label(o.source))
		url := string(n.URL(o.source))
		if n.AutoLinkType == ast.AutoLinkEmail {
			url = "mailto:" + label
		}
		return o.link(label, url)
	case *extended.FootnoteLink:
		return "<fn " + strconv.Itoa(n.Index) + ">"
	case *extended.TaskCheckBox, *extended.FootnoteBacklink:
		return ""
	case *ast.RawHTML:
		raw := string(n.Segments.Value(o.source))
		if regexp.MustCompile(`(?i)^<br\s*/?>$`).MatchString(raw) {
			return "<br>"
		}
		return raw
	}
	o.broken = n.Kind().String()
	return ""
}

// emphasis adds an emphasis, unless one of the same kind stands around it already.
func (o *outline) emphasis(n ast.Node, kind string) string {
	if strings.Contains(o.marks, kind) {
		return o.inline(n)
	}
	o.marks += kind
	inner := o.inline(n)
	o.marks = o.marks[:len(o.marks)-1]
	return "<" + kind + " " + inner + ">"
}

// link adds a link if Org may follow it, and otherwise its text and its target.
func (o *outline) link(label, destination string) string {
	target, ok := org.LinkTarget(destination)
	switch {
	case strings.Contains(o.marks, "l"):
		return label
	case ok && (label == "" || label == destination || label == target):
		return "<link " + target + ">"
	case ok:
		return "<link " + target + " " + label + ">"
	case destination == "" || destination[0] == '#' || destination == label:
		return label
	}
	return label + " (" + destination + ")"
}

var blanksOfOutline = regexp.MustCompile(`[\s\x{200b}]+`)

// outlineWords removes what is only layout.
func outlineWords(words string) string {
	words = strings.ReplaceAll(words, invisible, "")
	words = strings.TrimSuffix(strings.TrimSpace(words), "<br>")
	return strings.ReplaceAll(strings.TrimSpace(blanksOfOutline.ReplaceAllString(words, " ")), " <br>", "<br>")
}

// differentLine returns the first line in which two outlines differ, or -1.
func differentLine(a, b []string) int {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return i
		}
	}
	return -1
}

// footnotesLast moves the footnotes to the end, one on each line, sorted, as a Markdown parser has
// them.
func footnotesLast(lines []string) []string {
	var body, notes []string
	for i := 0; i < len(lines); i++ {
		if !strings.HasPrefix(lines[i], "(footnote ") {
			body = append(body, lines[i])
			continue
		}
		end, depth := i, 0
		for ; end < len(lines); end++ {
			if strings.HasPrefix(lines[end], "(") {
				depth++
			} else if lines[end] == ")" {
				if depth--; depth == 0 {
					break
				}
			}
		}
		notes = append(notes, strings.Join(lines[i:min(end+1, len(lines))], "; "))
		i = end
	}
	slices.Sort(notes)
	return append(body, notes...)
}
