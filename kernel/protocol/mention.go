package protocol

import (
	"regexp"
	"strings"
)

// mention matches @NAME as a word of a message. NAME may be the name of a preset: letters,
// digits, - and _.
var mention = regexp.MustCompile(`(^|[ \t(])@([\p{L}\p{N}_-]+)`)

// Mentioned returns the known names that a message has behind an at sign, in their order.
// Text in blocks is quoted and does not count.
func Mentioned(text string, known func(name string) bool) []string {
	var names []string
	editMentions(text, func(name string) bool {
		if known(name) {
			names = append(names, name)
		}
		return false
	})
	return names
}

// WithoutMentions returns a message without the mentions of these names.
func WithoutMentions(text string, names []string) string {
	if len(names) == 0 {
		return text
	}
	return strings.TrimSpace(editMentions(text, func(name string) bool {
		for _, other := range names {
			if strings.EqualFold(name, other) {
				return true
			}
		}
		return false
	}))
}

// editMentions calls take with each name behind an at sign outside of blocks. It returns
// the text without the mentions for which take returns true.
func editMentions(text string, take func(name string) bool) string {
	if !strings.Contains(text, "@") {
		return text
	}
	var out strings.Builder
	block := ""
	for line := range strings.Lines(text) {
		word := strings.ToLower(strings.TrimLeft(line, " \t"))
		if block == "" && strings.HasPrefix(word, "#+begin_") && len(strings.Fields(word[8:])) > 0 {
			block = strings.Fields(word[8:])[0]
		} else if block != "" && strings.TrimSpace(word) == "#+end_"+block {
			block = ""
		}
		if block == "" {
			line = editLine(line, take)
		}
		out.WriteString(line)
	}
	return out.String()
}

func editLine(line string, take func(name string) bool) string {
	var out strings.Builder
	from := 0
	for _, at := range mention.FindAllStringSubmatchIndex(line, -1) {
		start, end := at[3], at[1]
		// A name goes on in neither direction: @a.b, @a/b and @a@b are other things.
		if rest := line[end:]; strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, "@") || isJoined(rest) || !take(line[at[4]:end]) {
			continue
		}
		behind := len(line[end:]) - len(strings.TrimLeft(line[end:], " \t"))
		if end += behind; behind == 0 {
			start = max(from, len(strings.TrimRight(line[:start], " \t")))
		}
		out.WriteString(line[from:start])
		from = end
	}
	return out.String() + line[from:]
}

// isJoined reports whether a dot binds what follows to the name before it.
func isJoined(rest string) bool {
	return len(rest) > 1 && rest[0] == '.' && rest[1] != ' ' && rest[1] != '\t' && rest[1] != '\n' && rest[1] != '\r'
}
