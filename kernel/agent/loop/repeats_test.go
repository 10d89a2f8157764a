package loop

import (
	"fmt"
	"strings"
	"testing"

	"org-agent/kernel/act"
	"org-agent/kernel/action"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
)

// did returns a step with a call of a tool.
func did(tool, arguments, text string) journal.ToolStep {
	return journal.ToolStep{Verdict: "performed", Text: text,
		Action: fmt.Sprintf(`(:type :request :target :tool :payload (:action :call :tool %q :args (%s)))`, tool, arguments)}
}

// note adds a step as it is read from the journal.
func note(s *repeats, round journal.ToolStep) (repeatFinding, string) {
	return s.add(action.Recorded(round.Action), round)
}

// again returns the steps of what, repeated a number of times.
func again(times int, what func(i int) []journal.ToolStep) (rounds []journal.ToolStep) {
	for i := range times {
		rounds = append(rounds, what(i)...)
	}
	return rounds
}

// A model that repeats a cycle of one to four actions is warned, and then stopped.
func TestCycles(t *testing.T) {
	reads := func(n int) journal.ToolStep { return did("read", fmt.Sprintf(`:path "/f%d"`, n), "text") }
	for _, c := range cycles {
		var s repeats
		warned, stopped := 0, 0
		for i := range 40 {
			switch found, what := note(&s, reads(i%c.period)); {
			case found == repeatWarning:
				if warned++; i != c.warn*c.period-1 || !strings.Contains(what, fmt.Sprint(c.warn, " times")) {
					t.Errorf("a circle of %d: warned at %d of %q", c.period, i+1, what)
				}
			case found == repeatStop && stopped == 0:
				if stopped++; i != c.stop*c.period-1 || !strings.Contains(what, fmt.Sprint(c.stop, " times")) {
					t.Errorf("a circle of %d: stopped at %d for %q", c.period, i+1, what)
				}
			}
		}
		if warned != 1 || stopped != 1 {
			t.Errorf("a circle of %d: warned %d times, stopped %d", c.period, warned, stopped)
		}
	}
}

// Times, durations and generated names make no difference between results.
func TestVolatileIsNoProgress(t *testing.T) {
	for _, pair := range [][2]string{
		{"[exit 0 after 1.23s]\nok", "[exit 0 after 980ms]\nok"},
		{"ok  	kernel/x	0.412s", "ok  	kernel/x	1.2s"},
		{"at 2026-11-22T10:00:00Z nothing", "at 2026-11-22T10:00:07.5Z nothing"},
		{"at 2026-11-22 10:00 nothing", "at 2026-11-23 11:01 nothing"},
		{"10:00:01 no change", "10:00:02 no change"},
		{"[running for 1m3s; the bytes 0 to 5 of 5]", "[running for 1m8s; the bytes 0 to 5 of 5]"},
		{`[200 bytes are left out here: process (:action :output :id "c4" :from 10240) gives you them]`, `[200 bytes are left out here: process (:action :output :id "c5" :from 10240) gives you them]`},
		{"[it is c4]\n[running for 0s]", "[it is c5]\n[running for 0s]"},
		{`{"elapsed": 3.21, "rows": 0}`, `{"elapsed": 4.5, "rows": 0}`},
		{`(:took 12 :rows 0)`, `(:took 14 :rows 0)`},
		{"job 6fa459ea-ee8a-3ca4-894e-db77e160355e is new", "job 16fd2706-8baf-433b-82eb-8c7fada847da is new"},
	} {
		if withoutVolatile(pair[0]) != withoutVolatile(pair[1]) {
			t.Errorf("%q and %q are told apart: %q, %q", pair[0], pair[1], withoutVolatile(pair[0]), withoutVolatile(pair[1]))
		}
	}
	one, other := did("read", `:path "/f"`, "x"), did("read", `:path "/f"`, "x")
	other.Action = strings.Replace(other.Action, "(:type", `(:id "call-2" :type`, 1)
	kinds := kind.New(act.Kinds(act.Deps{})...)
	mark := func(round journal.ToolStep) any {
		return fingerprint(withoutName(kinds, action.Recorded(round.Action)), round)
	}
	if mark(one) != mark(other) {
		t.Error("the name of an action makes a difference")
	}
	set := func(id string) journal.ToolStep {
		return journal.ToolStep{Verdict: "performed", Action: fmt.Sprintf(`(:type :request :target :emacs :id %q :payload (:action :set-properties :properties (("A" "1"))))`, id)}
	}
	if mark(set("e1")) == mark(set("e2")) {
		t.Error("the entry that is acted on makes no difference")
	}
}

