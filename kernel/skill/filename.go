package skill

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// File names stand in tables, in words between blanks, and in texts by which a person decides. A
// byte that would break a table or a line, or that is shown as something else, is written as %XX.
// In a word, so are blanks.

// ShownName returns the name of a file as policy.org writes it, on one line.
func ShownName(path string) string { return encodeName(path, false) }

// encodeName encodes a name.
func encodeName(name string, word bool) string {
	var b strings.Builder
	for i := 0; i < len(name); {
		r, size := utf8.DecodeRuneInString(name[i:])
		if r == '|' || r == '%' || word && r == ' ' || !unicode.IsPrint(r) || r == utf8.RuneError && size == 1 {
			for _, c := range []byte(name[i : i+size]) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		} else {
			b.WriteString(name[i : i+size])
		}
		i += size
	}
	return b.String()
}

// ShownFile returns a file name for a line that people read. A printable name is unchanged. A name
// from outside can contain line ends or control a terminal's cursor; those bytes are encoded.
func ShownFile(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }) {
		return encodeName(name, false)
	}
	return name
}

// decodeName decodes a name.
func decodeName(text string) (string, error) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "%")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		if len(after) < 2 {
			return "", fmt.Errorf("%q ends in the middle of %%XX", text)
		}
		c, err := strconv.ParseUint(after[:2], 16, 8)
		if err != nil {
			return "", fmt.Errorf("%%%s is no byte: write %%25 for %%", after[:2])
		}
		b.WriteByte(byte(c))
		text = after[2:]
	}
}
