package toolcall

import (
	"encoding/json"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/llm"
	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
)

// beginLisp finds (NAME :… where NAME is an offered function. Models write that which were shown calls as
// lists.
func beginLisp(text string, tools tools) (is, open bool) {
	inner, ok := strings.CutPrefix(text, "(")
	if !ok {
		return false, text == ""
	}
	end := strings.IndexAny(inner, " \n)")
	if end < 0 {
		_, begins := tools.prefix(strings.TrimPrefix(inner, ":"))
		return false, begins
	}
	one, _ := tools.prefix(strings.TrimPrefix(inner[:end], ":"))
	after := strings.TrimLeft(inner[end:], " \n")
	return one && after != "" && (after[0] == ':' || after[0] == ')'), one && after == ""
}

// readLisp reads calls that beginLisp found, one behind the other.
func readLisp(text string, tools tools) (calls []llm.FunctionCall, rest string, ok bool) {
	rest = text
	for {
		if is, _ := beginLisp(rest, tools); !is {
			return calls, rest, len(calls) > 0
		}
		end := closing(rest)
		if end < 0 {
			return calls, rest, len(calls) > 0
		}
		x, err := plist.Read(rest[:end])
		list, isList := x.(sexp.List)
		if err != nil || !isList || len(list) == 0 {
			return calls, rest, len(calls) > 0
		}
		name, _ := tools.named(strings.TrimPrefix(plist.Print(list[0]), ":"))
		var fields protocol.Object
		if len(list) > 1 && plist.Unmarshal(list[1:], &fields) != nil {
			return calls, rest, len(calls) > 0
		}
		arguments, err := json.Marshal(fields)
		if err != nil {
			return calls, rest, len(calls) > 0
		}
		calls, rest = append(calls, llm.FunctionCall{Name: name, Arguments: string(arguments)}), strings.TrimLeft(rest[end:], " \n")
	}
}

// closing returns the offset behind the parenthesis that closes the one with which a text begins, or -1.
func closing(text string) int {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}