// Similar actions with different results are progress, without a warning.
func TestNoCycle(t *testing.T) {
	one := func(r journal.ToolStep) []journal.ToolStep { return []journal.ToolStep{r} }
	for _, c := range []struct {
		name   string
		rounds []journal.ToolStep
	}{
		{"polling a process whose output grows", again(15, func(i int) []journal.ToolStep {
			return one(did("process", `:action :output :id "c1"`, fmt.Sprintf("[running for %ds; the bytes 0 to %d of %d]\n", i, i*80, i*80)))
		})},
		{"polling until it ends", append(again(3, func(i int) []journal.ToolStep {
			return one(did("process", `:action :list`, fmt.Sprintf("- c1: running for %ds; 0 bytes; make\n", i)))
		}), did("process", `:action :list`, "- c1: exit 0 after 4s; 10 bytes; make\n"))},
		{"reading a file again after each edit", again(10, func(i int) []journal.ToolStep {
			return []journal.ToolStep{did("edit", fmt.Sprintf(`:path "/f" :old "%d" :new "%d"`, i, i+1), "changed"), did("read", `:path "/f"`, fmt.Sprint("line ", i+1))}
		})},
		{"paging", again(15, func(i int) []journal.ToolStep {
			return one(did("earlier_result", fmt.Sprintf(`:id "17" :from %d`, i*16384), "the same page"))
		})},
		{"test, edit, test", again(8, func(i int) []journal.ToolStep {
			return []journal.ToolStep{did("exec", `:command "go test"`, "FAIL: TestX\n0.1s"), did("edit", fmt.Sprintf(`:path "/f.go" :old "a" :new "try %d"`, i), "changed")}
		})},
		{"a test that fails less each time", again(10, func(i int) []journal.ToolStep {
			return one(did("exec", `:command "go test"`, fmt.Sprintf("%d of 10 fail", 10-i)))
		})},
		{"the same edit in many files", again(15, func(i int) []journal.ToolStep {
			return one(did("edit", fmt.Sprintf(`:path "/f%d" :old "a" :new "b"`, i), "changed"))
		})},
		{"reading many files alike", again(15, func(i int) []journal.ToolStep {
			return one(did("read", fmt.Sprintf(`:path "/f%d"`, i), "#+TITLE: empty"))
		})},
		{"searching for one thing after the other and finding nothing", again(12, func(i int) []journal.ToolStep {
			return one(did("grep", fmt.Sprintf(`:pattern "name%d"`, i), "nothing matches"))
		})},
		{"one search in one directory after the other", again(12, func(i int) []journal.ToolStep {
			return one(did("grep", fmt.Sprintf(`:pattern "x" :path "/d%d"`, i), "nothing matches"))
		})},
		{"keeping many notes", again(12, func(i int) []journal.ToolStep {
			return one(did("memory_save", fmt.Sprintf(`:text "fact %d"`, i), "kept"))
		})},
		{"fetching the pages of a list", again(12, func(i int) []journal.ToolStep {
			return one(did("web_fetch", fmt.Sprintf(`:url "https://example.org/?page=%d"`, i), "Nothing here."))
		})},
		{"an error that is tried three times", again(3, func(int) []journal.ToolStep {
			return one(did("web_fetch", `:url "https://example.org"`, "the server is busy"))
		})},
		{"the same command twice, with work between", again(2, func(int) []journal.ToolStep {
			return []journal.ToolStep{did("exec", `:command "make"`, "ok"), did("exec", `:command "make test"`, "ok"), did("read", `:path "/log"`, "ok")}
		})},
		{"a status that counts up", again(15, func(i int) []journal.ToolStep {
			return one(did("exec", `:command "status"`, fmt.Sprintf("step %d of 15", i)))
		})},
		{"lines written to a program one by one", again(12, func(i int) []journal.ToolStep {
			return one(did("process", fmt.Sprintf(`:action :write :id "c1" :input "line %d\n"`, i), "[written; running for 3s; it wrote 0 bytes so far]"))
		})},
		{"a batch with other results", again(10, func(i int) []journal.ToolStep {
			r := did("x", "", "2 calls were made")
			r.Calls = []journal.StepCall{{Tool: "read", Text: "same"}, {Tool: "read", Text: fmt.Sprint("row ", i)}}
			return one(r)
		})},
		{"questions to the person", again(8, func(i int) []journal.ToolStep {
			return one(did("ask_user", fmt.Sprintf(`:questions ((:question "And %d?" :kind :yes-no))`, i), "(:answer t)"))
		})},
		{"growing logs that are read at their end", again(12, func(i int) []journal.ToolStep {
			return one(did("read", `:path "/log" :from -100`, strings.Repeat("GET /\n", i+1)))
		})},
		{"a look at the clock between things", again(8, func(i int) []journal.ToolStep {
			return []journal.ToolStep{did("exec", `:command "date"`, "2026-11-22 10:00:00"), did("read", fmt.Sprintf(`:path "/f%d"`, i), "x")}
		})},
		{"undoing and doing with three results between", again(2, func(int) []journal.ToolStep {
			return []journal.ToolStep{did("edit", `:path "/f" :old "a" :new "b"`, "changed"), did("exec", `:command "make"`, "fails"), did("edit", `:path "/f" :old "b" :new "a"`, "changed"), did("exec", `:command "make"`, "ok")}
		})},
		{"three times each of many things", again(6, func(i int) []journal.ToolStep {
			return again(3, func(int) []journal.ToolStep { return one(did("read", fmt.Sprintf(`:path "/f%d"`, i), "x")) })
		})},
	} {
		var s repeats
		for i, round := range c.rounds {
			if found, what := note(&s, round); found != repeatNone {
				t.Errorf("%s: %d at %d: %s", c.name, found, i+1, what)
			}
		}
	}
}

// After a warning and another action, the model is warned again in the next cycle.
func TestProgressResetsTheWarning(t *testing.T) {
	var s repeats
	warnings := 0
	for i := range 12 {
		round := did("read", `:path "/a"`, "x")
		if i == 4 || i == 9 {
			round = did("read", `:path "/b"`, fmt.Sprint(i))
		}
		switch found, what := note(&s, round); found {
		case repeatWarning:
			warnings++
		case repeatStop:
			t.Fatalf("stopped at %d: %s", i+1, what)
		}
	}
	if warnings != 2 {
		t.Errorf("it was warned %d times", warnings)
	}
}
