package complete

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// continuation returns the part of a model's reply that belongs between the texts before and after the
// place. It removes thinking, a fence, repetitions of those texts, and invisible characters. If the reply
// was cut off, it removes the last line or word too. The text never begins with more than one empty line
// and never ends with blanks.
func continuation(reply, before, after string, cut bool) string {
	text := withoutInvisible(strings.ReplaceAll(withoutThinking(reply), "\r\n", "\n"))
	if cut {
		text = wholeLines(text)
	}
	text = withoutFence(text)
	text = withoutRepetition(text, before)
	if trimmed := strings.TrimLeft(text, "\n"); len(text)-len(trimmed) > 2 {
		text = "\n\n" + trimmed
	}
	text = strings.TrimRight(text, " \t\n")
	text = withoutOverlap(text, after)
	if runes := []rune(text); len(runes) > maximumLength {
		text = wholeLines(string(runes[:maximumLength]))
	}
	if lines := strings.SplitAfterN(text, "\n", maximumLines+1); len(lines) > maximumLines {
		text = strings.Join(lines[:maximumLines], "")
	}
	return strings.TrimRight(text, " \t\n")
}

// withoutThinking returns a reply without the thinking that some models write before it.
func withoutThinking(reply string) string {
	for _, tag := range []string{"think", "thinking", "reasoning"} {
		rest, found := strings.CutPrefix(strings.TrimLeft(reply, " \t\r\n"), "<"+tag+">")
		if !found {
			continue
		}
		_, rest, _ = strings.Cut(rest, "</"+tag+">") // nothing, if it never ends
		return strings.TrimLeft(rest, "\r\n")
	}
	return reply
}

// withoutFence returns a text without a fence around all of it.
func withoutFence(text string) string {
	inner := strings.Trim(text, " \t\n")
	fence := inner[:len(inner)-len(strings.TrimLeft(inner, "`"))]
	if len(fence) < 3 {
		return text
	}
	first, rest, found := strings.Cut(inner, "\n")
	if !found || strings.Contains(first[len(fence):], "`") {
		return text
	}
	rest, closed := strings.CutSuffix(rest, "\n"+fence)
	if !closed || strings.Contains(rest, "\n"+fence) {
		return text
	}
	return rest
}

// withoutRepetition returns a text without its repetition of the line before the place or, at the
// beginning of a line, of the previous line.
func withoutRepetition(text, before string) string {
	lines := strings.Split(before, "\n")
	line := lines[len(lines)-1]
	if line == "" && len(lines) > 1 && len(strings.TrimSpace(lines[len(lines)-2])) > 3 {
		if rest, found := strings.CutPrefix(text, lines[len(lines)-2]+"\n"); found {
			return rest
		}
		return text
	}
	if rest, found := strings.CutPrefix(text, line); found && len(strings.TrimSpace(line)) > 1 {
		return rest
	}
	bare := strings.TrimLeft(line, " \t")
	if rest, found := strings.CutPrefix(strings.TrimLeft(text, " \t\n"), bare); found && len(bare) > 3 {
		return rest
	}
	if last, _ := utf8.DecodeLastRuneInString(line); last == ' ' || last == '\t' {
		return strings.TrimLeft(text, " \t")
	}
	return text
}

// withoutOverlap returns a text without an end that the text after the place begins with: the rest of the
// line, or at least four bytes.
func withoutOverlap(text, after string) string {
	rest, _, _ := strings.Cut(after, "\n")
	for size := min(len(text), len(after)); size > 0; size-- {
		if strings.HasSuffix(text, after[:size]) && (size > 3 || size == len(rest)) && utf8.ValidString(text[:len(text)-size]) {
			return text[:len(text)-size]
		}
	}
	return text
}

// wholeLines returns a text that was cut off without its last line, or a single line without its last
// word.
func wholeLines(text string) string {
	if i := strings.LastIndexByte(strings.TrimLeft(text, " \t\n"), '\n'); i >= 0 {
		return text[:len(text)-len(strings.TrimLeft(text, " \t\n"))+i]
	}
	if i := strings.LastIndexAny(text, " \t"); i > 0 && strings.TrimSpace(text[:i]) != "" {
		return text[:i]
	}
	return text
}

// withoutInvisible returns a text without invisible characters, so that a person accepts exactly what they read.
// Joiners stay between letters that are not ASCII, and lines and tabs stay.
func withoutInvisible(text string) string {
	runes := []rune(text)
	var b strings.Builder
	for i, r := range runes {
		switch {
		case r == '\n' || r == '\t':
		case r == '\u2028' || r == '\u2029':
			r = '\n'
		case r == '\u200c' || r == '\u200d':
			if i == 0 || i == len(runes)-1 || runes[i-1] <= unicode.MaxASCII || runes[i+1] <= unicode.MaxASCII {
				continue
			}
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs), isInvisible(r):
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// isInvisible reports whether the character is a letter or a mark without width.
func isInvisible(r rune) bool {
	switch {
	case r >= 0xe0100 && r <= 0xe01ef: // selectors of variations
	case r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r == 0x034f, r == 0x17b4, r == 0x17b5, r == utf8.RuneError:
	default:
		return false
	}
	return true
}
