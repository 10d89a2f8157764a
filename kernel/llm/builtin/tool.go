package builtin

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"org-agent/kernel/llm"
)

// wanted finds the skill that a message wants used: "use the skill garden", "read the
// garden skill".
var wanted = regexp.MustCompile(`(?i)^\W*(?:please\s+)?(?:use|read|show|open)\s+(?:me\s+)?(?:the\s+)?(?:skill\s+\W?([a-z0-9-]+)|([a-z0-9-]+)\s+skill\b)`)

// callFor is the call that reads the skill which the last message wants, if there is one of
// that name and the system prompt offers the tool.
func callFor(said []string, system string, about About) (call string, ok bool) {
	if len(said) == 0 || !strings.Contains(system, "use_skill (") {
		return "", false
	}
	found := wanted.FindStringSubmatch(said[len(said)-1])
	if found == nil {
		return "", false
	}
	name := strings.ToLower(found[1] + found[2])
	if !slices.ContainsFunc(about.Texts, func(item Item) bool { return item.Name == name }) {
		return "", false
	}
	return fmt.Sprintf(`(:type :REQUEST :target :tool :action :call :tool "use_skill" :args (:name %q))`, name), true
}

// shownText is how many characters of a tool's result are shown.
const shownText = 3000

// answerToResult shows what became of the call, when that is the last message.
func answerToResult(messages []llm.Message) (answer string, ok bool) {
	if len(messages) == 0 || !messages[len(messages)-1].Result {
		return "", false
	}
	list, _, _ := strings.Cut(messages[len(messages)-1].Content, "\n")
	from, to, ok := textOf(list)
	if !ok {
		return "* That did not work\nNothing came back that I can read.", true
	}
	text := unescape(list[from:to])
	if !strings.Contains(list[:from], ":verdict :performed") {
		return "* That did not work\n" + text, true
	}
	return "* What came back\n" + example(text) + "\nI only show it. A language model would do what it says, as far as you asked for it.", true
}

// unescape takes back what is escaped in the string of a property list.
func unescape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
			if at := strings.IndexByte("ntr", text[i]); at >= 0 {
				b.WriteByte("\n\t\r"[at])
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// example is a text as an Org block in which nothing means anything.
func example(text string) string {
	runes := []rune(strings.TrimSpace(text))
	end := ""
	if len(runes) > shownText {
		runes, end = runes[:shownText], "…\n"
	}
	lines := strings.Split(string(runes), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "*") || strings.HasPrefix(line, "#+") || strings.HasPrefix(line, ",") {
			lines[i] = "," + line
		}
	}
	return "#+begin_example\n" + strings.Join(lines, "\n") + "\n" + end + "#+end_example"
}
