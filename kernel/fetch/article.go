package fetch

import (
	"net/url"
	"strings"
	"time"

	readability "codeberg.org/readeck/go-readability/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"org-agent/kernel/text"
)

// titleLength is the maximum length of a title, an author and a site in characters.
const titleLength = 300

// article fills in the content of an HTML page: its article as Markdown, or the whole page if no
// article is found. A page that is too large for that, or nested deeper than the parser allows,
// becomes plain text.
func (p *Page) article(source string, u *url.URL) {
	document, err := html.Parse(strings.NewReader(source))
	if err != nil || !sanitize(document) {
		p.Title, p.Text = plain(source)
		return
	}
	parser := readability.NewParser()
	article, err := parser.ParseDocument(document, u)
	if err == nil && article.Node != nil {
		p.Title, p.Author, p.Site = text.PlainLine(article.Title(), titleLength), text.PlainLine(article.Byline(), titleLength), text.PlainLine(article.SiteName(), titleLength)
		if published, err := article.PublishedTime(); err == nil {
			p.Published = published.Format(time.DateOnly)
		}
		if p.Text, err = markdown(article.Node, u); err == nil && strings.TrimSpace(p.Text) != "" {
			return
		}
	}
	if p.Title == "" {
		p.Title = text.PlainLine(titleOf(document), titleLength)
	}
	if p.Text, err = markdown(document, u); err != nil {
		_, p.Text = plain(source)
	}
}

// markdown converts a tree of HTML to Markdown.
func markdown(root *html.Node, u *url.URL) (string, error) {
	// Characters of Markdown in a text are not escaped. Finding out which of them have a meaning
	// takes quadratic time, and for reading the words it does not matter.
	c := converter.NewConverter(converter.WithEscapeMode(converter.EscapeModeDisabled), converter.WithPlugins(
		base.NewBasePlugin(),
		commonmark.NewCommonmarkPlugin(),
		table.NewTablePlugin(table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal), table.WithSkipEmptyRows(true), table.WithHeaderPromotion(true)),
	))
	text, err := c.ConvertNode(root, converter.WithDomain(u.Scheme+"://"+u.Host))
	return string(text), err
}

// plain extracts the title and the text of HTML in one pass.
func plain(source string) (title, body string) {
	var b strings.Builder
	tokens, skip, inTitle := html.NewTokenizer(strings.NewReader(source)), "", false
	for {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			return text.PlainLine(title, titleLength), blankLines(b.String())
		}
		name, _ := tokens.TagName()
		switch tag := string(name); {
		case kind == html.TextToken && skip == "":
			if words := text.Line(string(tokens.Text())); inTitle {
				title += words
			} else if words != "" {
				b.WriteString(words + " ")
			}
		case kind == html.StartTagToken && skip == "" && isUnreadable(atom.Lookup(name)):
			skip = tag
		case kind == html.EndTagToken && skip == tag:
			skip = ""
		case tag == "title":
			inTitle = kind == html.StartTagToken
		case !inline(atom.Lookup(name)):
			b.WriteByte('\n')
		}
	}
}

// blankLines reduces several blank lines to one.
func blankLines(text string) string {
	var b strings.Builder
	blank := 0
	for l := range strings.Lines(text) {
		if l = strings.TrimSpace(l); l == "" {
			blank++
			continue
		}
		if blank > 0 && b.Len() > 0 {
			b.WriteByte('\n')
		}
		blank = 0
		b.WriteString(l + "\n")
	}
	return b.String()
}

// isUnreadable reports whether an element has nothing to read in it.
func isUnreadable(a atom.Atom) bool {
	switch a {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Iframe, atom.Object, atom.Canvas:
		return true
	}
	return false
}

func inline(a atom.Atom) bool {
	switch a {
	case atom.A, atom.B, atom.I, atom.Em, atom.Strong, atom.Span, atom.Code, atom.Sub, atom.Sup, atom.Small, atom.Abbr, atom.Mark, atom.U, atom.S, atom.Q, atom.Cite, atom.Kbd, atom.Font:
		return true
	}
	return false
}

func titleOf(n *html.Node) string {
	for d := range n.Descendants() {
		if d.DataAtom == atom.Title && d.FirstChild != nil {
			return d.FirstChild.Data
		}
	}
	return ""
}
