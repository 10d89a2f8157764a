package org

import (
	"path"
	"regexp"
	"strconv"
	"strings"
)

// linkComments returns the comments before and behind a block's code: a link to the block, and its
// name.
func (t *tangler) linkComments(p *place) (before, behind string) {
	name := p.block.Name
	if !p.block.named {
		title := "No heading"
		if p.heading != nil && p.heading.Title != "" {
			title = p.heading.Title
		}
		name = title + ":" + strconv.Itoa(p.counter)
	}
	link, _ := t.link(p.block, p.begin, 0)
	directory := t.request.Directory
	if target := p.arguments.text("tangle"); strings.Contains(target, "/") {
		directory = t.expand(target[:strings.LastIndexByte(target, '/')+1], directory)
	}
	link = escapeLink(link)
	if file, ok := strings.CutPrefix(link, "file:"); ok {
		link = "file:" + relativeName(t.expand(file, t.request.Directory), directory)
	}
	return fillNames("[["+link+"]["+"%source-name"+"]]", name, p), fillNames("%source-name ends here", name, p)
}

// fillNames puts the block's name into a text, and its line where the link's format asks for it.
func fillNames(text, name string, p *place) string {
	if strings.Contains(text, "%start-line") {
		text = strings.ReplaceAll(text, "%start-line", strconv.Itoa(p.begin+2))
	}
	return strings.ReplaceAll(text, "%source-name", name)
}

// nowebComment returns the comments around the code of a referenced block. from is nil where only
// the text looks like a block with that name; Org then leaves the placeholders in the comments.
func (t *tangler) nowebComment(into, from *Block, at int) (before, behind []string) {
	link, name := "%link", "%source-name"
	if from != nil {
		if t.web.moved {
			t.refuseMoved(into.Line)
		}
		var description string
		link, description = t.link(t.index.blockAt(at), at, len("#+end_src"))
		link, name = "[["+escapeLink(link)+"]", from.Name
		if description != "" {
			link += "[" + description + "]"
		}
		link += "]"
	}
	syntax := syntaxOf(into.Language, nil)
	for i, text := range []string{"[[" + link + "][" + name + "]]", name + " ends here"} {
		comment, err := syntax.comment(text)
		if err != nil {
			t.fail(into.Line, ":comments noweb: %s: %v", into.Language, err)
			return nil, nil
		}
		lines := strings.Split(strings.Trim(comment, " \t\n\r"), "\n")
		if i == 0 {
			before = lines
		} else {
			behind = lines
		}
	}
	return before, behind
}

// refuseMoved refuses comments whose text Org would take from where a reference led its point.
func (t *tangler) refuseMoved(line int) {
	t.fail(line, "a noweb reference to a heading's ID moves the place from which Org takes comments; give the text a #+name:, or write :comments no")
}

// radioTarget matches a target before or at the block. Org then links to the target.
var radioTarget = regexp.MustCompile(`[^<]<<([^<>]+)>>[^>]`)

// link returns the link that Org stores at a line, and its description. length is the number of
// characters before point on the line, without its indentation.
func (t *tangler) link(b *Block, index, length int) (link, description string) {
	file := "file:" + t.abbreviate(t.request.Path)
	heading := t.index.headingAt(index)
	if target, ok := t.targetAt(index, length); ok {
		link = file + "::" + target
		return link, link
	}
	properties := t.doc.Properties
	if heading != nil {
		properties = heading.Properties
	}
	if id, ok := localValue(properties, "CUSTOM_ID"); ok {
		link = file + "::#" + id
		return link, link
	}
	context := ""
	switch {
	case b != nil && b.named:
		context, description = b.Name, b.Name
	case heading == nil:
		context = plainContext(normalizeTitle(t.doc.lines[index].text))
	default:
		description = normalizeTitle(heading.Title)
		context = "*" + description
	}
	if strings.Trim(context, " \t\r\n") == "" {
		return file, file
	}
	return file + "::" + context, describeLink(description)
}

// localValue returns a property's value with that of its KEY+ lines, and whether it has one.
func localValue(properties []Property, key string) (string, bool) {
	parts, _ := localValues(properties, key)
	var words []string
	for _, part := range parts {
		words = append(words, part.text)
	}
	text := strings.Join(words, " ")
	return text, len(parts) > 0 && text != "nil"
}

// targetAt finds a <<target>> that touches point, in the lines around it.
func (t *tangler) targetAt(index, length int) (string, bool) {
	lines := t.doc.lines
	first, last := max(index-1, 0), min(index+1, len(lines)-1)
	text := t.doc.Source[lines[first].start:lines[last].end]
	if !strings.Contains(text, "<<") {
		return "", false
	}
	text = strings.TrimSuffix(text, "\n")
	point := lines[index].start - lines[first].start
	if length > 0 {
		point += indentation(lines[index].text) + length
	}
	for from := 0; from <= len(text); {
		found := radioTarget.FindStringSubmatchIndex(text[from:])
		if found == nil || from+found[0] > point {
			return "", false
		}
		if from+found[1] >= point {
			return text[from+found[2] : from+found[3]], true
		}
		from += found[1]
	}
	return "", false
}

