package skill

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Names of files stand in tables, in words between blanks, and before a person who decides
// by what is shown. What would break a table or a line, or show as something else, is
// written as %XX, byte by byte; so are blanks where the name is a word.

// ShownName is the name of a file as policy.org has it, fit for being shown in a line.
func ShownName(path string) string { return encodeName(path, false) }

// encodeName writes a name.
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

// ShownFile is a file's name for a line that people read: as it is, if all of it can be
// printed. A name from elsewhere may hold line ends, or what moves a terminal's cursor.
func ShownFile(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }) {
		return encodeName(name, false)
	}
	return name
}

// decodeName reads a name that was written.
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
