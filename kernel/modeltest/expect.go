package modeltest

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"org-agent/kernel/text"
)

// Outcome is what came of a task.
type Outcome struct {
	// Answered reports whether the last question was answered, by Answer, in the words of the model.
	Answered bool
	Answer   string
	Calls    []Call // in their order
	// Files are the task's files as they are in the end. One that is missing was removed.
	Files map[string]string
	// Refused are the actions that would have needed a person.
	Refused []string
}

// Call is a call of a tool that was proposed.
type Call struct {
	Tool string
	// Arguments are strings, integers, floats, true, nil, or lists of them. Names of files are relative to
	// the home.
	Arguments map[string]any
	// Performed is false for a call that was refused or failed.
	Performed bool
}

// expectation is one line of what is expected of an outcome.
type expectation struct {
	file string // that may change, or ""
	// failure returns why the outcome is not as expected, or "".
	failure func(o Outcome) string
}

// Failures returns what is not as the task expects, nothing if it passed.
func (t *Task) Failures(o Outcome) (failures []string) {
	if !o.Answered {
		failures = append(failures, "it gave no answer")
	}
	for _, action := range o.Refused {
		failures = append(failures, "it wanted what nobody had asked for: "+action)
	}
	for _, e := range t.expect {
		if failure := e.failure(o); failure != "" {
			failures = append(failures, failure)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.files)) {
		_, changes := t.after[name]
		changes = changes || slices.ContainsFunc(t.expect, func(e expectation) bool { return e.file == name })
		if !changes && o.Files[name] != t.files[name] {
			failures = append(failures, "it changed "+name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.after)) {
		switch is, there := o.Files[name]; {
		case !there:
			failures = append(failures, "there is no "+name)
		case strings.TrimRight(is, "\n") == strings.TrimRight(t.after[name], "\n"): // the last line may end or not
		case is == t.files[name]:
			failures = append(failures, "it did not change "+name)
		default:
			failures = append(failures, fmt.Sprintf("%s is not as expected: %s", name, excerpt(is)))
		}
	}
	return failures
}

// excerpt returns the beginning of a text in one line.
func excerpt(of string) string {
	const longest = 100
	return strconv.Quote(text.Clip(text.Line(of), longest))
}

// parseExpectation reads one line of a section "expect".
func parseExpectation(line string) (e expectation, err error) {
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "says", "omits":
		e.failure, err = says(rest, word == "says")
	case "calls", "calls-any", "avoids":
		e.failure, err = calls(strings.Fields(rest), word)
	case "has", "lacks":
		e.file, e.failure, err = has(rest, word == "has")
	case "heading":
		e.failure, err = says(`\A\*+ \S`, true)
	case "words", "lines":
		e.failure, err = atMost(word, rest)
	case "at-most":
		e.failure, err = callsAtMost(rest)
	default:
		err = errors.New("an expectation is says, omits, heading, words, lines, calls, calls-any, avoids, at-most, has or lacks")
	}
	return e, err
}

// says expects of the answer that it matches an expression, or that it does not. Case does not count, and
// a dot matches the end of a line.
func says(expression string, wanted bool) (func(Outcome) string, error) {
	if expression == "" {
		return nil, errors.New("an expression follows")
	}
	pattern, err := regexp.Compile("(?is)" + expression)
	if err != nil {
		return nil, err
	}
	return func(o Outcome) string {
		if pattern.MatchString(o.Answer) == wanted {
			return ""
		}
		if wanted {
			return fmt.Sprintf("its answer does not have /%s/: %s", expression, excerpt(o.Answer))
		}
		return fmt.Sprintf("its answer has /%s/: %s", expression, excerpt(o.Answer))
	}, nil
}

// has expects that a file matches an expression, or that it does not.
func has(rest string, wanted bool) (file string, failure func(Outcome) string, err error) {
	file, expression, found := strings.Cut(rest, " ")
	if !found {
		return "", nil, errors.New("the name of a file and an expression follow")
	}
	pattern, err := regexp.Compile(expression)
	if err != nil {
		return "", nil, err
	}
	return file, func(o Outcome) string {
		if pattern.MatchString(o.Files[file]) == wanted {
			return ""
		}
		return fmt.Sprintf("%s is not as expected (/%s/): %s", file, expression, excerpt(o.Files[file]))
	}, nil
}

