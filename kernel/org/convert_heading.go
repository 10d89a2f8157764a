package org

import (
	"strings"
	"unicode/utf8"

	"org-agent/kernel/text"
)

// titleLimit is the greatest length, in code points, of a plain first line that becomes the
// answer's heading.
const titleLimit = 72

// answerHeading writes the heading of an answer, made from its first line. used says that the line
// became the heading. decided is false when more of the line is needed.
func (c *Converter) answerHeading(l string, complete bool) (used, decided bool) {
	if level, title, decided := c.headingLine(l, complete); !decided {
		return false, false
	} else if level > 0 {
		if !complete {
			return false, false
		}
		c.own = level
		c.writeAnswerHeading(c.title(title))
		return true, true
	}
	head, long := cutRunes(l, titleLimit+1)
	if !complete && !long {
		return false, false
	}
	switch text, plain := c.firstText(head); {
	case text == "":
		c.writeAnswerHeading("")
	case plain && !long:
		c.writeAnswerHeading(c.title(text))
		c.underline = c.dialect == Markdown
		return true, true
	default:
		c.writeAnswerHeading(c.words(text))
	}
	return false, true
}

// cutRunes returns the first n code points of text, and whether it has that many.
func cutRunes(text string, n int) (head string, long bool) {
	count := 0
	for i := range text {
		if count++; count == n {
			_, size := utf8.DecodeRuneInString(text[i:])
			return text[:i+size], true
		}
	}
	return text, false
}

// headingLine recognises a heading that stands on one line.
func (c *Converter) headingLine(l string, complete bool) (level int, title string, decided bool) {
	indent := indentation(l)
	if c.dialect == Markdown && indent < 4 || indent == 0 {
		if level, title, decided = atxHeading(l[indent:], complete); !decided {
			return 0, "", false
		}
		if level > 1 || level == 1 && c.dialect == Markdown {
			return level, title, true
		}
	}
	if c.dialect == Markdown {
		return 0, "", true
	}
	stars := runLength(l, '*')
	if stars == 0 || stars < len(l) && l[stars] != ' ' {
		return 0, "", true
	}
	if stars == len(l) {
		return 0, "", complete
	}
	return stars, strings.TrimSpace(l[stars:]), true
}

// atxHeading reads "## title ##".
func atxHeading(l string, complete bool) (level int, title string, decided bool) {
	n := runLength(l, '#')
	if n == len(l) && !complete {
		return 0, "", n > 6 || n == 0 && l != ""
	}
	if n == 0 || n > 6 || n < len(l) && l[n] != ' ' && l[n] != '\t' {
		return 0, "", true
	}
	title = strings.TrimSpace(l[n:])
	bare := strings.TrimRight(title, "#")
	if bare == "" || strings.HasSuffix(bare, " ") || strings.HasSuffix(bare, "\t") {
		title = strings.TrimSpace(bare)
	}
	return n, title, true
}

// firstText returns the words of a first line that is no heading: the line itself if it is plain,
// the text of an item or a quote, and nothing for a block, a table or a rule.
func (c *Converter) firstText(l string) (text string, plain bool) {
	l = strings.TrimSpace(l)
	plain = true
	for range maxNesting {
		if c.dialect == Markdown && strings.HasPrefix(l, ">") {
			l, plain = strings.TrimSpace(l[1:]), false
			continue
		}
		marker := itemMarker(l)
		if marker == 0 {
			break
		}
		l, plain = strings.TrimSpace(l[marker:]), false
		if _, rest, ok := checkbox(l); ok {
			l = strings.TrimSpace(rest)
		}
	}
	if l == "" || strings.HasPrefix(l, "```") || strings.HasPrefix(l, "~~~") || l[0] == '|' ||
		strings.HasPrefix(l, "#+") || isRule(l) || strings.HasPrefix(l, "<!--") || environmentStart.MatchString(l) || planningStart.MatchString(l) {
		return "", false
	}
	if is, _ := startsDrawer(l, true); l[0] == ':' && is {
		return "", false
	}
	if c.dialect != Markdown && (l == "#" || strings.HasPrefix(l, "# ") || strings.HasPrefix(l, ": ")) {
		return "", false
	}
	return l, plain
}

