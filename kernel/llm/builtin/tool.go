package builtin

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"org-agent/kernel/llm"
)

// wantedSkill matches a message that asks to use a skill: "use the skill garden", "read the garden
// skill".
var wantedSkill = regexp.MustCompile(`(?i)^\W*(?:please\s+)?(?:use|read|show|open)\s+(?:me\s+)?(?:the\s+)?(?:skill\s+\W?([a-z0-9-]+)|([a-z0-9-]+)\s+skill\b)`)

// skillReader is the tool that reads skills.
const skillReader = "use_skill"

// callFor returns the call that reads the skill which the last message asks for. ok is false if
// there is no such skill or the tool is not offered.
func callFor(messages []string, tools []llm.Tool, about About) (call string, ok bool) {
	if len(messages) == 0 || !slices.ContainsFunc(tools, func(t llm.Tool) bool { return t.Name == skillReader }) {
		return "", false
	}
	found := wantedSkill.FindStringSubmatch(messages[len(messages)-1])
	if found == nil {
		return "", false
	}
	name := strings.ToLower(found[1] + found[2])
	if !slices.ContainsFunc(about.Texts, func(item Item) bool { return item.Name == name }) {
		return "", false
	}
	return fmt.Sprintf(`(:type :REQUEST :target :tool :action :call :tool %q :args (:name %q))`, skillReader, name), true
}

// shownText is how many characters of a tool's result are shown.
const shownText = 3000

// lastResult returns the result of the last call, if there is no answer after it.
func lastResult(messages []llm.Message) (result llm.Result, ok bool) {
	for _, m := range slices.Backward(messages) {
		if m.Role == llm.RoleAssistant {
			break
		}
		if all := m.Results(); len(all) > 0 {
			return all[len(all)-1], true
		}
	}
	return llm.Result{}, false
}

// answerToResult returns the answer that shows the result of a call.
func answerToResult(result llm.Result) string {
	if result.Verdict != "performed" {
		return "* That did not work\n" + result.Text
	}
	return "* What came back\n" + example(result.Text) + "\nI only show it. A language model would do what it says, as far as you asked for it."
}

// example returns a text as an Org block in which nothing has a meaning.
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
