package prompt

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Tokens estimates how many tokens a text is: four bytes each of ASCII, and two tokens for
// three other characters, which is near enough for English prose, code and Chinese alike.
func Tokens(text string) int {
	ascii, others := 0, 0
	for i := 0; i < len(text); {
		if n := asciiPrefix(text[i:]); n > 0 {
			ascii, i = ascii+n, i+n
			continue
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		others, i = others+1, i+size
	}
	return (ascii+3)/4 + (2*others+2)/3
}

// highBits are those that no byte of ASCII has, of eight bytes.
const highBits = 0x8080808080808080

// eight are the first eight bytes of a text: one load, as the compiler sees it.
func eight(b string) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 | uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// asciiPrefix is how many bytes of ASCII the text begins with. It looks at many at a time: all
// of a long conversation is weighed in every turn.
func asciiPrefix(text string) int {
	i := 0
	for ; len(text)-i >= 32; i += 32 {
		b := text[i : i+32]
		if (eight(b)|eight(b[8:])|eight(b[16:])|eight(b[24:]))&highBits != 0 {
			break
		}
	}
	for ; len(text)-i >= 8; i += 8 {
		if eight(text[i:])&highBits != 0 {
			break
		}
	}
	for i < len(text) && text[i] < utf8.RuneSelf {
		i++
	}
	return i
}

// shorten returns a text of at most so many tokens: its beginning, a line that says how much
// is left out, and its end, three parts to one, cut between lines where that is near.
func shorten(text string, most int) (short string, cut bool) {
	if Tokens(text) <= most {
		return text, false
	}
	room := max(most-markTokens, 0)
	head := prefix(text, room*3/4)
	tail := suffix(text[len(head):], room-room*3/4)
	left := len(text) - len(head) - len(tail)
	return strings.Trim(fmt.Sprintf("%s\n[… %d bytes are left out here …]\n%s", strings.TrimRight(head, "\n"), left, strings.TrimLeft(tail, "\n")), "\n"), true
}

// markTokens is more than what the line takes that says how much is left out.
const markTokens = 16

// prefix is the beginning of a text of at most so many tokens. It ends with a line if one
// ends in its last fifth.
func prefix(text string, most int) string {
	end := 0
	for weight := 0; end < len(text); {
		c, size := utf8.DecodeRuneInString(text[end:])
		if weight += weigh(c); weight > most*12 {
			break
		}
		end += size
	}
	if line := strings.LastIndexByte(text[:end], '\n') + 1; end < len(text) && line >= end-end/5 {
		return text[:line]
	}
	return text[:end]
}

// suffix is the end of a text of at most so many tokens. It begins with a line if one begins
// in its first fifth.
func suffix(text string, most int) string {
	begin := len(text)
	for weight := 0; begin > 0; {
		c, size := utf8.DecodeLastRuneInString(text[:begin])
		if weight += weigh(c); weight > most*12 {
			break
		}
		begin -= size
	}
	if line := strings.IndexByte(text[begin:], '\n') + 1; begin > 0 && line > 0 && line <= (len(text)-begin)/5 {
		return text[begin+line:]
	}
	return text[begin:]
}

// weigh is what a character is of a token, in twelfths.
func weigh(c rune) int {
	if c < utf8.RuneSelf {
		return 3
	}
	return 8
}
