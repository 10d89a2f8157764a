package daemon_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/rpc/rpctest"
	"org-agent/kernel/skill"
)

// badNotes are files as they come into a directory of notes, and what is said of each: its
// state, and the place and a part of the first diagnostic. With check it is said by a check of the one file as well.
var badNotes = []struct {
	name, text string
	make       func(path string) error
	state      string
	says       string
	check      bool
}{
	{name: "unterminated.org", text: "* A\n#+begin_src lisp\n(defun a () 1)\n", state: "failed", says: "2:1: error: #+begin_src without #+end_src", check: true},
	{name: "unbalanced.org", text: lisp("(defun a ()\n  (list 1 2)"), state: "failed", says: "4:1: error: ", check: true},
	{name: "tooclosed.org", text: lisp("(defun a () 1))"), state: "failed", says: "4:15: error: ", check: true},
	{name: "crlf.org", text: strings.ReplaceAll(lisp("(defskill :crlf :neuro (lambda (c) c nil) :trigger (lambda (c) c nil))"), "\n", "\r\n"), state: "live"},
	{name: "latin1.org", text: "#+TITLE: Caf\xe9\n", state: "failed", says: "1:13: error: the byte 0xe9 is not UTF-8", check: true},
	{name: "nul.org", text: "a\x00b\n" + lisp("(defun \x00 () 1)"), state: "live"},
	{name: "huge.org", make: func(path string) error {
		if err := os.WriteFile(path, []byte("* A\n"), 0o600); err != nil {
			return err
		}
		return os.Truncate(path, 50<<20)
	}, state: "failed", says: "1:1: error: read the note: it has 52428800 bytes; a note may have 8388608", check: true},
	{name: "loop.org", make: func(path string) error { return os.Symlink("loop.org", path) }, state: "failed", says: "1:1: error: read the note: open ", check: true},
	{name: "dangling.org", make: func(path string) error { return os.Symlink("/nowhere/at/all", path) }, state: "failed", says: "1:1: error: read the note: it is a link to /nowhere/at/all, which is not there", check: true},
	{name: "pipe.org", make: func(path string) error { return syscall.Mkfifo(path, 0o600) }, state: "failed", says: "1:1: error: read the note: it is no regular file", check: true},
	{name: "device.org", make: func(path string) error { return os.Symlink("/dev/zero", path) }, state: "failed", says: "1:1: error: read the note: it is no regular file", check: true},
	{name: "directory.org", make: func(path string) error { return os.Mkdir(path, 0o700) }, state: "failed", says: "1:1: error: read the note: it is a directory", check: true},
	{name: "empty.org", text: "", state: "live"},
	{name: "twin-a.org", text: lisp("(defskill :twin :neuro (lambda (c) c nil) :trigger (lambda (c) c nil))"), state: "live"},
	{name: "twin-b.org", text: lisp("(defskill :twin :neuro (lambda (c) c nil) :trigger (lambda (c) c nil))"), state: "duplicate", says: "4:1: error: the skill twin is defined by "},
	{name: "cycle-a.org", text: "#+DEPENDS_ON: cycle-b\n" + lisp("(defskill :cycle-a :trigger (lambda (c) c nil))"), state: "live"},
	{name: "cycle-b.org", text: "#+DEPENDS_ON: cycle-a\n" + lisp("(defskill :cycle-b :trigger (lambda (c) c nil))"), state: "live"},
	{name: "needy.org", text: "#+TITLE: x\n#+DEPENDS_ON: nobody\n" + lisp("(defskill :needy :trigger (lambda (c) c nil))"), state: "failed", says: `2:1: error: it depends on "nobody"`},
	{name: "endless-test.org", text: lisp("(defskill :endless-test :trigger (lambda (c) c nil))") + "\n#+begin_src lisp :test yes\n(deftest forever (loop))\n#+end_src\n", state: "failed", says: "error: the test forever"},
	{name: "endless-load.org", text: lisp("(loop)"), state: "failed", says: "4:1: error: ", check: true},
	{name: "endless-trigger.org", text: lisp("(defskill :endless-trigger :trigger (lambda (c) c (loop)))"), state: "failed", says: "4:1: error: the trigger of the skill endless-trigger fails"},
	{name: "bomb.org", text: lisp("(defvar *all* (make-list 1000000000))"), state: "failed", says: "4:15: error: ", check: true},
	{name: "deep.org", text: lisp(strings.Repeat("(", 100_000)), state: "failed", says: "error: ", check: true},
	{name: "macro.org", text: lisp("(defmacro m () '(m))\n(m)"), state: "failed", says: "4:", check: true},
	{name: "redefines.org", text: lisp("(defun ask-neuro (text) text)\n(defskill :redefines :trigger (lambda (c) c nil))"), state: "failed", says: "4:", check: true},
	{name: "redefines-cl.org", text: lisp("(defun car (x) x)"), state: "failed", says: "4:", check: true},
	{name: "api.org", text: lisp("(defskill 5)"), state: "failed", says: "4:1: error: ", check: true},
	{name: "a \"quoted\" näme|, with\nlines.org", text: lisp("(defun (\n"), state: "failed", says: "4:"},
	{name: "\u202eevil\u0007.org", text: lisp("(defun ("), state: "failed", says: "4:"},
}

