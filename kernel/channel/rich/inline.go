package rich

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// styles is a set of styles.
type styles uint16

func (s styles) with(style Style) styles { return s | 1<<style }
func (s styles) has(style Style) bool    { return s&(1<<style) != 0 }

// inline returns what people see of a paragraph of Org that is within spans of some styles.
func inline(source string, within styles) Text {
	p := inliner{
		source: source, within: within, line: finder{word: "\n"}, bracket: finder{word: "]"}, brackets: finder{word: "]]"},
		greater: finder{word: ">"}, formulas: [2]finder{{word: `\)`}, {word: `\]`}},
	}
	for p.at < len(source) {
		p.step()
	}
	return Text{Plain: p.plain.String(), Spans: p.spans}
}

// inliner reads a paragraph from its beginning to its end.
type inliner struct {
	source string
	within styles
	at     int
	plain  strings.Builder
	spans  []Span
	no     [6]int // by marker: up to where none of it ends an emphasis
	second int    // where the second line ends, counted from the one that ends at first
	first  int

	line, bracket, brackets, greater finder
	formulas                         [2]finder
}

const markers = "*/_+=~"

// finder finds the next place of a word, and goes over a text once however often it is asked.
type finder struct {
	word  string
	known bool
	at    int
}

// next returns the first place of the word at a place or behind it, the length of the text if there is none. The
// places that it is asked for do not decrease.
func (f *finder) next(text string, from int) int {
	if !f.known || f.at < from {
		f.known, f.at = true, len(text)
		if i := strings.Index(text[from:], f.word); i >= 0 {
			f.at = from + i
		}
	}
	return f.at
}

// step writes what begins at a place.
func (p *inliner) step() {
	rest := p.source[p.at:]
	switch c := rest[0]; {
	case strings.HasPrefix(rest, "\u200b"):
		p.at += len("\u200b")
	case strings.HasPrefix(rest, "[[") && p.link(rest),
		strings.HasPrefix(rest, "[fn:") && p.footnote(rest),
		c == '<' && p.angle(rest),
		c == '\\' && p.backslash(rest),
		c == 'h' && p.address(rest),
		strings.IndexByte(markers, c) >= 0 && p.emphasis(c):
	default:
		_, size := utf8.DecodeRuneInString(rest)
		p.write(rest[:size])
	}
}

// write copies the source.
func (p *inliner) write(s string) {
	p.plain.WriteString(s)
	p.at += len(s)
}

// put writes a text in a span in the place of some bytes of the source.
func (p *inliner) put(t Text, style Style, value string, bytes int) {
	start := p.plain.Len()
	if t.Plain != "" && style != 0 {
		p.spans = append(p.spans, Span{Start: start, End: start + len(t.Plain), Style: style, Value: value})
	}
	for _, s := range t.Spans {
		p.spans = append(p.spans, Span{Start: s.Start + start, End: s.End + start, Style: s.Style, Value: s.Value})
	}
	p.plain.WriteString(t.Plain)
	p.at += bytes
}

