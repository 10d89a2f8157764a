package skillmd

import "strings"

// FileName is the name of the file that makes a directory a skill.
const FileName = "SKILL.md"

// fence is the line before and after the front matter. Blanks may follow it.
const fence = "---"

// mark is the byte order mark that some editors write before UTF-8.
const mark = "\ufeff"

// Document is a SKILL.md split into its parts. Joined in order, the parts are the source again,
// byte for byte.
type Document struct {
	Mark   string // a byte order mark, or ""
	Open   string // the line --- with its line end; "" without front matter
	Matter string // the YAML between the fences
	Close  string // the line --- with its line end; "" if there is none
	Body   string // the Markdown
}

// Split splits a SKILL.md. The front matter stands between a first line --- and the next one.
// Without a second line, the whole rest is front matter that is not closed.
func Split(source string) Document {
	var d Document
	if strings.HasPrefix(source, mark) {
		d.Mark, source = mark, source[len(mark):]
	}
	first, rest := cutLine(source)
	if !isFence(first) {
		d.Body = source
		return d
	}
	d.Open = first
	end := 0
	for end < len(rest) {
		line, _ := cutLine(rest[end:])
		if isFence(line) {
			d.Matter, d.Close, d.Body = rest[:end], line, rest[end+len(line):]
			return d
		}
		end += len(line)
	}
	d.Matter = rest
	return d
}

// String returns the source.
func (d Document) String() string { return d.Mark + d.Open + d.Matter + d.Close + d.Body }

// matterLine returns the line of the source in which the front matter begins.
func (d Document) matterLine() int { return 2 }

// bodyLine returns the line of the source in which the body begins.
func (d Document) bodyLine() int {
	return 1 + strings.Count(d.Open+d.Matter+d.Close, "\n")
}

// cutLine returns the first line with its line end, and the rest.
func cutLine(text string) (line, rest string) {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return text[:i+1], text[i+1:]
	}
	return text, ""
}

func isFence(line string) bool {
	return strings.HasPrefix(line, fence) && strings.Trim(line[len(fence):], " \t\r\n") == ""
}
