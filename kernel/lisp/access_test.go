package lisp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/lisp"
)

// TestWithoutAccess makes sure that what was not granted is not there, and that the
// author is told what to ask for.
func TestWithoutAccess(t *testing.T) {
	for _, test := range []struct{ form, want string }{
		{`(uiop:getenv "HOME")`, "uiop:getenv needs the capability env:NAME: ask for it in the note's #+CAPABILITIES line"},
		{`(uiop:run-program "ls")`, "uiop:run-program needs the capability exec:PROGRAM"},
		{`(with-open-file (s "/etc/passwd") (read-line s))`, "open needs the capability read:DIR or write:DIR"},
		{`(probe-file "/etc")`, "probe-file needs the capability read:DIR or write:DIR"},
		{`(delete-file "/tmp/x")`, "delete-file needs the capability write:DIR"},
		{`(uiop:read-file-string "/etc/passwd")`, "uiop:read-file-string needs the capability read:DIR"},
		{`(load "x.lisp")`, "load is not for notes"},
		{`(compile-file "x.lisp")`, "compile-file is not for notes"},
		{`(uiop:launch-program "ls")`, "uiop:launch-program needs the capability exec:PROGRAM, which no note can be given yet"},
	} {
		e := newEnvironment(t, lisp.Config{})
		if err := e.Load(t.Context(), "(defun f () "+test.form+")", "note", 1); err != nil {
			t.Fatal(err)
		}
		problems, err := e.Problems(t.Context())
		if err != nil || len(problems) != 1 || !strings.Contains(problems[0].Error(), test.want) {
			t.Errorf("%s: %v %v, want %s", test.form, problems, err, test.want)
		}
		if _, err := evaluated(t, e, "(f)"); err == nil || !strings.Contains(err.Error(), "is undefined") {
			t.Errorf("%s without a capability: %v", test.form, err)
		}
	}
	e := newEnvironment(t, lisp.Config{})
	if err := e.Load(t.Context(), `(dex:get "https://example.org")`, "note", 1); err == nil || !strings.Contains(err.Error(), "dexador:get needs the capability net:HOST: ask for it in the note's #+CAPABILITIES line") {
		t.Errorf("dex:get: %v", err)
	}
}

