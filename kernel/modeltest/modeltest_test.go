package modeltest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/modeltest"
)

// TestEmbedded checks the tasks of the program: forty, four of each kind, each with a script with which it passes
// and one with which it does not. Parse fails for a task that an empty answer or one of its wrong replies passes.
func TestEmbedded(t *testing.T) {
	tasks, err := modeltest.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, task := range tasks {
		count[task.Kind]++
		if len(task.Good()) == 0 || len(task.Wrong()) == 0 {
			t.Errorf("%s has no section good, or none wrong", task.Name)
		}
		if !strings.HasPrefix(task.Name, task.Kind+"-") {
			t.Errorf("%s is of the kind %s", task.Name, task.Kind)
		}
	}
	for _, kind := range modeltest.Kinds(tasks) {
		if count[kind] != 4 {
			t.Errorf("%d tasks are of the kind %s", count[kind], kind)
		}
	}
	if len(tasks) != 40 {
		t.Errorf("there are %d tasks", len(tasks))
	}
}

// TestFaultyTasks checks that a task which measures nothing, or cannot be read, is an error that says what to change.
func TestFaultyTasks(t *testing.T) {
	const question = "answer: It answers.\n-- question --\nWhat?\n"
	for text, want := range map[string]string{
		"": "the first line", "no kind\n": "the first line",
		"answer: x\n-- expect --\nsays b\n":                          `needs a section "question"`,
		question:                                                     `needs a section "expect"`,
		question + "-- expect --\nomits banana\n":                    "does and says nothing would pass",
		question + "-- expect --\navoids\nat-most 3\n":               "does and says nothing would pass",
		question + "-- file a --\nx\n-- after a --\nx\n":             "does and says nothing would pass",
		question + "-- expect --\nsays b\n-- wrong --\nA b.\n":       "its wrong reply 1 passes",
		question + "-- expect --\nsays what\n":                       "repeats the question would pass",
		question + "-- expect --\nsays (\n":                          "missing closing",
		question + "-- expect --\nwords many\n":                      "a number",
		question + "-- expect --\nsings\n":                           "an expectation is",
		question + "-- expect --\ncalls read path\n":                 "ARGUMENT=TEXT",
		question + "-- expect --\nhas a\n":                           "an expression",
		question + "-- files --\n":                                   "sections are",
		question + "-- file ../x --\n":                               "no file of a task",
		question + "-- file policy.org --\n":                         "no file of a task",
		question + "-- result x --\nno\n":                            "whose section \"tool\"",
		question + "-- tool X --\nDoes.\n":                           "a tool has a name",
		question + "-- tool x --\nDoes.\nno argument\n":              "ARGUMENT: WHAT IT IS",
		question + "-- good --\ncall read path\n":                    "JSON object",
		question + "-- good --\ncall read {}\nand words\n":           "a reply has calls, or is an answer",
		question + "-- tool x --\nDoes.\n-- result x a --\nresult\n": "ARGUMENT=VALUE",
	} {
		if _, err := modeltest.Parse("x", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestDirectory checks that people's own tasks are read from a directory, and that an error names the file.
func TestDirectory(t *testing.T) {
	directory := t.TempDir()
	if tasks, err := modeltest.Directory(filepath.Join(directory, "none")); err != nil || len(tasks) != 0 {
		t.Errorf("%v, %v", tasks, err)
	}
	path := filepath.Join(directory, "mine.txtar")
	if err := os.WriteFile(path, []byte("own: It says a.\n-- question --\nWhat?\n-- expect --\nsays b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tasks, err := modeltest.Directory(directory)
	if err != nil || len(tasks) != 1 || tasks[0].Name != "mine" || tasks[0].Kind != "own" {
		t.Errorf("%+v, %v", tasks, err)
	}
	if err := os.WriteFile(path, []byte("own"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := modeltest.Directory(directory); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("the error is %v", err)
	}
}

// TestManual checks that the task in the manual is one, and that the manual names what tasks can expect.
func TestManual(t *testing.T) {
	manual, err := os.ReadFile("../../elisp/org-agent.org")
	if err != nil {
		t.Fatal(err)
	}
	_, chapter, _ := strings.Cut(string(manual), "*** Tasks of your own\n")
	chapter, _, _ = strings.Cut(chapter, "\n** ")
	_, example, _ := strings.Cut(chapter, "#+begin_example\n")
	example, _, found := strings.Cut(example, "#+end_example")
	if !found {
		t.Fatal("there is no example")
	}
	task, err := modeltest.Parse("lamp", []byte(strings.ReplaceAll(example, "\n,*", "\n*")))
	if err != nil || task.Kind != "call" || len(task.Wrong()) != 1 {
		t.Errorf("%+v, %v", task, err)
	}
	for _, word := range []string{"says", "omits", "heading", "words", "lines", "calls", "calls-any", "avoids", "at-most", "has", "lacks", "after FILE", "wrong"} {
		if !strings.Contains(chapter, "="+word) {
			t.Errorf("the manual does not tell of %s", word)
		}
	}
}