var (
	statistics = regexp.MustCompile(`\[[0-9]*(?:%|/[0-9]*)\]`)
	blankRun   = regexp.MustCompile(`[ \t]+`)
	marks      = regexp.MustCompile(`^[#*]+[ \t]*`)
)

// normalizeTitle removes what may change in a title: statistics cookies and runs of blanks.
func normalizeTitle(text string) string {
	if strings.Contains(text, "[") {
		text = statistics.ReplaceAllString(text, " ")
	}
	if strings.Contains(text, "  ") || strings.Contains(text, "\t") {
		text = blankRun.ReplaceAllString(text, " ")
	}
	return strings.Trim(text, " \t\n\r")
}

// plainContext removes characters that have a meaning in a search.
func plainContext(text string) string {
	for {
		switch {
		case strings.HasPrefix(text, "(") && strings.HasSuffix(text, ")") && len(text) > 1:
			text = strings.Trim(text[1:len(text)-1], " \t\n\r")
		case marks.MatchString(text):
			text = text[len(marks.FindString(text)):]
		default:
			return text
		}
	}
}

var (
	storedLink  = regexp.MustCompile(`\[\[((?:[^]\\\[]|\\[]\[\\]?)+)\](?:\[((?s:.+?))\])?\]`)
	linkEscapes = regexp.MustCompile(`\\*(?:[]\[]|$)`)
)

// describeLink returns a text as the description of a link: links in it are replaced by their
// descriptions, and a zero-width space keeps brackets apart.
func describeLink(text string) string {
	text = storedLink.ReplaceAllStringFunc(text, func(link string) string {
		parts := storedLink.FindStringSubmatch(link)
		if parts[2] != "" {
			return parts[2]
		}
		return parts[1]
	})
	text = strings.Trim(text, " \t\n\r")
	if strings.HasSuffix(text, "]") {
		text += "\u200b"
	}
	return strings.ReplaceAll(text, "]]", "]\u200b]")
}

// escapeLink puts a backslash before brackets, and doubles the backslashes before them.
func escapeLink(link string) string {
	if !strings.ContainsAny(link, `[]\`) {
		return link
	}
	return linkEscapes.ReplaceAllStringFunc(link, func(found string) string {
		slashes := strings.TrimRight(found, "[]")
		if slashes == found {
			return slashes + slashes
		}
		return slashes + slashes + `\` + found[len(slashes):]
	})
}

// expand makes a name absolute and removes its dots, as Emacs does.
func (t *tangler) expand(name, directory string) string {
	switch {
	case name == "~" || strings.HasPrefix(name, "~/"):
		name = t.request.Home + name[1:]
	case !strings.HasPrefix(name, "/"):
		name = directory + "/" + name
	}
	clean := path.Clean(name)
	if strings.HasSuffix(name, "/") && clean != "/" {
		clean += "/"
	}
	return clean
}

// abbreviate writes ~ for the home directory.
func (t *tangler) abbreviate(name string) string {
	home := t.request.Home
	if home != "/" && home != "" && (name == home || strings.HasPrefix(name, home+"/")) {
		return "~" + name[len(home):]
	}
	return name
}

// relativeName returns an absolute name relative to an absolute directory.
func relativeName(name, directory string) string {
	directory = strings.TrimSuffix(directory, "/") + "/"
	ancestor := ""
	for !strings.HasPrefix(name+"/", directory) {
		directory = directory[:strings.LastIndexByte(directory[:len(directory)-1], '/')+1]
		ancestor += "../"
	}
	if rest, ok := strings.CutPrefix(name, directory); ok {
		if ancestor+rest == "" {
			return "./"
		}
		return ancestor + rest
	}
	if ancestor == "" {
		return "."
	}
	return strings.TrimSuffix(ancestor, "/")
}

// commentEnds finds the text that becomes the comment for :comments org: it begins at the heading's
// title or behind the last block that the regular expression finds.
type commentEnds struct {
	next  int // the line to look at
	begin int // index + 1 of the last line that begins a source
	end   int // offset behind the last source found
}

func (c *commentEnds) textBefore(d *Document, p *place) string {
	for ; c.next < p.begin; c.next++ {
		text := d.lines[c.next].text
		trimmed := text[indentation(text):]
		switch {
		case beginsSource(text):
			c.begin = c.next + 1
		case c.begin > 0 && hasFoldPrefix(trimmed, "#+end_src"):
			c.end = d.lines[c.next].start + indentation(text) + len("#+end_src")
			c.begin = 0
		case strings.IndexByte(text, 0) >= 0:
			c.begin = 0
		}
	}
	comments := p.arguments.text("comments")
	if comments != "org" && comments != "both" {
		return ""
	}
	start := c.end
	if p.heading != nil {
		start = max(start, p.heading.Start+p.heading.Level+1)
	}
	return unindent(d.text(start, d.lines[p.begin].start))
}
