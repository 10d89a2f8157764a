package lisp_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/lisp"
)

// TestFileStreams reads and writes files in all the ways that open has.
func TestFileStreams(t *testing.T) {
	for _, test := range []struct{ name, form, want, file, text string }{
		{"not closed", `(let ((s (open "OUT/new.txt" :direction :output))) (write-line "kept" s) 1)`, "1", "new.txt", "kept\n"},
		{"not closed before an error", `(let ((s (open "OUT/new.txt" :direction :output))) (write-line "kept" s) (error "no"))`, "", "new.txt", "kept\n"},
		{"finished", `(let ((s (open "OUT/new.txt" :direction :output))) (write-string "ab" s) (finish-output s) (with-open-file (i "OUT/new.txt") (read-line i)))`, `"ab"`, "new.txt", "ab"},
		{"finished twice", `(with-open-file (s "OUT/new.txt" :direction :output) (write-string "ab" s) (force-output s) (write-string "cd" s) (file-length s))`, "4", "new.txt", "abcd"},
		{"finished, then rewritten", `(with-open-file (s "OUT/new.txt" :direction :output) (write-string "abcd" s) (finish-output s) (file-position s 1) (write-string "X" s) (file-position s))`, "2", "new.txt", "aXcd"},
		{"aborted", `(with-open-file (s "OUT/old.txt" :direction :output :if-exists :supersede) (write-string "new" s) (error "no"))`, "", "old.txt", "old\n"},
		{"appended", `(with-open-file (s "OUT/old.txt" :direction :output :if-exists :append) (write-string "new" s) (finish-output s) (write-string "er" s) (file-length s))`, "9", "old.txt", "old\nnewer"},
		{"overwritten", `(with-open-file (s "OUT/old.txt" :direction :output :if-exists :overwrite) (write-string "N" s))`, `"N"`, "old.txt", "Nld\n"},
		{"read and written", `(with-open-file (s "OUT/old.txt" :direction :io :if-exists :overwrite) (let ((line (read-line s))) (write-string "more" s) (file-position s 0) (list line (read s) (read s))))`, `("old" OLD MORE)`, "old.txt", "old\nmore"},
		{"nothing to append to", `(handler-case (open "OUT/new.txt" :direction :output :if-exists :append) (file-error () :none))`, ":NONE", "new.txt", ""},
		{"nothing to write", `(close (open "OUT/new.txt" :direction :output))`, "T", "new.txt", ""},
		{"probed and made", `(list (open "OUT/new.txt" :direction :probe) (open-stream-p (open "OUT/new.txt" :direction :probe :if-does-not-exist :create)))`, "(NIL NIL)", "new.txt", ""},
		{"through others", `(let* ((s (open "OUT/new.txt" :direction :output)) (b (make-broadcast-stream s))) (princ 12 b) (finish-output b) (list (file-length b) (file-position b)))`, "(2 2)", "new.txt", "12"},
		{"bytes", `(progn (with-open-file (s "OUT/new.txt" :direction :output :element-type '(unsigned-byte 8)) (write-byte 65 s) (write-sequence #(66 10) s)) (with-open-file (s "OUT/new.txt" :element-type '(unsigned-byte 8)) (list (stream-element-type s) (file-length s) (read-byte s) (let ((v (vector 0 0 0))) (list (read-sequence v s) v)) (read-byte s nil :end))))`, "((UNSIGNED-BYTE 8) 3 65 (2 #(66 10 0)) :END)", "new.txt", "AB\n"},
		{"wide integers", `(progn (with-open-file (s "OUT/new.txt" :direction :output :element-type '(signed-byte 12)) (dolist (n '(-2 2047)) (write-byte n s))) (with-open-file (s "OUT/new.txt" :element-type '(signed-byte 12)) (list (read-byte s) (read-byte s))))`, "(-2 2047)", "new.txt", "\xfe\xff\xff\x07"},
		{"a byte too large", `(with-open-file (s "OUT/new.txt" :direction :output :element-type '(unsigned-byte 8)) (handler-case (write-byte 256 s) (type-error (e) (type-error-datum e))))`, "256", "new.txt", ""},
		{"bytes to a text", `(with-open-file (s "OUT/new.txt" :direction :output) (handler-case (write-byte 1 s) (type-error () :no)))`, ":NO", "new.txt", ""},
		{"text from bytes", `(with-open-file (s "OUT/old.txt" :element-type '(unsigned-byte 8)) (list (handler-case (read-char s) (type-error () :no)) (handler-case (read-line s) (type-error () :no)) (handler-case (read s) (type-error () :no))))`, "(:NO :NO :NO)", "old.txt", "old\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, root := fileWorld(t)
			out := filepath.Join(root, "out")
			e := newEnvironment(t, lisp.Config{Access: lisp.Access{Read: []string{out}, Write: []string{out}}})
			form := strings.ReplaceAll(test.form, "OUT", out)
			got, err := evaluated(t, e, form)
			if test.want != "" && err != nil || got != test.want && test.want != "" {
				t.Errorf("%s: %s (%v), want %s", form, got, err, test.want)
			}
			text, err := os.ReadFile(filepath.Join(out, test.file))
			if string(text) != test.text {
				t.Errorf("%s: %q (%v), want %q", test.file, text, err, test.text)
			}
		})
	}
}

// TestUnsavedFiles makes sure that what was written and cannot be stored is told, and that
// a call which ran out of its means leaves nothing to be stored.
func TestUnsavedFiles(t *testing.T) {
	e, root := fileWorld(t)
	gone := filepath.Join(root, "out", "gone")
	if err := os.Mkdir(gone, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := evaluated(t, e, fmt.Sprintf(`(progn (defvar *s* (open "%s/x" :direction :output)) 1)`, gone)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(gone); err != nil {
		t.Fatal(err)
	}
	if _, err := evaluated(t, e, `(princ 1 *s*)`); err == nil {
		t.Error("a text that cannot be stored was lost silently")
	}
	if _, err := evaluated(t, e, fmt.Sprintf(`(let ((s (open "%s/out/x" :direction :output))) (loop (write-string "much text" s)))`, root)); err == nil {
		t.Error("no limit was reached")
	}
	if n := e.UnsavedStreams(); n != 0 {
		t.Errorf("%d streams are kept", n)
	}
}