// link writes "[[address]]" or "[[address][words]]".
func (p *inliner) link(rest string) bool {
	end := p.brackets.next(p.source, p.at) - p.at
	if end == len(rest) || p.within.has(Link) || p.at+end > p.twoLines() {
		return false
	}
	address, words, found := strings.Cut(rest[2:end], "][")
	if strings.ContainsAny(address, "\\\u200b\n") {
		address = strings.NewReplacer(`\[`, "[", `\]`, "]", `\\`, `\`, "\u200b", "", "\n", " ").Replace(address)
	}
	shown := Plain(address)
	if found {
		shown = inline(words, p.within.with(Link))
	}
	if strings.TrimSpace(address) == "" {
		return false
	}
	if Followed(address) {
		p.put(shown, Link, address, end+2)
	} else {
		p.put(shown, 0, "", end+2)
	}
	return true
}

// footnote writes "[fn:label]", "[fn::words]" or "[fn:label:words]".
func (p *inliner) footnote(rest string) bool {
	end := p.bracket.next(p.source, p.at) - p.at
	if end == len(rest) {
		return false
	}
	label, words, found := strings.Cut(rest[len("[fn:"):end], ":")
	if strings.ContainsAny(label, " \t\n[") || label == "" && !found {
		return false
	}
	if !found {
		p.put(Plain("["+withoutMarks(label)+"]"), 0, "", end+1)
		return true
	}
	p.put(join(join(Plain("("), inline(words, p.within)), Plain(")")), 0, "", end+1)
	return true
}

// angle writes "<https://…>", and leaves out targets such as "<<here>>".
func (p *inliner) angle(rest string) bool {
	end := p.greater.next(p.source, p.at) - p.at
	if end == len(rest) || p.line.next(p.source, p.at) < p.at+end {
		return false
	}
	if inner := rest[1:end]; strings.HasPrefix(inner, "<") {
		if !strings.HasPrefix(rest[end:], ">>") {
			return false
		}
		if target, radio := strings.CutPrefix(inner[1:], "<"); radio && strings.HasPrefix(rest[end:], ">>>") {
			p.put(Plain(withoutMarks(target)), 0, "", end+3)
		} else {
			p.put(Text{}, 0, "", end+2)
		}
		return true
	}
	if strings.Contains(rest[1:end], "<") {
		return false
	}
	address := withoutMarks(rest[1:end])
	if !Followed(address) || p.within.has(Link) {
		return false
	}
	p.put(Plain(strings.TrimPrefix(address, "mailto:")), Link, address, end+1)
	return true
}

// backslash copies mathematics, and writes a bar that stands in a table.
func (p *inliner) backslash(rest string) bool {
	if strings.HasPrefix(rest, `\vert{}`) {
		p.put(Plain("|"), 0, "", len(`\vert{}`))
		return true
	}
	for i, open := range [2]string{`\(`, `\[`} {
		if strings.HasPrefix(rest, open) {
			if end := p.formulas[i].next(p.source, p.at) - p.at; end < len(rest) {
				p.put(Plain(withoutMarks(rest[:end+2])), 0, "", end+2)
				return true
			}
		}
	}
	return false
}

// address copies an address of the web, so that nothing in it is taken for a mark.
func (p *inliner) address(rest string) bool {
	if !strings.HasPrefix(rest, "https://") && !strings.HasPrefix(rest, "http://") {
		return false
	}
	end := strings.IndexFunc(rest, func(r rune) bool {
		return unicode.IsSpace(r) || r == '\u200b' || strings.ContainsRune("<>[]\"|", r)
	})
	if end < 0 {
		end = len(rest)
	}
	for end > 0 && strings.IndexByte("*/_+=~.,;:!?)'", rest[end-1]) >= 0 {
		end--
	}
	p.write(rest[:end])
	return true
}

// emphasis writes what stands between two markers.
func (p *inliner) emphasis(marker byte) bool {
	style := [...]Style{Bold, Italic, Underline, Strike, Code, Code}[strings.IndexByte(markers, marker)]
	before, _ := utf8.DecodeLastRuneInString(p.source[:p.at])
	if p.within.has(style) || p.at > 0 && !unicode.IsSpace(before) && !strings.ContainsRune("-–—('\"{\u200b", before) {
		return false
	}
	end := p.closer(marker)
	if end < 0 {
		return false
	}
	body := p.source[p.at+1 : end]
	if style == Code {
		p.put(Plain(withoutMarks(body)), Code, "", len(body)+2)
	} else {
		p.put(inline(body, p.within.with(style)), style, "", len(body)+2)
	}
	return true
}

// twoLines returns where the line behind this one ends.
func (p *inliner) twoLines() int {
	if p.first <= p.at {
		p.first = p.line.next(p.source, p.at)
		if p.second = len(p.source); p.first < p.second {
			if i := strings.IndexByte(p.source[p.first+1:], '\n'); i >= 0 {
				p.second = p.first + 1 + i
			}
		}
	}
	return p.second
}

// closer returns where the emphasis ends that begins here, negative if it does not. It goes over two lines at most.
func (p *inliner) closer(marker byte) int {
	no := &p.no[strings.IndexByte(markers, marker)]
	first, _ := utf8.DecodeRuneInString(p.source[p.at+1:])
	if p.at+1 >= len(p.source) || isBorder(first) {
		return -1
	}
	limit := p.twoLines()
	for i := max(p.at+2, *no); i < limit; i++ {
		next := strings.IndexByte(p.source[i:limit], marker)
		if next < 0 {
			break
		}
		i += next
		last, _ := utf8.DecodeLastRuneInString(p.source[:i])
		after, size := utf8.DecodeRuneInString(p.source[i+1:])
		if !isBorder(last) && (size == 0 || unicode.IsSpace(after) || strings.ContainsRune("-–—.,;:!?')}\"[\\]\u200b", after)) {
			return i
		}
	}
	*no = max(*no, limit)
	return -1
}

// isBorder reports whether a character cannot stand at the border of an emphasis.
func isBorder(r rune) bool { return unicode.IsSpace(r) || r == '\u200b' }
