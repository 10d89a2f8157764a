package daemon_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"org-agent/kernel/act"
	"org-agent/kernel/action"
	"org-agent/kernel/daemon"
	"org-agent/kernel/kind"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
	"org-agent/kernel/sensor"
	"org-agent/kernel/skill"
	"org-agent/skills"
)

// TestCheckAgreesWithTheKernel checks that what "skill check" does says of each note of a corpus is what a
// kernel does with it: the same state and the same faults, and no warning is missing.
func TestCheckAgreesWithTheKernel(t *testing.T) {
	in := newInstance(t)
	if err := os.MkdirAll(in.paths.Skills, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"../skill/testdata/check/*.org", "../skill/testdata/upstream/*.org"} {
		corpus, err := filepath.Glob(pattern)
		if err != nil || len(corpus) < 10 {
			t.Fatalf("%s has %d notes, %v", pattern, len(corpus), err)
		}
		for _, path := range corpus {
			source, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(in.paths.Skills, filepath.Base(path)), source, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	in.write(t, "skills/lonely.org", "#+TITLE: Lonely\n#+DEPENDS_ON: nobody\n#+begin_src lisp\n(defskill :lonely :neuro (lambda (c) c))\n#+end_src\n")
	in.write(t, "skills/second.org", "#+TITLE: Second\n#+begin_src lisp\n(defskill :lonely-too :dependencies (lonely) :neuro (lambda (c) c))\n(defskill :chat :neuro (lambda (c) c))\n(def-cognitive-tool :read \"x\" :body #'car)\n#+end_src\n")
	in.write(t, "skills/taken.org", "#+TITLE: Taken\n#+begin_src lisp\n(def-cognitive-tool :word_count \"x\" :body #'car)\n#+end_src\n")
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	var list protocol.SkillListResult
	if err := e.Call(within(t), protocol.MethodSkillList, protocol.Empty{}, &list); err != nil {
		t.Fatal(err)
	}
	files, err := skill.List(in.paths.Skills)
	if err != nil {
		t.Fatal(err)
	}
	config := skill.Config{Shipped: skills.Notes(), Home: in.paths.Skills, Specs: daemonSpecs, Tools: daemon.ToolNames, CheckEvent: sensor.CheckEvent}
	states := map[string]int{}
	for _, want := range skill.CheckFiles(t.Context(), config, files) {
		i := slices.IndexFunc(list.Skills, func(s protocol.SkillStatus) bool { return s.File == want.File })
		if i < 0 {
			t.Errorf("the kernel does not list %s", want.File)
			continue
		}
		got := list.Skills[i]
		states[string(want.State)]++
		if string(got.State) != string(want.State) {
			t.Errorf("%s is %s, and the check says %s: %v", filepath.Base(want.File), got.State, want.State, want.Diagnostics)
		}
		told := slices.DeleteFunc(want.Diagnostics, func(d skill.Diagnostic) bool { // what only the check tells
			return d.Warning && !slices.Contains(got.Diagnostics, protocol.SkillDiagnostic(d))
		})
		slices.SortStableFunc(got.Diagnostics, func(a, b protocol.SkillDiagnostic) int { return a.Line - b.Line })
		same := slices.EqualFunc(got.Diagnostics, told, func(a protocol.SkillDiagnostic, b skill.Diagnostic) bool { return a == protocol.SkillDiagnostic(b) })
		if !same {
			t.Errorf("%s: the kernel says %v, the check %v", filepath.Base(want.File), got.Diagnostics, want.Diagnostics)
		}
	}
	if states["live"] < 10 || states["failed"] < 15 || states["duplicate"] < 1 {
		t.Errorf("the corpus has %v", states)
	}
}

// daemonSpecs are the kinds of actions that every kernel has.
func daemonSpecs() action.Specs { return kind.New(daemon.Kinds(act.Deps{})...).Specs() }