// itemMarker returns the length of a list marker and its blank at the start of l.
func itemMarker(l string) int {
	n := 0
	if l != "" && strings.IndexByte("-+*", l[0]) >= 0 {
		n = 1
	} else {
		for n < len(l) && n < 9 && l[n] >= '0' && l[n] <= '9' {
			n++
		}
		if n == 0 || n == len(l) || l[n] != '.' && l[n] != ')' {
			return 0
		}
		n++
	}
	if n < len(l) && l[n] == ' ' {
		return n + 1
	}
	return 0
}

// words makes a heading of a text of at most 73 characters: its first words without markup, at most
// 60 characters, cut at a blank, and an ellipsis.
func (c *Converter) words(from string) string {
	words := firstWords(text.Line(stripMarkup(from)))
	if words == "" {
		return ""
	}
	title := c.inTitle()
	title.plain(words + "…")
	return c.titleText(title.out.String())
}

// stripMarkup removes what marks emphasis, code and links.
func stripMarkup(text string) string {
	text = strings.NewReplacer("**", "", "__", "", "~~", "", "`", "", "![", "", "[", "").Replace(text)
	for {
		open := strings.Index(text, "](")
		if open < 0 {
			return text
		}
		end := len(text)
		if closing := strings.IndexByte(text[open:], ')'); closing > 0 {
			end = open + closing + 1
		}
		text = text[:open] + text[end:]
	}
}

// title converts the text of a heading.
func (c *Converter) title(text string) string {
	text = strings.TrimRight(text, " \t\\")
	title := c.inTitle()
	title.run(text, true)
	return c.titleText(title.out.String())
}

// inTitle converts what stands in a heading.
func (c *Converter) inTitle() inline {
	return inline{markdown: c.dialect == Markdown, begun: true, links: c.text.links}
}

// titleText returns the converted text of a heading. In Markdown its words are not a keyword, COMMENT or
// tags.
func (c *Converter) titleText(converted string) string {
	converted = strings.TrimSpace(converted)
	if c.dialect != Markdown {
		return converted
	}
	if word, rest, _ := strings.Cut(converted, " "); word == "TODO" || word == "DONE" {
		converted = strings.TrimRight(word+zeroWidthSpace+" "+rest, " ")
	}
	return plainTags(plainComment(converted))
}

// plainComment breaks up COMMENT where a heading may have it: as the first word, behind one word
// that may be a keyword, or behind a priority. Org's parser also takes a longer word that begins
// with COMMENT.
func plainComment(title string) string {
	if !strings.Contains(title, "COMMENT") {
		return title
	}
	title = breakComment(title, 0)
	return breakComment(title, len(firstField(title)))
}

// breakComment breaks up a COMMENT that stands behind the first bytes of a title, with or without a
// priority between.
func breakComment(title string, skip int) string {
	rest := strings.TrimLeft(title[skip:], " \t")
	if strings.HasPrefix(rest, "[#") {
		if closing := strings.IndexByte(rest, ']'); closing > 0 {
			rest = strings.TrimLeft(rest[closing+1:], " \t")
		}
	}
	if strings.HasPrefix(rest, "COMMENT") {
		return title[:len(title)-len(rest)] + zeroWidthSpace + rest
	}
	return title
}

// plainTags keeps the end of a title from being read as tags.
func plainTags(title string) string {
	if !strings.HasSuffix(title, ":") {
		return title
	}
	if _, tags := cutTags(" " + title); len(tags) > 0 {
		return title[:len(title)-1] + zeroWidthSpace + ":"
	}
	return title
}

// writeAnswerHeading writes the heading and the drawer of an answer.
func (c *Converter) writeAnswerHeading(title string) {
	if title == "" {
		title = "Answer"
	}
	c.headed, c.written, c.body = true, true, false
	title, tags := cutTags(" " + c.inert.Title(title))
	heading := tagged(c.options.QuestionLevel+1, title, strings.Join(append(tags, agentTag), ":"))
	c.done += c.inert.Trusted(strings.TrimSuffix(heading+drawer(c.options.Properties), "\n"))
}

// heading writes a further heading at its level below the answer's.
func (c *Converter) heading(level int, title string) {
	if c.options.Answer {
		c.deeper = c.deeper || level <= c.own
		q := c.options.QuestionLevel
		level += q + 1 - c.own
		if c.deeper {
			level++
		}
		level = max(level, q+2)
	} else {
		level += c.options.QuestionLevel
	}
	if title = c.title(title); title == "" {
		return
	}
	c.beginLine(strings.Repeat("*", level) + " " + title)
	c.paragraph, c.footnotes = false, false
}
