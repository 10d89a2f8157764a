package inert

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// A headerArgument is one ":key value" of a line, with the places of its parts.
type headerArgument struct {
	key        string // in lower case, without its colon
	value      string
	at, value0 int // of the colon and of the value
}

// argumentMarks returns the header arguments of a line, from an offset on, that are held. exports is
// true when the line says ":exports code" or ":exports none".
func argumentMarks(l string, from int) (marks []mark, exports bool) {
	arguments, first := headerArguments(l, from)
	for _, at := range evaluatedWords(l, from, first) {
		marks = append(marks, mark{at, Argument, "a value that Emacs would evaluate"})
	}
	for _, a := range arguments {
		if a.heldName() {
			marks = append(marks, mark{a.at + 1, Argument, "the header argument :" + a.key})
		}
		if isEvaluated(a.value) {
			marks = append(marks, mark{a.value0, Argument, "a value that Emacs would evaluate"})
		}
		if a.key == "exports" {
			exports = a.value == "code" || a.value == "none"
		}
	}
	return marks, exports
}

// headerArguments cuts a line as Org does, at a blank with a colon behind it. first is where the first
// one begins.
func headerArguments(l string, from int) (arguments []headerArgument, first int) {
	var starts []int
	for i := from; i < len(l); i++ {
		switch {
		case l[i] == ':' && (i == from || l[i-1] == ' ' || l[i-1] == '\t'):
			starts = append(starts, i)
		case l[i] == '"' && (i == from || l[i-1] != '\\'):
			if end := stringEnd(l, i); end > 0 {
				i = end
			}
		}
	}
	if len(starts) == 0 {
		return nil, len(l)
	}
	for k, start := range starts {
		end := len(l)
		if k+1 < len(starts) {
			end = starts[k+1]
		}
		key, value := cutWord(l[start+1 : end])
		value0 := start + 1 + len(key) + indentation(value)
		arguments = append(arguments, headerArgument{strings.ToLower(key), strings.Trim(value, " \t"), start, min(value0, len(l))})
	}
	return arguments, starts[0]
}

// stringEnd returns the place of the quote that ends the string that begins at a quote, 0 if none does.
func stringEnd(l string, start int) int {
	for i := start + 1; i < len(l); i++ {
		if l[i] == '"' && l[i-1] != '\\' {
			return i
		}
	}
	return 0
}

// evaluatedWords returns the words before the first argument that Org may take for a value and evaluate.
func evaluatedWords(l string, from, end int) []int {
	var places []int
	for i := from; i < end; i++ {
		if (i == from || l[i-1] == ' ' || l[i-1] == '\t') && isEvaluated(l[i:end]) {
			places = append(places, i)
		}
	}
	return places
}

// isEvaluated reports whether Org evaluates a value.
func isEvaluated(value string) bool {
	return value != "" && strings.IndexByte("('`[", value[0]) >= 0 || value == "*this*"
}

// evaluation are the values of :eval that do not make a block run more often.
var evaluation = []string{"", "no", "never", "query", "no-export", "never-export", "query-export", "strip-export"}

// heldName reports whether an argument is held, whatever its value begins with.
func (a headerArgument) heldName() bool {
	value := a.value
	if text, ok := strings.CutPrefix(value, `"`); ok {
		value = strings.TrimSuffix(text, `"`)
	}
	switch a.key {
	case "var":
		return !literals.MatchString(a.value)
	case "eval":
		return !slices.Contains(evaluation, value)
	case "exports":
		return slices.ContainsFunc(strings.Fields(value), func(word string) bool { return word == "results" || word == "both" })
	case "noweb":
		return value != "no" && value != ""
	case "tangle":
		return value != "yes" && value != "no" && value != "" && !isInside(value)
	case "file", "output-dir":
		return value != "" && !isInside(value)
	}
	return rules.arguments[a.key]
}

// literals matches assignments of numbers and strings.
var literals = regexp.MustCompile(`^(?:[^\s=,"()\[\]]+[ \t]*=[ \t]*(?:-?[0-9]+(?:\.[0-9]+)?|"(?:[^"\\]|\\.)*")(?:[ \t]*,?[ \t]+|,|$))+$`)

// isInside reports whether a file's name is one within the directory that neither is hidden nor
// decides what a program or the agent does.
func isInside(name string) bool {
	if strings.ContainsAny(name, "\\:$\"`|;<>*?") || strings.HasPrefix(name, "/") || strings.HasPrefix(name, "~") {
		return false
	}
	parts := strings.Split(name, "/")
	for i, part := range parts {
		if part == "." && i == 0 {
			continue
		}
		if strings.HasPrefix(part, ".") || i+1 < len(parts) && rules.startupDirs[strings.ToLower(part)] {
			return false
		}
	}
	return !rules.startup[strings.ToLower(path.Base(name))]
}
