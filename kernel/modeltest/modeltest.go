// Package modeltest measures what a model does in each dialect. Its tasks are data: a question, files, tools
// with their results, and what is expected. Each is done by a whole kernel in a home of its own, which is
// made for it and removed: what a model is sent, how its calls are read and judged, and what becomes of them
// are those of every conversation. Nothing of a person is in that home.
//
// Tasks are done one after another. When [Runner.Run] returns, the kernels that it started have ended and
// their homes are removed.
package modeltest

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
)

//go:embed tasks/*.txtar
var embedded embed.FS

// Task is one task: what a model is asked, and what is expected of it.
type Task struct {
	Name string // of its file
	Kind string // tasks of one kind are counted together
	Does string // what a model does that passes, in one line

	questions []string // of one conversation
	files     map[string]string
	after     map[string]string // what becomes of files; all others stay as they are
	tools     []*scriptedTool
	expect    []expectation
	good      [][]reply // scripts of replies with which the task passes, and with which it fails
	wrong     [][]reply
}

// Embedded returns the tasks that the program has.
func Embedded() ([]Task, error) { return read(embedded, "tasks", "") }

// Directory returns the tasks in a directory. There are none if it does not exist. An error names the file
// and what to change in it.
func Directory(path string) ([]Task, error) {
	tasks, err := read(os.DirFS(path), ".", path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return tasks, err
}

// read reads the tasks of a directory of a file system, in the order of their names. shown is the name of
// the directory for people.
func read(files fs.FS, directory, shown string) (tasks []Task, err error) {
	entries, err := fs.ReadDir(files, directory)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		name, is := strings.CutSuffix(entry.Name(), ".txtar")
		if entry.IsDir() || !is || strings.HasPrefix(name, ".") {
			continue
		}
		at := filepath.Join(shown, entry.Name())
		text, err := fs.ReadFile(files, path.Join(directory, entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("read the task %s: %w", at, err)
		}
		task, err := Parse(name, text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
		tasks = append(tasks, task)
	}
	return tasks, nil
}

// Parse reads a task. Its error says what to change. A task that an empty answer passes, the
// question as an answer, or a reply of its own section "wrong", measures nothing and is an error.
func Parse(name string, text []byte) (Task, error) {
	archive := txtar.Parse(text)
	t := Task{Name: name, files: map[string]string{}, after: map[string]string{}}
	heading, _, _ := strings.Cut(strings.TrimSpace(string(archive.Comment)), "\n")
	kind, does, found := strings.Cut(heading, ":")
	t.Kind, t.Does = strings.TrimSpace(kind), strings.TrimSpace(does)
	if !found || t.Kind == "" || t.Does == "" || strings.ContainsAny(t.Kind, " |\t") {
		return t, errors.New(`the first line is "KIND: WHAT A MODEL DOES", with a kind of one word`)
	}
	for _, section := range archive.Files {
		word, rest, _ := strings.Cut(section.Name, " ")
		if err := t.section(word, strings.TrimSpace(rest), string(section.Data)); err != nil {
			return t, fmt.Errorf("the section %q: %w", section.Name, err)
		}
	}
	return t, t.check()
}

// section reads one section of a task.
func (t *Task) section(word, rest, text string) (err error) {
	switch word {
	case "question":
		t.questions = append(t.questions, strings.TrimSpace(text))
	case "file", "after":
		to := t.files
		if word == "after" {
			to = t.after
		}
		if !filepath.IsLocal(rest) || strings.HasPrefix(rest, "sessions/") || strings.HasPrefix(rest, "skills/") || rest == "config.org" || rest == "policy.org" {
			return errors.New("this is no file of a task: it has a relative name, and is none that the kernel reads itself")
		}
		to[rest] = text
	case "tool":
		return t.addTool(rest, text)
	case "result", "failure":
		return t.addResult(word == "failure", rest, text)
	case "expect":
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			e, err := parseExpectation(line)
			if err != nil {
				return fmt.Errorf("the line %q: %w", line, err)
			}
			t.expect = append(t.expect, e)
		}
	case "good", "wrong":
		script, err := parseReplies(text)
		if err != nil {
			return err
		}
		if word == "good" {
			t.good = append(t.good, script)
		} else {
			t.wrong = append(t.wrong, script)
		}
	default:
		return errors.New("sections are question, file NAME, after NAME, tool NAME, result TOOL, failure TOOL, expect, good and wrong")
	}
	return nil
}

// check checks that a task asks something, and that it can be failed.
func (t *Task) check() error {
	if len(t.questions) == 0 || slices.Contains(t.questions, "") {
		return errors.New("it needs a section \"question\" with what the model is asked")
	}
	if len(t.expect) == 0 && len(t.after) == 0 {
		return errors.New("it needs a section \"expect\" with what is expected")
	}
	if len(t.Failures(Outcome{Answered: true, Files: t.files})) == 0 {
		return errors.New("a model that does and says nothing would pass: expect something that it has to do or say")
	}
	if len(t.Failures(Outcome{Answered: true, Answer: t.questions[len(t.questions)-1], Files: t.files})) == 0 {
		return errors.New("a model that repeats the question would pass: expect something that the question does not say")
	}
	for i, script := range t.wrong {
		if len(t.Failures(t.pretended(script))) == 0 {
			return fmt.Errorf("its wrong reply %d passes: expect more, or mend the reply", i+1)
		}
	}
	return nil
}

// Kinds returns the kinds of tasks in the order in which they first occur.
func Kinds(tasks []Task) (kinds []string) {
	for _, t := range tasks {
		if !slices.Contains(kinds, t.Kind) {
			kinds = append(kinds, t.Kind)
		}
	}
	return kinds
}
