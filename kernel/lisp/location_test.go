package lisp_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"org-agent/kernel/lisp"
)

// realDirectory is a directory for a test, by its path without links.
func realDirectory(t *testing.T) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// TestLinksInTheWay makes sure that a link which comes between the looking up of a path and
// its use is not followed, wherever on the path it stands.
func TestLinksInTheWay(t *testing.T) {
	for _, at := range []string{"granted", "granted/sub", "granted/sub/a"} {
		for _, test := range []struct{ form, want string }{
			{`(uiop:read-file-string "sub/a")`, `"mine"`},
			{`(with-open-file (s "sub/a") (read-line s))`, `"mine"`},
			{`(mapcar #'file-namestring (uiop:directory-files "sub/"))`, `("a")`},
			{`(progn (with-open-file (s "sub/a" :direction :output :if-exists :supersede) (princ "mine" s)) :done)`, ":DONE"},
			{`(progn (with-open-file (s "sub/a" :direction :output :if-exists :append) (princ "mine" s)) :done)`, ":DONE"},
			{`(progn (with-open-file (s "sub/new" :direction :output) (princ "mine" s)) :done)`, ":DONE"},
			{`(progn (delete-file "sub/a") :done)`, ":DONE"},
			{`(progn (rename-file "sub/a" "b") :done)`, ":DONE"},
			{`(progn (ensure-directories-exist "sub/new/x") :done)`, ":DONE"},
		} {
			got, asked, err := linkInTheWay(t, at, test.form, 0)
			if err != nil || got != test.want || asked == 0 {
				t.Fatalf("%s is %s, %v, with %d questions", test.form, got, err, asked)
			}
			for nth := range asked {
				got, _, err := linkInTheWay(t, at, test.form, nth+1)
				reads := test.want != ":DONE" && !(at == "granted/sub/a" && strings.Contains(test.form, "directory-files"))
				if reads && err == nil {
					t.Errorf("a link at %s, question %d: %s is %s", at, nth+1, test.form, got)
				}
			}
		}
	}
}

// linkInTheWay evaluates a form in a granted directory. What is at the place becomes a link to another
// directory when access is asked about for the nth time, which is after a path was looked up; with 0 it
// never does. The other directory must stay as it is.
func linkInTheWay(t *testing.T, at, form string, nth int) (got string, asked int, err error) {
	t.Helper()
	root := realDirectory(t)
	put(t, filepath.Join(root, "granted/sub/a"), "mine")
	put(t, filepath.Join(root, "other/sub/a"), "secret")
	granted, place, target := filepath.Join(root, "granted"), filepath.Join(root, at), filepath.Join(root, "other"+strings.TrimPrefix(at, "granted"))
	ask := func() {
		if asked++; asked != nth {
			return
		}
		if err := errors.Join(os.RemoveAll(place), os.Symlink(target, place)); err != nil {
			t.Error(err)
		}
	}
	e := newEnvironment(t, lisp.Config{Access: lisp.Access{
		Read: []string{granted}, Write: []string{granted}, Directory: granted,
		Check: func(any, string, string) error { ask(); return nil },
		Dry:   func(any) bool { ask(); return false },
	}})
	got, err = evaluated(t, e, form)
	if text, err := os.ReadFile(filepath.Join(root, "other/sub/a")); err != nil || string(text) != "secret" {
		t.Errorf("a link at %s, question %d: after %s the other file has %q, %v", at, nth, form, text, err)
	}
	if entries, err := os.ReadDir(filepath.Join(root, "other/sub")); err != nil || len(entries) != 1 {
		t.Errorf("a link at %s, question %d: after %s the other directory has %v, %v", at, nth, form, entries, err)
	}
	return got, asked, err
}

// TestLinksWithinAGrant makes sure that a link to another place that was granted is
// followed, and that what is asked about is where it leads.
func TestLinksWithinAGrant(t *testing.T) {
	root := realDirectory(t)
	put(t, filepath.Join(root, "closed/a"), "closed")
	put(t, filepath.Join(root, "open/a"), "open")
	for _, name := range []string{"closed", "open"} {
		if err := os.Symlink(filepath.Join(root, name), filepath.Join(root, "to-"+name)); err != nil {
			t.Fatal(err)
		}
	}
	var asked []string
	e := newEnvironment(t, lisp.Config{Access: lisp.Access{Read: []string{root}, Write: []string{root}, Directory: root, Check: func(_ any, kind, name string) error {
		asked = append(asked, kind+" "+strings.TrimPrefix(name, root))
		if strings.Contains(name, "/closed/") {
			return errors.New("the directory is closed")
		}
		return nil
	}}})
	for form, want := range map[string]string{
		`(uiop:read-file-string "to-open/a")`:                                                                                   `"open"`,
		`(handler-case (uiop:read-file-string "to-closed/a") (file-error (c) (princ-to-string c)))`:                             `"the directory is closed"`,
		`(handler-case (uiop:read-file-string "to-open/../closed/a") (file-error (c) (princ-to-string c)))`:                     `"the directory is closed"`,
		`(handler-case (with-open-file (s "to-closed/b" :direction :output) (princ 1 s)) (file-error (c) (princ-to-string c)))`: `"the directory is closed"`,
		`(handler-case (rename-file "open/a" "../closed/b") (file-error (c) (princ-to-string c)))`:                              `"the directory is closed"`,
		`(handler-case (ensure-directories-exist "closed/x/y") (file-error (c) (princ-to-string c)))`:                           `"the directory is closed"`,
		`(handler-case (rename-file "open" "closed-not") (file-error (c) (princ-to-string c)))`:                                 `"it is no regular file"`,
		`(handler-case (uiop:delete-file-if-exists "open") (file-error (c) (princ-to-string c)))`:                               `"it is no regular file"`,
	} {
		if got, err := evaluated(t, e, form); err != nil || got != want {
			t.Errorf("%s\n got %s (%v)\nwant %s\nasked %q", form, got, err, want, asked)
		}
	}
}

