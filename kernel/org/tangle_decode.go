package org

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"
)

// decodeNote decodes a note as Emacs does in a UTF-8 locale: as UTF-8, or else as Latin-1. Lines
// end in LF, in CRLF if all do, or in CR if there is no LF.
func decodeNote(source []byte) (*Document, []Diagnostic) {
	source = bytes.TrimPrefix(source, []byte("\ufeff"))
	if at := bytes.IndexByte(source, 0); at >= 0 {
		return nil, refuseAt(source, at, "a NUL byte: Emacs does not read this as text")
	}
	text := string(source)
	if !utf8.ValidString(text) {
		var wide strings.Builder
		for i, c := range source {
			if c >= 0x80 && c < 0xA0 {
				return nil, refuseAt(source, i, "a byte that is neither UTF-8 nor Latin-1")
			}
			wide.WriteRune(rune(c))
		}
		text = wide.String()
	}
	if coding := codingCookie(text); coding != "" && !isASCII(text) && !isUnicode(coding) {
		return nil, []Diagnostic{{1, 1, Error, "the coding system " + coding + " is not supported; save the note in utf-8"}}
	}
	ends, returns := strings.Count(text, "\n"), strings.Count(text, "\r")
	switch {
	case returns == 0:
	case ends == 0:
		text = strings.ReplaceAll(text, "\r", "\n")
	case ends == returns && strings.Count(text, "\r\n") == ends:
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	return parse(text, splitUnix), nil
}

func refuseAt(source []byte, at int, message string) []Diagnostic {
	line := bytes.Count(source[:at], []byte("\n"))
	return []Diagnostic{{line + 1, at - bytes.LastIndexByte(source[:at], '\n'), Error, message}}
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// cookie matches the coding system that a file names in one of its first two lines.
var cookie = regexp.MustCompile(`-\*-.*?\bcoding: *([^ \t\n;]+).*?-\*-`)

// codingCookie returns the coding system that a text names, or "".
func codingCookie(text string) string {
	head := text
	if first := strings.IndexByte(text, '\n'); first >= 0 {
		if second := strings.IndexByte(text[first+1:], '\n'); second >= 0 {
			head = text[:first+1+second]
		}
	}
	if !strings.Contains(head, "coding") {
		return ""
	}
	for line := range strings.SplitSeq(head, "\n") {
		if found := cookie.FindStringSubmatch(line); found != nil {
			return found[1]
		}
	}
	return ""
}

func isUnicode(coding string) bool {
	switch strings.ToLower(coding) {
	case "utf-8", "utf-8-unix", "mule-utf-8", "prefer-utf-8", "undecided", "us-ascii", "ascii":
		return true
	}
	return false
}

// checkCookie refuses a file that Emacs would write in another coding system.
func (t *tangler) checkCookie(f *TangledFile) {
	coding := codingCookie(f.text.String())
	if coding == "" || isUnicode(coding) {
		return
	}
	if lower := strings.ToLower(coding); !isASCII(f.text.String()) || strings.HasSuffix(lower, "-dos") || strings.HasSuffix(lower, "-mac") || strings.HasPrefix(lower, "utf-16") {
		t.fail(f.Line, "%s says that its coding system is %s, in which Emacs would write it; that is not supported", f.Name, coding)
	}
}