// fileWorld is a directory with a granted part, and an environment that was granted it.
func fileWorld(t *testing.T) (e *lisp.Environment, root string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"in/a.txt": "one\ntwo\nthree", "in/b.lisp": "(a 1) (b \"2\")", "in/sub/c.txt": "c", "out/old.txt": "old\n", "secret.txt": "secret"} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"in/link.txt": "secret.txt", "out/link.txt": "secret.txt", "in/inner.txt": "in/a.txt"} {
		if err := os.Symlink(filepath.Join(root, to), filepath.Join(root, from)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("ORG_AGENT_TEST_GRANTED", "value")
	t.Setenv("ORG_AGENT_TEST_HIDDEN", "hidden")
	e = newEnvironment(t, lisp.Config{Access: lisp.Access{
		Read: []string{filepath.Join(root, "in")}, Write: []string{filepath.Join(root, "out")}, Environment: []string{"ORG_AGENT_TEST_GRANTED"}, Directory: root,
	}})
	return e, root
}

func TestFiles(t *testing.T) {
	e, root := fileWorld(t)
	for _, test := range []struct{ form, want string }{
		{`(uiop:getenv "ORG_AGENT_TEST_GRANTED")`, `"value"`},
		{`(handler-case (uiop:getenv "ORG_AGENT_TEST_HIDDEN") (error () :refused))`, ":REFUSED"},
		{`(uiop:read-file-string "in/a.txt")`, "\"one\ntwo\nthree\""},
		{`(uiop:read-file-lines #p"in/a.txt")`, `("one" "two" "three")`},
		{`(uiop:read-file-forms "in/b.lisp")`, `((A 1) (B "2"))`},
		{`(uiop:read-file-string "in/inner.txt")`, "\"one\ntwo\nthree\""},
		{`(with-open-file (s "in/a.txt") (list (read-line s) (read-char s) (file-length s) (read-line s) (read-line s) (read-line s nil :end)))`, `("one" #\t 13 "wo" "three" :END)`},
		{`(with-open-file (s "in/none.txt" :if-does-not-exist nil) s)`, "NIL"},
		{`(handler-case (open "in/none.txt") (file-error (c) (namestring (file-error-pathname c))))`, `"in/none.txt"`},
		{`(list (not (null (probe-file "in/a.txt"))) (probe-file "in/none.txt") (uiop:file-exists-p "in/sub") (not (null (uiop:directory-exists-p "in/sub/"))))`, "(T NIL NIL T)"},
		{`(mapcar #'file-namestring (uiop:directory-files "in/"))`, `("a.txt" "b.lisp" "inner.txt" "link.txt")`},
		{`(mapcar #'file-namestring (directory "in/*.lisp"))`, `("b.lisp")`},
		{`(length (uiop:subdirectories "in/"))`, "1"},
		{`(progn (with-open-file (s "out/new.txt" :direction :output) (format s "a~%b")) (with-open-file (s "out/new.txt" :direction :output :if-exists :append) (princ "c" s)) (uiop:with-output-file (s "out/second.txt") (princ 1 s)) :done)`, ":DONE"},
		{`(handler-case (open "out/old.txt" :direction :output) (file-error () :exists))`, ":EXISTS"},
		{`(open "out/old.txt" :direction :output :if-exists nil)`, "NIL"},
		{`(ignore-errors (with-open-file (s "out/aborted.txt" :direction :output) (princ 1 s) (error "no")))`, "NIL"},
		{`(progn (with-open-file (s "out/old.txt" :direction :output :if-exists :supersede) (write-line "new" s)) :done)`, ":DONE"},
		{`(multiple-value-bind (p made) (ensure-directories-exist "out/x/y/z.txt") (list p made))`, `("out/x/y/z.txt" T)`},
		{`(progn (with-open-file (s "out/t" :direction :output) (princ 1 s)) (rename-file "out/t" "u") (delete-file "out/u"))`, "T"},
		{`(> (file-write-date "in/a.txt") 3900000000)`, "T"},
		// Nothing outside is reached, by no road.
		{`(handler-case (uiop:read-file-string "secret.txt") (file-error () :refused))`, ":REFUSED"},
		{`(handler-case (uiop:read-file-string "in/../secret.txt") (file-error () :refused))`, ":REFUSED"},
		{`(handler-case (uiop:read-file-string "in/link.txt") (file-error () :refused))`, ":REFUSED"},
		{`(handler-case (with-open-file (s "out/old.txt" :direction :output :if-exists :perhaps) (princ 1 s)) (error () :refused))`, ":REFUSED"},
		{`(handler-case (with-open-file (s "out/link.txt" :direction :output :if-exists :supersede) (princ 1 s)) (file-error () :refused))`, ":REFUSED"},
		{`(handler-case (with-open-file (s "in/a.txt" :direction :output :if-exists :supersede) (princ 1 s)) (file-error () :refused))`, ":REFUSED"},
		{`(handler-case (uiop:read-file-string "out/old.txt") (file-error () :refused))`, ":REFUSED"},
		{`(handler-case (uiop:read-file-string "/dev/zero") (file-error () :refused))`, ":REFUSED"},
		{`(handler-case (delete-file "in/a.txt") (file-error () :refused))`, ":REFUSED"},
		{`(handler-case (uiop:read-file-string "in/sub") (file-error () :refused))`, ":REFUSED"},
	} {
		if got, err := evaluated(t, e, test.form); err != nil || got != test.want {
			t.Errorf("%s\n got %s (%v)\nwant %s", test.form, got, err, test.want)
		}
	}
	for name, want := range map[string]string{"out/new.txt": "a\nbc", "out/old.txt": "new\n", "out/second.txt": "1", "secret.txt": "secret", "in/a.txt": "one\ntwo\nthree"} {
		if text, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(text) != want {
			t.Errorf("%s has %q (%v), want %q", name, text, err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(root, "out/aborted.txt")); err == nil {
		t.Error("an aborted file was written")
	}
}

// TestFileLimit makes sure that a file is charged before it is read.
func TestFileLimit(t *testing.T) {
	root := t.TempDir()
	file, err := os.Create(filepath.Join(root, "large"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Truncate(16 << 30); err != nil {
		t.Fatal(err)
	}
	e := newEnvironment(t, lisp.Config{Access: lisp.Access{Read: []string{root}, Directory: root}})
	_, err = evaluated(t, e, `(ignore-errors (uiop:read-file-string "large"))`)
	if failed, ok := err.(*lisp.Error); !ok || failed.Class != storageCondition {
		t.Errorf("a file of 16 GiB: %v", err)
	}
}
