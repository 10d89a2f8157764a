package openai_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"

	"org-agent/kernel/llm/openai"
)

// TestTextWhereverItIsCut checks that a text cut between any two bytes, or between any two escaped
// UTF-16 units, is complete in the end.
func TestTextWhereverItIsCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := strings.ToValidUTF8(rapid.String().Draw(t, "whole"), "?")
		var quoted []json.RawMessage
		if rapid.Bool().Draw(t, "escaped") {
			for _, unit := range utf16.Encode([]rune(whole)) {
				quoted = append(quoted, json.RawMessage(fmt.Sprintf(`"\u%04x"`, unit)))
			}
		} else {
			for rest := whole; rest != ""; {
				n := rapid.IntRange(1, len(rest)).Draw(t, "bytes")
				quoted = append(quoted, rawString(rest[:n]))
				rest = rest[n:]
			}
		}
		if got := openai.JoinStrings(quoted); got != whole {
			t.Fatalf("got %q, want %q, from %s", got, whole, quoted)
		}
	})
}

// rawString quotes bytes, including half characters.
func rawString(bytes string) json.RawMessage {
	out := []byte{'"'}
	for i := range len(bytes) {
		if c := bytes[i]; c < ' ' || c == '"' || c == '\\' {
			out = fmt.Appendf(out, `\u%04x`, c)
		} else {
			out = append(out, c)
		}
	}
	return append(out, '"')
}

// FuzzText checks that a JSON string decodes as encoding/json decodes it, if that keeps the text,
// and always to UTF-8.
func FuzzText(f *testing.F) {
	f.Add(`"a\"b\\\/\b\f\n\r\t\u00e9\ud83d\ude42"`)
	f.Add(`"\ud83d\ud83d\ude42"`)
	f.Add("\"\xed\xa0\xbd\xed\xb9\x82 \xff\"")
	f.Fuzz(func(t *testing.T, quoted string) {
		var want string
		var list []json.RawMessage // a raw value in it has no blanks around it
		if json.Unmarshal([]byte("["+quoted+"]"), &list) != nil || len(list) != 1 || json.Unmarshal(list[0], &want) != nil || list[0][0] != '"' {
			return
		}
		got := openai.JoinStrings(list)
		if !utf8.ValidString(got) {
			t.Fatalf("%q is not UTF-8", got)
		}
		if utf8.ValidString(quoted) && got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}
