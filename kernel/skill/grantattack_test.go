package skill_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"org-agent/kernel/skill"
)

// TestNotesCannotReachFurther checks that a granted note that tries to go beyond its grant is
// refused, and changes nothing.
func TestNotesCannotReachFurther(t *testing.T) {
	h := newGrantHome(t)
	h.put("outside/a.txt", "outside")
	h.put("notes/sub/b.txt", "b")
	h.put("home/policy.org", "")
	links := map[string]string{"notes/up": "..", "notes/absolute": filepath.Join(h.user, "outside"), "notes/token": filepath.Join(h.user, "state/token"), "notes/loop": "loop", "out/skills": filepath.Join(h.home, "skills")}
	for from, to := range links {
		path := filepath.Join(h.user, from)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink(to, path)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(h.user, "notes/pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	reads := func(name string) string { return `(uiop:read-file-string "` + name + `")` }
	writes := func(name string) string {
		return `(progn (with-open-file (s "` + name + `" :direction :output :if-exists :supersede) (princ "new" s)) "written")`
	}
	for _, test := range []struct{ asks, form, want string }{
		{"read:~/notes", reads("~/notes/sub/../a.txt"), "the text"},
		{"read:~/notes", reads("~/notes/../outside/a.txt"), "outside of what was granted"},
		{"read:~/notes", reads("~/notes/absolute/a.txt"), "outside of what was granted"},
		{"read:~/notes", reads("~/notes/up/outside/a.txt"), "outside of what was granted"},
		{"read:~/notes", reads("~/notes/token"), "outside of what was granted"},
		{"read:~/notes", reads("~/notes/loop"), "leads nowhere"},
		{"read:~/notes", reads("~/notes/pipe"), "no regular file"},
		{"read:~/notes", reads("/proc/self/environ"), "outside of what was granted"},
		{"read:~/notes", reads("~/notes-other/a.txt"), "outside of what was granted"},
		{"read:$HOME", reads("~/state/token"), "closed to notes"},
		{"read:/", reads("~/state/token"), "closed to notes"},
		{"read:/", reads("~/notes/token"), "closed to notes"},
		{"read:/", reads("/proc/self/environ"), "the system's"},
		{"read:/", reads("/proc/self/root" + filepath.Join(h.user, "notes/a.txt")), "the text"}, // a link to /
		{"read:/", reads("/proc/self/root" + filepath.Join(h.user, "state/token")), "closed to notes"},
		{"read:~/notes", reads("/proc/self/root" + filepath.Join(h.user, "outside/a.txt")), "outside of what was granted"},
		{"read:/", reads("/dev/zero"), "the system's"},
		{"read:/", `(format nil "~a" (directory "~/state/*"))`, "closed to notes"},
		{"read:/", `(format nil "~a" (probe-file "~/state/token"))`, "closed to notes"},
		{"read:..", reads("../notes/a.txt"), "the text"},
		{"write:~/out", writes("~/out/x"), "written"},
		{"write:~/out", writes("~/out/skills/evil.org"), "outside of what was granted"},
		{"write:~/out", reads("~/out/x"), "needs the capability read:DIR"},
		{"write:~", writes("~/home/skills/evil.org"), "is protected"},
		{"write:~", writes("~/out/skills/evil.org"), "is protected"},
		{"write:~", writes("policy.org"), "is protected"},
		{"write:~", writes("~/state/token"), "closed to notes"},
		{"write:~", `(progn (rename-file "~/notes/a.txt" "~/home/skills/evil.org") "moved")`, "is protected"},
		{"write:~", `(progn (rename-file "~/home/skills/note.org" "~/note.org") "moved")`, "is protected"},
		{"write:~", `(progn (rename-file "~/home" "~/home-not") "moved")`, "no regular file"},
		{"write:~", `(progn (delete-file "policy.org") "deleted")`, "is protected"},
		{"write:~", `(progn (ensure-directories-exist "~/home/skills/sub/x") "made")`, "is protected"},
		{"env:LANG", `(uiop:getenv "HOME")`, "ask for env:HOME"},
		{"env:LANG env:MY_API_KEY", `(uiop:getenv "MY_API_KEY")`, "it names a secret"},
		{"env:LANG env:HIDDEN", `(uiop:getenv "HIDDEN")`, "it names a secret"},
		{"env:hidden_token", `(uiop:getenv "hidden_token")`, "it names a secret"},
	} {
		h.put("home/skills/note.org", asker("note", test.asks, test.form))
		if shown, err := h.registry.Requests(h.note("note.org")); err == nil && len(shown.Names()) > 0 {
			h.grant("note.org")
		} else {
			h.registry.Load(t.Context())
		}
		policy := h.get("home/policy.org")
		got := h.says()
		if strings.Contains(test.want, "needs the capability") {
			got = h.registry.Statuses()[0].Diagnostics[0].Message
		}
		if !strings.Contains(got, test.want) || strings.Contains(got, "secret ") {
			t.Errorf("%s %s: %q, want %q", test.asks, test.form, got, test.want)
		}
		if now := h.get("home/policy.org"); now != policy {
			t.Errorf("%s changed policy.org", test.form)
		}
	}
	for name, want := range map[string]string{"state/token": "secret", "outside/a.txt": "outside", "notes/a.txt": "the text", "out/x": "new"} {
		if got := h.get(name); got != want {
			t.Errorf("%s has %q", name, got)
		}
	}
	if evil, err := filepath.Glob(filepath.Join(h.home, "skills/*.org")); err != nil || len(evil) != 1 {
		t.Errorf("the skills are %v, %v", evil, err)
	}
}

// TestShadowingGrantsNothing checks that neither a shipped note nor the person's own note in its
// place has anything that was not granted to it.
func TestShadowingGrantsNothing(t *testing.T) {
	h := newGrantHome(t)
	text := asker("reader", "read:~/notes", `(uiop:read-file-string "~/notes/a.txt")`)
	h.registry = skill.New(skill.Config{Home: filepath.Join(h.home, "skills"), Shipped: fstest.MapFS{"reader.org": {Data: []byte(text)}}, Grants: h.grants(), Specs: kernelSpecs})
	h.registry.Load(t.Context())
	h.wantSays("shipped", "notes that came with the program are granted nothing")
	// A row for it changes nothing, whatever path it names.
	h.put("home/policy.org", grantHeader+"| skills/reader.org | read:~/notes | "+h.registry.Statuses()[0].Hash+" | |\n")
	h.registry.Load(t.Context())
	h.wantSays("shipped, with a row", "notes that came with the program are granted nothing")
	h.put("home/policy.org", "")
	h.put("home/skills/org-skill-reader.org", text)
	h.registry.Load(t.Context())
	h.wantSays("shadowed", "never granted")
	h.grant("org-skill-reader.org")
	h.wantSays("granted", "the text")
	h.put("home/skills/org-skill-reader.org", "#+begin_src lisp\n(\n#+end_src\n")
	h.registry.Load(t.Context())
	h.wantSays("the last good version goes on with its grant", "the text")
	if err := os.Remove(h.note("org-skill-reader.org")); err != nil {
		t.Fatal(err)
	}
	h.registry.Load(t.Context())
	h.wantSays("the shipped one is back", "notes that came with the program are granted nothing")
}

// TestWhenNotesWrite checks that a note writes while it answers, that writing in tests and previews
// is dropped, and that loading, triggers and augments cannot write.
func TestWhenNotesWrite(t *testing.T) {
	h := newGrantHome(t)
	const add = `(with-open-file (s "~/notes/log" :direction :output :if-exists :append :if-does-not-exist :create) (princ "x" s))`
	note := "#+CAPABILITIES: write:~/notes\n#+begin_src lisp\n" +
		"(defun add () " + add + " \"added\")\n" +
		"(defskill :writer :trigger (lambda (c) (eq (getf (getf c :payload) :sensor) :chat-message))\n" +
		"  :neuro (lambda (c) (declare (ignore c)) (add)) :symbolic (lambda (a c) (declare (ignore c)) (add) a) :system-prompt-augment (lambda () (add)))\n" +
		"(defaction :diary :add :does \"to add\" :perform (lambda (fields) (declare (ignore fields)) (add)))\n#+end_src\n" +
		"#+begin_src lisp :test yes\n(deftest adds (is (equal \"added\" (add))) (is (delete-file \"~/notes/a.txt\"))\n" +
		"  (rename-file \"~/notes/a.txt\" \"b\") (ensure-directories-exist \"~/notes/new/\") (proposes \"x\" '(:text \"added\") :reply \"added\"))\n#+end_src\n"
	h.put("home/skills/writer.org", note)
	h.grant("writer.org")
	if s := h.registry.Statuses()[0]; s.State != skill.Live || len(s.Diagnostics) > 0 || s.Tests != 1 {
		t.Fatalf("%+v", s)
	}
	if entries, err := os.ReadDir(filepath.Join(h.user, "notes")); err != nil || len(entries) != 1 {
		t.Errorf("the tests left %v, %v", entries, err)
	}
	k := h.registry.Current().Skills()[0]
	action := list(t, `(:type :response :text "x")`)
	if _, err := k.Preview(t.Context(), action, chatMessage(t, "x")); err != nil {
		t.Error(err)
	}
	if text := k.Augment(t.Context()); text != "" {
		t.Errorf("the prompt has %q", text)
	}
	if entries, err := os.ReadDir(filepath.Join(h.user, "notes")); err != nil || len(entries) != 1 {
		t.Errorf("preview and prompt left %v, %v", entries, err)
	}
	h.wantSays("it answers", "added")
	if _, err := k.Symbolic(t.Context(), action, chatMessage(t, "x")); err != nil {
		t.Error(err)
	}
	if text, err := h.registry.Current().Actions()[0].Perform(t.Context(), nil, "main"); err != nil || text != "added" {
		t.Errorf("the action is done with %q, %v", text, err)
	}
	if got := h.get("notes/log"); got != "xxx" {
		t.Errorf("it wrote %q", got)
	}
	h.put("home/skills/writer.org", "#+CAPABILITIES: write:~/notes\n#+begin_src lisp\n"+add+"\n#+end_src\n")
	h.grant("writer.org")
	if s := h.registry.Statuses()[0]; s.State != skill.Failed || !strings.Contains(s.Diagnostics[0].Message, "a file was to be written by a form outside any function") {
		t.Errorf("it writes while it is loaded: %+v", s)
	}
}

// TestTestsWithoutTheGrant checks that a test that needs a missing grant proves nothing and does
// not keep the note from being live, and that one that fails for another reason does.
func TestTestsWithoutTheGrant(t *testing.T) {
	h := newGrantHome(t)
	note := asker("reader", "read:~/notes", `(uiop:read-file-string "~/notes/a.txt")`) +
		"#+begin_src lisp :test yes\n(deftest reads (proposes \"x\" '(:text \"the text\") :reply \"the text\"))\n(deftest counts (is (= 2 (+ 1 1))))\n#+end_src\n"
	h.put("home/skills/reader.org", note)
	h.registry.Load(t.Context())
	s := h.registry.Statuses()[0]
	if s.State != skill.Live || s.Tests != 1 || len(s.Diagnostics) != 2 || !s.Diagnostics[1].Warning || !strings.Contains(s.Diagnostics[1].Message, "the test reads failed") {
		t.Errorf("without the grant: %+v", s)
	}
	h.grant("reader.org")
	if s := h.registry.Statuses()[0]; s.State != skill.Live || s.Tests != 2 || len(s.Diagnostics) != 0 {
		t.Errorf("with it: %+v", s)
	}
	h.put("home/skills/reader.org", strings.Replace(note, "(= 2", "(= 3", 1))
	h.registry.Load(t.Context())
	if s := h.registry.Statuses()[0]; s.State != skill.Failed || !s.LastGood {
		t.Errorf("another test fails: %+v", s)
	}
	h.wantSays("the last good version", "the text")
}

// TestPolicyIsWatched checks that the effect of a deleted row ends by itself, also if policy.org is
// a link.
func TestPolicyIsWatched(t *testing.T) {
	h := newGrantHome(t)
	h.put("home/skills/reader.org", asker("reader", "read:~/notes", `(uiop:read-file-string "~/notes/a.txt")`))
	h.grant("reader.org")
	good := h.get("home/policy.org")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- h.registry.Watch(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	wait := func(what, want string) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !strings.Contains(h.says(), want); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: it says %q, want %q", what, h.says(), want)
			}
		}
	}
	h.put("home/policy.org", "")
	wait("deleted", "never granted")
	h.put("home/policy.org.new", good)
	if err := os.Rename(filepath.Join(h.home, "policy.org.new"), filepath.Join(h.home, "policy.org")); err != nil {
		t.Fatal(err)
	}
	wait("put back by a rename", "the text")
	h.put("dotfiles/policy", good)
	if err := errors.Join(os.Remove(filepath.Join(h.home, "policy.org")), os.Symlink(filepath.Join(h.user, "dotfiles/policy"), filepath.Join(h.home, "policy.org"))); err != nil {
		t.Fatal(err)
	}
	h.put("notes/a.txt", "through a link")
	wait("a link", "through a link")
	time.Sleep(300 * time.Millisecond) // until the link is noticed
	h.put("dotfiles/policy", "")
	wait("behind a link", "never granted")
}