// Every bad file has a diagnostic at its place, in the list and in a check; the other notes
// are live, and the conversation goes on.
func TestBadNotes(t *testing.T) {
	in := newInstance(t, llmtest.Exchange{Echo: true, Times: -1})
	for _, note := range badNotes {
		path := filepath.Join(in.paths.Skills, note.name)
		if err := os.MkdirAll(in.paths.Skills, 0o755); err != nil {
			t.Fatal(err)
		}
		create := note.make
		if create == nil {
			create = func(path string) error { return os.WriteFile(path, []byte(note.text), 0o600) }
		}
		if err := create(path); err != nil {
			t.Fatal(err)
		}
	}
	in.start(t)
	loading := in.editor(t, rpctest.Config{}) // is told of notes that are loaded meanwhile
	said := map[string]protocol.SkillStatus{}
	var list protocol.SkillListResult
	for ctx, left := within(t), true; left; time.Sleep(10 * time.Millisecond) { // a note that takes long to load goes on when the kernel has started
		left = false
		if err := loading.Call(ctx, protocol.MethodSkillList, protocol.Empty{}, &list); err != nil {
			t.Fatal(err)
		}
		for _, s := range list.Skills {
			said[s.File] = s
			left = left || strings.Contains(fmt.Sprint(s.Diagnostics), "it takes long to load")
		}
	}
	loading.Close()
	e := in.editor(t, rpctest.Config{})
	for _, note := range badNotes {
		path := filepath.Join(in.paths.Skills, note.name)
		status := said[path]
		first := ""
		for _, d := range status.Diagnostics {
			if d.File != path {
				t.Errorf("%q: a diagnostic of %q", note.name, d.File)
			}
			line := skill.Diagnostic(d).String()
			if strings.ContainsAny(line, "\n\a\u202e") {
				t.Errorf("%q is shown as it is", line)
			}
			first += strings.TrimPrefix(line, skill.ShownFile(d.File)+":") + "\n"
		}
		if string(status.State) != note.state || !strings.Contains(first, note.says) || note.says == "" && first != "" {
			t.Errorf("%q is %q: %s", note.name, status.State, first)
		}
		if !note.check {
			continue
		}
		source, err := skill.Read(path)
		var checked []skill.Diagnostic
		if err != nil {
			checked = append(checked, skill.Unread(path, err))
		} else {
			checked = skill.Check(t.Context(), path, source, skill.Options{})
		}
		if !strings.Contains(fmt.Sprintln(checked), note.says) {
			t.Errorf("a check of %q says %v", note.name, checked)
		}
	}
	for _, s := range list.Skills {
		if s.Shipped && s.State != "live" && s.State != "effective" {
			t.Errorf("%s is %s", s.File, s.State)
		}
	}
	ask(t, e, "q1", "hello")
	wantBare(t, e, "* hello\n** hello\n* ")
	// The whole list goes over both spellings of the wire, whatever is in the names.
	if err := in.editor(t, rpctest.Config{Session: "other", Codec: rpc.Plist}).Call(within(t), protocol.MethodSkillList, protocol.Empty{}, &list); err != nil || len(list.Skills) != len(said) {
		t.Errorf("in plists there are %d of %d notes, %v", len(list.Skills), len(said), err)
	}
}
