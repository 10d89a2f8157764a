package plist

import "strings"

// Thought returns the thoughts that were begun by a tag, as far as they have arrived.
func (s *Stream) Thought() string {
	if s.finder == nil {
		return ""
	}
	return s.finder.thoughts()
}

// thoughts returns the thoughts without their tags and the surrounding white space, as far as they
// have arrived.
func (f *finder) thoughts() string {
	to := f.thinkTo
	switch {
	case f.thinking != "":
		to = len(f.text)
	case !f.thought:
		return ""
	}
	text := f.text[f.thinkFrom:to]
	for _, name := range tags {
		if opening := "<" + name + ">"; len(text) >= len(opening) && strings.EqualFold(text[:len(opening)], opening) {
			text = text[len(opening):]
			break
		}
	}
	for _, name := range tags {
		if end := len(text) - len(name) - 3; end >= 0 && strings.EqualFold(text[end:], "</"+name+">") {
			text = text[:end]
			break
		}
	}
	return trimBlanks(text)
}