// TestNotesSeeWhatModelsSee checks that a note reads nothing that is withheld from models, and neither
// loses nor shows it by what it writes.
func TestNotesSeeWhatModelsSee(t *testing.T) {
	const plan = "* Open\nlarks\n* Kept :NoAgent:\nherons\n"
	write := func(name, exists, text string) string {
		return `(progn (with-open-file (s "~/notes/` + name + `" :direction :output :if-exists ` + exists + ` :if-does-not-exist :create) (princ "` + text + `" s)) "written")`
	}
	for _, test := range []struct{ form, want, plan string }{
		{`(uiop:read-file-string "~/notes/plan.org")`, "larks", plan},
		{`(with-open-file (s "~/notes/plan.org") (format nil "~{~a~}" (loop for l = (read-line s nil) while l collect l)))`, "larks", plan},
		{`(with-open-file (s "~/notes/plan.org" :element-type '(unsigned-byte 8)) (map 'string #'code-char (loop for b = (read-byte s nil) while b collect b)))`, "larks", plan},
		{`(uiop:read-file-string "~/notes/whole.ORG")`, "", plan},
		{`(uiop:read-file-string "~/notes/linked.txt")`, "larks", plan},
		{write("plan.org", ":supersede", "* Open"), "only the person does that", plan},
		{write("plan.org", ":overwrite", "x"), "only the person does that", plan},
		{write("plan.org", ":append", "more"), "only the person does that", plan},
		{write("plan.org", ":append", "* More~%"), "written", plan + "* More~%"},
		{write("tags.txt", ":supersede", "#+FILETAGS: x"), "only the person does that", plan},
		{write("free.org", ":supersede", "* Free"), "written", plan},
		{`(progn (rename-file "~/notes/plan.org" "~/notes/plan.txt") "moved")`, "only the person does that", plan},
		{`(progn (rename-file "~/notes/a.txt" "~/notes/plan.org") "moved")`, "only the person does that", plan},
		{`(progn (delete-file "~/notes/plan.org") "deleted")`, "only the person does that", plan},
		{`(progn (delete-file "~/notes/tags.txt") "deleted")`, "only the person does that", plan},
		{`(progn (uiop:delete-file-if-exists "~/notes/plan.org") "deleted")`, "only the person does that", plan},
	} {
		h := newGrantHome(t)
		h.put("notes/plan.org", plan)
		h.put("notes/whole.ORG", "#+SETUPFILE: tags.txt\n* Kept\nherons\n")
		h.put("notes/tags.txt", "#+filetags: :@Private:\n")
		if err := os.Link(filepath.Join(h.user, "notes/plan.org"), filepath.Join(h.user, "notes/linked.txt")); err != nil {
			t.Fatal(err)
		}
		h.put("home/skills/note.org", asker("note", "read:~/notes write:~/notes", test.form))
		h.registry.Load(t.Context())
		h.grant("note.org")
		if got := h.says(); !strings.Contains(got, test.want) || strings.Contains(got, "herons") {
			t.Errorf("%s: %q, want %q", test.form, got, test.want)
		}
		if got := h.get("notes/plan.org"); got != test.plan {
			t.Errorf("%s: the file is %q", test.form, got)
		}
	}
}
