package modeltest

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// scriptedTool is a tool that only a task has. Its results stand in the task.
type scriptedTool struct {
	name, does string
	arguments  [][2]string // names, and what they are; all are required strings
	results    []scriptedResult
}

// scriptedResult is the result of calls whose arguments are like these. The first that fits is used.
type scriptedResult struct {
	conditions [][2]string // an argument, and its value in any case
	text       string
	failure    bool
}

// word matches the names of tools and arguments.
var word = regexp.MustCompile(`^[a-z][a-z0-9-]{0,30}$`)

// addTool reads a section "tool NAME": a line with what the tool does, and "ARGUMENT: WHAT IT IS" for each
// argument.
func (t *Task) addTool(name, text string) error {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	tool := &scriptedTool{name: name, does: strings.TrimSpace(lines[0])}
	if !word.MatchString(name) || tool.does == "" {
		return errors.New("a tool has a name of small letters, and a line that says what it does")
	}
	for _, line := range lines[1:] {
		argument, is, found := strings.Cut(line, ":")
		if argument = strings.TrimSpace(argument); !found || !word.MatchString(argument) {
			return fmt.Errorf("the line %q is not: ARGUMENT: WHAT IT IS", line)
		}
		tool.arguments = append(tool.arguments, [2]string{argument, strings.TrimSpace(is)})
	}
	t.tools = append(t.tools, tool)
	return nil
}

// addResult reads a section "result TOOL ARGUMENT=VALUE…", whose text is the result. "failure" is the same
// for a call that fails.
func (t *Task) addResult(failure bool, rest, text string) error {
	words := strings.Fields(rest)
	at := slices.IndexFunc(t.tools, func(tool *scriptedTool) bool { return len(words) > 0 && tool.name == words[0] })
	if at < 0 {
		return errors.New("the name of a tool follows, whose section \"tool\" stands above")
	}
	result := scriptedResult{text: strings.TrimSpace(text), failure: failure}
	for _, condition := range words[1:] {
		argument, value, found := strings.Cut(condition, "=")
		if !found {
			return fmt.Errorf("%q is not ARGUMENT=VALUE", condition)
		}
		result.conditions = append(result.conditions, [2]string{argument, value})
	}
	t.tools[at].results = append(t.tools[at].results, result)
	return nil
}

// note returns the note that defines the tools of a task, "" if it has none. It is granted nothing, so its
// calls need nobody's yes.
func (t *Task) note() string {
	if len(t.tools) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("#+TITLE: Tools of a task\n\n#+begin_src lisp\n")
	for _, tool := range t.tools {
		tool.write(&b)
	}
	b.WriteString("#+end_src\n")
	return b.String()
}

// write writes the definition of the tool.
func (s *scriptedTool) write(b *strings.Builder) {
	fmt.Fprintf(b, "(def-cognitive-tool :%s %s\n  (", s.name, lispString(s.does))
	for _, argument := range s.arguments {
		fmt.Fprintf(b, "(:%s :type :string :required t :description %s) ", argument[0], lispString(argument[1]))
	}
	b.WriteString(")\n  :body (lambda (args) (declare (ignorable args)) (cond\n")
	for _, result := range s.results {
		b.WriteString("    ((and t")
		for _, condition := range result.conditions {
			fmt.Fprintf(b, " (string-equal (getf args :%s) %s)", condition[0], lispString(condition[1]))
		}
		answer := lispString(result.text)
		if result.failure {
			answer = fmt.Sprintf("(error \"~a\" %s)", answer)
		}
		fmt.Fprintf(b, ") %s)\n", answer)
	}
	fmt.Fprintf(b, "    (t (error \"~a\" \"there is no result for these arguments\")))))\n")
}

// lispString returns a text as a string of Lisp.
func lispString(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
