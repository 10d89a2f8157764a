package openai

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// textOf returns the text of a JSON value. For a string that is its bytes as they were sent, valid
// UTF-8 or not. For a list of parts it is the bytes of their texts. For anything else it is empty.
func textOf(raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return nil
	}
	switch raw[0] {
	case '"':
		return unquote(raw)
	case '[':
		var parts []struct {
			Text json.RawMessage `json:"text"`
		}
		if json.Unmarshal(raw, &parts) != nil {
			return nil
		}
		var all []byte
		for _, p := range parts {
			all = append(all, textOf(p.Text)...)
		}
		return all
	}
	return nil
}

// unquote returns the bytes that a JSON string stands for. The string is valid except for its
// encoding. Half a surrogate pair becomes the three bytes that UTF-8 would have for it; the joiner
// puts the halves together.
func unquote(quoted []byte) []byte {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	out := make([]byte, 0, len(inner))
	for i := 0; i < len(inner); i++ {
		c := inner[i]
		if c != '\\' {
			out = append(out, c)
			continue
		}
		i++
		switch inner[i] {
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'u':
			unit, _ := strconv.ParseUint(string(inner[i+1:i+5]), 16, 16)
			out = appendUnit(out, rune(unit))
			i += 4
		default:
			out = append(out, inner[i])
		}
	}
	return out
}

// appendUnit appends a UTF-16 code unit.
func appendUnit(out []byte, unit rune) []byte {
	if utf16.IsSurrogate(unit) {
		return append(out, 0xE0|byte(unit>>12), 0x80|byte(unit>>6)&0xBF, 0x80|byte(unit)&0xBF)
	}
	return utf8.AppendRune(out, unit)
}

// joiner puts characters together that were cut in half between two deltas. The zero value is
// ready. It stores at most a few bytes.
type joiner struct {
	rest []byte // the beginning of a character
}

// join returns the text that is complete with these bytes. Bytes that cannot become a character are
// U+FFFD.
func (j *joiner) join(data []byte) string {
	if len(data) == 0 {
		return ""
	}
	if len(j.rest) == 0 && utf8.Valid(data) {
		return string(data)
	}
	data = append(j.rest, data...)
	out := make([]byte, 0, len(data))
	for len(data) > 0 {
		r, size := decodeUnit(data)
		if size == 0 {
			break
		}
		out = utf8.AppendRune(out, r)
		data = data[size:]
	}
	j.rest = append([]byte(nil), data...)
	return string(out)
}

// flush returns U+FFFD if a character is incomplete, and otherwise "".
func (j *joiner) flush() string {
	if len(j.rest) == 0 {
		return ""
	}
	j.rest = nil
	return string(utf8.RuneError)
}

// decodeUnit returns the first character and its size in bytes. The size is 0 if more bytes are
// needed. A pair of surrogates is one character.
func decodeUnit(data []byte) (rune, int) {
	if high, ok := surrogate(data); ok {
		if high >= 0xDC00 {
			return utf8.RuneError, 3
		}
		if low, ok := surrogate(data[3:]); ok {
			if r := utf16.DecodeRune(high, low); r != utf8.RuneError {
				return r, 6
			}
		} else if mayBeSurrogate(data[3:]) {
			return 0, 0
		}
		return utf8.RuneError, 3
	}
	if !utf8.FullRune(data) || len(data) < 3 && mayBeSurrogate(data) {
		return 0, 0
	}
	return utf8.DecodeRune(data)
}

// surrogate returns the surrogate that data begins with.
func surrogate(data []byte) (rune, bool) {
	if len(data) < 3 || data[0] != 0xED || data[1] < 0xA0 || data[1] > 0xBF || data[2]&0xC0 != 0x80 {
		return 0, false
	}
	return 0xD000 | rune(data[1]&0x3F)<<6 | rune(data[2]&0x3F), true
}

// mayBeSurrogate reports whether data is the beginning of a surrogate.
func mayBeSurrogate(data []byte) bool {
	switch len(data) {
	case 0:
		return true
	case 1:
		return data[0] == 0xED
	case 2:
		return data[0] == 0xED && data[1] >= 0xA0 && data[1] <= 0xBF
	}
	return false
}