// TestSlowFiles makes sure that nothing but a regular file is opened: a pipe without a
// writer would hold the call for ever.
func TestSlowFiles(t *testing.T) {
	root := realDirectory(t)
	if err := syscall.Mkfifo(filepath.Join(root, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := newEnvironment(t, lisp.Config{Access: lisp.Access{Read: []string{root, "/dev"}, Write: []string{root, "/dev"}, Directory: root}})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for _, name := range []string{"pipe", "/dev/tty", "/dev/zero", "/dev/stdin", "pipe/x"} {
		for _, form := range []string{
			`(uiop:read-file-string %)`, `(with-open-file (s % :direction :output :if-exists :append) (princ 1 s))`,
			`(with-open-file (s % :direction :output :if-exists :supersede) (princ 1 s))`, `(delete-file %)`, `(rename-file % "new")`,
		} {
			form = strings.ReplaceAll(form, "%", `"`+name+`"`)
			got := ""
			err := e.Eval(ctx, "(handler-case (progn "+form+" :done) (error () :refused))", "test", 1, func(printed string) { got = printed })
			if err != nil || got != ":REFUSED" {
				t.Errorf("%s: %s, %v", form, got, err)
			}
		}
	}
}

// TestModeIsKept makes sure that a private file is private after it was written, and that
// nothing is left beside it.
func TestModeIsKept(t *testing.T) {
	root := realDirectory(t)
	put(t, filepath.Join(root, "private"), "old")
	e := newEnvironment(t, lisp.Config{Access: lisp.Access{Write: []string{root}, Directory: root}})
	if got, err := evaluated(t, e, `(with-open-file (s "private" :direction :output :if-exists :supersede) (princ "new" s))`); err != nil {
		t.Fatal(got, err)
	}
	info, err := os.Stat(filepath.Join(root, "private"))
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() != 3 {
		t.Errorf("%v, %v", info, err)
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) != 1 {
		t.Errorf("the directory has %v, %v", entries, err)
	}
}

// TestWithheld makes sure that what was asked for and not granted exists and says so, in a
// way that a note can handle, and that what was not asked for does not exist.
func TestWithheld(t *testing.T) {
	reason := errors.New("read:~/x is not granted")
	e := newEnvironment(t, lisp.Config{Access: lisp.Access{Withheld: []string{"read", "env"}, Check: func(_ any, kind, name string) error {
		if name != "" {
			t.Errorf("asked for %s %s", kind, name)
		}
		return reason
	}}})
	for form, want := range map[string]string{
		`(handler-case (uiop:read-file-string "~/x/a") (file-error (c) (list (princ-to-string c) (file-error-pathname c))))`: `("uiop:read-file-string: read:~/x is not granted" "~/x/a")`,
		`(handler-case (uiop:getenv "HOME") (simple-error (c) (princ-to-string c)))`:                                         `"uiop:getenv: read:~/x is not granted"`,
		`(handler-case (uiop:getcwd) (file-error (c) (princ-to-string c)))`:                                                  `"uiop:getcwd: read:~/x is not granted"`,
		`(handler-case (with-open-file (s "a") (read-line s)) (file-error () :handled))`:                                     ":HANDLED",
		`(mapcar (lambda (f) (handler-case (funcall f "x") (file-error () :no))) (list #'probe-file 'directory))`:            "(:NO :NO)",
	} {
		if got, err := evaluated(t, e, form); err != nil || got != want {
			t.Errorf("%s\n got %s (%v)\nwant %s", form, got, err, want)
		}
	}
	_, err := evaluated(t, e, `(uiop:read-file-string "a")`)
	if !errors.Is(err, reason) {
		t.Errorf("the error does not have the reason: %v", err)
	}
	if _, err := evaluated(t, e, `(delete-file "a")`); err == nil || !strings.Contains(err.Error(), "write:DIR") {
		t.Errorf("what was not asked for: %v", err)
	}
}

// TestDeepPaths makes sure that a path as long as may be is looked up in a moment, whether
// it is there or not.
func TestDeepPaths(t *testing.T) {
	root := realDirectory(t)
	deep := strings.Repeat("d/", 400)
	if err := os.MkdirAll(filepath.Join(root, deep), 0o755); err != nil {
		t.Fatal(err)
	}
	e := newEnvironment(t, lisp.Config{Access: lisp.Access{Read: []string{root}, Write: []string{root}, Directory: root}})
	began := time.Now()
	// In this order: the last form reads what the one before it wrote.
	for _, one := range []struct{ form, want string }{
		{`(not (null (probe-file "` + deep + `")))`, "T"},
		{`(probe-file "` + deep + strings.Repeat("x/", 300) + `a")`, "NIL"},
		{`(handler-case (probe-file "` + deep + strings.Repeat("x/", 3000) + `a") (file-error () :refused))`, ":REFUSED"},
		{`(with-open-file (s "` + deep + `a" :direction :output) (princ 1 s))`, "1"},
		{`(uiop:read-file-string "` + deep + `a")`, `"1"`},
	} {
		if got, err := evaluated(t, e, one.form); err != nil || got != one.want && one.want != ":REFUSED" {
			t.Errorf("%.40s… is %s (%v), want %s", one.form, got, err, one.want)
		}
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}