// calls expects that a tool was called and did what it does ("calls"), that its call was at least tried
// ("calls-any"), or that it was not ("avoids"): NAME, and then ARGUMENT=TEXT or ARGUMENT~EXPRESSION as
// needed. "avoids" alone expects no call at all.
func calls(words []string, how string) (func(Outcome) string, error) {
	wanted := how != "avoids"
	if len(words) == 0 && wanted {
		return nil, errors.New("the name of a tool follows")
	}
	var conditions []condition
	for _, word := range words[min(1, len(words)):] {
		c, err := parseCondition(word)
		if err != nil {
			return nil, err
		}
		conditions = append(conditions, c)
	}
	return func(o Outcome) string {
		fits := func(c Call) bool {
			return (len(words) == 0 || sameTool(c.Tool, words[0])) && (c.Performed || how != "calls") &&
				!slices.ContainsFunc(conditions, func(one condition) bool { return !one.holds(c.Arguments) })
		}
		switch at := slices.IndexFunc(o.Calls, fits); {
		case wanted && at < 0:
			return fmt.Sprintf("it did not call %s%s", strings.Join(words, " "), called(o.Calls))
		case !wanted && at >= 0:
			return "it called " + o.Calls[at].Tool
		}
		return ""
	}, nil
}

// called says which tools were called instead.
func called(calls []Call) string {
	if len(calls) == 0 {
		return ", nor any other tool"
	}
	var names []string
	for _, c := range calls {
		how := ""
		if !c.Performed {
			how = " (in vain)"
		}
		names = append(names, c.Tool+how)
	}
	return ", but " + strings.Join(names, ", ")
}

func sameTool(one, other string) bool {
	spelled := func(name string) string { return strings.ToLower(strings.ReplaceAll(name, "-", "_")) }
	return spelled(one) == spelled(other)
}

// condition is what is expected of an argument.
type condition struct {
	argument string
	holdsFor func(value string) bool
}

func parseCondition(word string) (c condition, err error) {
	at := strings.IndexAny(word, "=~")
	if at < 1 {
		return c, fmt.Errorf("%q is not ARGUMENT=TEXT or ARGUMENT~EXPRESSION", word)
	}
	c.argument = word[:at]
	value := word[at+1:]
	if word[at] == '=' {
		c.holdsFor = func(given string) bool { return strings.EqualFold(given, value) }
		return c, nil
	}
	pattern, err := regexp.Compile("(?is)" + value)
	if err == nil {
		c.holdsFor = pattern.MatchString
	}
	return c, err
}

func (c condition) holds(arguments map[string]any) bool {
	for name, value := range arguments {
		if strings.EqualFold(name, c.argument) {
			return c.holdsFor(fmt.Sprint(value))
		}
	}
	return false
}

// atMost expects an answer of at least one and at most so many words or lines.
func atMost(what, number string) (func(Outcome) string, error) {
	most, err := strconv.Atoi(number)
	if err != nil || most < 1 {
		return nil, errors.New("a number from 1 up follows")
	}
	return func(o Outcome) string {
		has := len(strings.Fields(o.Answer))
		if what == "lines" {
			has = len(strings.FieldsFunc(o.Answer, func(c rune) bool { return c == '\n' }))
		}
		if has > most || has == 0 {
			return fmt.Sprintf("its answer has %d %s, and at most %d are expected", has, what, most)
		}
		return ""
	}, nil
}

// callsAtMost expects at most so many calls.
func callsAtMost(number string) (func(Outcome) string, error) {
	most, err := strconv.Atoi(number)
	if err != nil || most < 0 {
		return nil, errors.New("a number follows")
	}
	return func(o Outcome) string {
		if len(o.Calls) > most {
			return fmt.Sprintf("it made %d calls, and %d are enough", len(o.Calls), most)
		}
		return ""
	}, nil
}
