package org

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// parseHeading reads the parts of a heading line in Org's order: stars, TODO keyword,
// priority, COMMENT, title, tags.
func parseHeading(text string, level int, todo map[string]bool) *Heading {
	h := &Heading{Level: level}
	rest := trimBlanks(text[level:])
	if word, after, _ := strings.Cut(rest, " "); todo[word] {
		h.Todo, rest = word, trimBlanks(after)
	}
	if strings.HasPrefix(rest, "[#") {
		if _, n := utf8.DecodeRuneInString(rest[2:]); n > 0 && strings.HasPrefix(rest[2+n:], "]") {
			h.Priority, rest = rest[2:2+n], trimBlanks(rest[3+n:])
		}
	}
	if word, after, _ := strings.Cut(rest, " "); word == "COMMENT" {
		h.Commented, rest = true, trimBlanks(after)
	}
	if h.Todo == "" && h.Priority == "" && !h.Commented {
		rest = " " + rest // "* :tag:" has no title, "* TODO :tag:" has one
	}
	h.Title, h.Tags = cutTags(rest)
	for _, tag := range h.Tags {
		h.Archived = h.Archived || tag == "ARCHIVE"
	}
	return h
}

// cutTags splits ":a:b:" and the blank before it off the end of a title.
func cutTags(title string) (string, []string) {
	if !strings.HasSuffix(title, ":") {
		return trimBlanks(title), nil
	}
	start := strings.LastIndexAny(title, " \t") + 1
	run := title[start:]
	if start == 0 || len(run) < 3 || run[0] != ':' {
		return trimBlanks(title), nil
	}
	var tags []string
	for tag := range strings.SplitSeq(run, ":") {
		switch {
		case tag == "":
		case !IsTag(tag):
			return trimBlanks(title), nil
		default:
			tags = append(tags, tag)
		}
	}
	if tags == nil {
		return trimBlanks(title), nil
	}
	return trimBlanks(title[:start]), tags
}

// IsTag reports whether a word can be a tag. As for Emacs, the marks of letters are letters.
func IsTag(word string) bool {
	for _, r := range word {
		if !unicode.In(r, unicode.Letter, unicode.Mark, unicode.Nd, unicode.Nl) && !strings.ContainsRune("_@#%", r) {
			return false
		}
	}
	return word != ""
}

// CheckTag returns what is wrong with a word that is to be a tag, for people.
func CheckTag(word string) error {
	if !IsTag(word) {
		return fmt.Errorf("%q is no tag: letters, digits, _, @, # and %% make one", word)
	}
	return nil
}

// planningLine reads "SCHEDULED: <…> DEADLINE: <…> CLOSED: […]" in any order.
func planningLine(text string, number int) (Planning, bool) {
	rest := trimBlanks(text)
	found := Planning{Line: number}
	ok := false
	for rest != "" {
		var place *string
		switch {
		case strings.HasPrefix(rest, "SCHEDULED:"):
			place, rest = &found.Scheduled, rest[len("SCHEDULED:"):]
		case strings.HasPrefix(rest, "DEADLINE:"):
			place, rest = &found.Deadline, rest[len("DEADLINE:"):]
		case strings.HasPrefix(rest, "CLOSED:"):
			place, rest = &found.Closed, rest[len("CLOSED:"):]
		default:
			return found, ok
		}
		ok = true
		rest = trimBlanks(rest)
		*place, rest = cutTimestamp(rest)
		rest = trimBlanks(rest)
	}
	return found, ok
}

// cutTimestamp splits a timestamp or a range of two off the front of text.
func cutTimestamp(text string) (stamp, rest string) {
	end := timestampEnd(text)
	if end == 0 {
		return "", text
	}
	if strings.HasPrefix(text[end:], "--") {
		if second := timestampEnd(text[end+2:]); second > 0 {
			end += 2 + second
		}
	}
	return text[:end], text[end:]
}

func timestampEnd(text string) int {
	closing := byte('>')
	switch {
	case strings.HasPrefix(text, "["):
		closing = ']'
	case !strings.HasPrefix(text, "<"):
		return 0
	}
	return strings.IndexByte(text, closing) + 1
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
