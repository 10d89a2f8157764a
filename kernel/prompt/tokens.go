package prompt

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Tokens estimates the tokens of a text: one for four bytes of ASCII, and two for three other
// characters. That is close enough for English prose, code and Chinese.
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

// highBits are the bits that are not set in eight bytes of ASCII.
const highBits = 0x8080808080808080

// eight returns the first eight bytes of a text. The compiler makes one load of it.
func eight(b string) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 | uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// asciiPrefix returns the number of bytes of ASCII at the beginning of the text. It examines eight
// at a time, because every turn measures all of a long conversation.
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

// shorten returns a text with at most this many tokens: its beginning, a line with the size of the
// rest, and its end. The beginning is three times as long as the end. It cuts between lines if a
// line ends nearby.
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

// markTokens is more than the tokens of that line.
const markTokens = 16

// prefix returns the beginning of a text with at most this many tokens. It ends with a line if a
// line ends in its last fifth.
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

// suffix returns the end of a text with at most this many tokens. It begins with a line if a line
// begins in its first fifth.
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

// weigh returns the share of a character in a token, in twelfths.
func weigh(c rune) int {
	if c < utf8.RuneSelf {
		return 3
	}
	return 8
}
