package plist_test

import (
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
)

// reader.el reads each line of the file IN and writes to OUT, line by line, the
// structure it read (see shape) and what prin1 makes of it, in hexadecimal.
const readerEl = `
(setq print-quoted nil)
(defun hex (s) (mapconcat (lambda (b) (format "%02x" b)) (encode-coding-string s 'utf-8) ""))
(defun shape (x)
  (cond ((null x) "n")
        ((stringp x) (concat "s" (hex x)))
        ((numberp x) (concat (if (integerp x) "i" "f") (prin1-to-string x)))
        ((symbolp x) (concat "y" (hex (symbol-name x))))
        ((proper-list-p x) (concat "(" (mapconcat #'shape x " ") ")"))
        ((consp x) (concat "[" (shape (car x)) " " (shape (cdr x)) "]"))
        (t "?")))
(let ((coding-system-for-read 'utf-8-unix) (coding-system-for-write 'utf-8-unix) (out nil))
  (with-temp-buffer
    (insert-file-contents (getenv "IN"))
    (dolist (line (split-string (buffer-string) "\n" t))
      (push (condition-case err
                (let ((x (read-from-string line)))
                  (if (= (cdr x) (length line))
                      (concat (shape (car x)) "\t" (hex (prin1-to-string (car x))))
                    "more than one form"))
              (error (format "error %S" err)))
            out)))
  (with-temp-file (getenv "OUT") (dolist (l (nreverse out)) (insert l "\n"))))`

// shape returns what reader.el writes for x.
func shape(x sexp.Sexp) string {
	switch x := x.(type) {
	case sexp.List:
		if len(x) == 0 {
			return "n"
		}
		parts := make([]string, len(x))
		for i := range x {
			parts[i] = shape(x[i])
		}
		return "(" + strings.Join(parts, " ") + ")"
	case *plist.Pair:
		return "[" + shape(x.Car) + " " + shape(x.Cdr) + "]"
	case plist.String:
		return "s" + hex.EncodeToString([]byte(x))
	case plist.Int, plist.BigInt:
		return "i" + plist.Print(x)
	case plist.Float:
		return "f" + plist.Print(x)
	case plist.Keyword:
		return "y" + hex.EncodeToString([]byte(":"+string(x)))
	case sexp.Symbol:
		return "y" + hex.EncodeToString([]byte(string(x)))
	}
	return "?"
}

// numbersAndNames are tokens that one reader or another takes for a number.
const numbersAndNames = `0 -0 +0 007 -12 +5 5. -5. 1.5 .5 -.5 +.5 1e3 1E3 1.5e3 1.5e+3 1.5e-3 1.e5 1.e+5 .e5 .5e1 1.5e 1e 1e+ e5 1/2 1d0 1f0
	2026-11-21 1.2.3 1+ 1- + - -- ... .. .a a. a.b 12a 1e5e5 -0.0 0.1 1e21 1e22 123456789.123456789 5e-324 1e-310 2.2250738585072014e-308 4.9406564584124654e-320 1.7976931348623157e308
	9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809 99999999999999999999999999
	:a :A :é é É a:b a::b pkg:sym :: : :1 nil NIL t T <= /= *x* a?b :?x x@y ~ ^ $ % & _ 漢字 1.0e+INF 0.0e+NaN 1e-400 100000.0 1e15 1e16 123456789012345678.0`

func TestEmacsReadsPrinted(t *testing.T) {
	var data []sexp.Sexp
	for _, token := range strings.Fields(numbersAndNames) {
		x, err := plist.Read(token)
		if err != nil {
			t.Fatalf("%s: %v", token, err)
		}
		data = append(data, x)
	}
	random := trees(5)
	for seed := range 2000 {
		data = append(data, random.Example(seed))
	}
	lines := make([]string, len(data))
	for i := range data {
		lines[i] = plist.Print(data[i])
	}
	for i, got := range emacsRead(t, lines) {
		structure, printed, _ := strings.Cut(got, "\t")
		if want := shape(data[i]); structure != want {
			t.Errorf("Emacs reads %s as %s, not %s", lines[i], structure, want)
			continue
		}
		text, err := hex.DecodeString(printed)
		if err != nil {
			t.Fatal(err)
		}
		if hasEscapedName(string(text)) {
			continue // Emacs marks names that look like numbers with a \, which data has not
		}
		back, err := plist.Read(string(text))
		if err != nil || !plist.Equal(back, data[i]) {
			t.Errorf("of %s Emacs prints %q, which is read as %v, %v", lines[i], text, back, err)
		}
	}
}

// hasEscapedName reports whether printed has a backslash outside of strings.
func hasEscapedName(printed string) bool {
	inString := false
	for i := 0; i < len(printed); i++ {
		switch printed[i] {
		case '"':
			inString = !inString
		case '\\':
			if !inString {
				return true
			}
			i++
		}
	}
	return false
}

// emacsRead makes one Emacs read every line.
func emacsRead(t *testing.T, lines []string) []string {
	t.Helper()
	if testing.Short() {
		t.Skip("-short starts no Emacs")
	}
	dir := t.TempDir()
	script, in, out := filepath.Join(dir, "reader.el"), filepath.Join(dir, "in"), filepath.Join(dir, "out")
	for file, content := range map[string]string{script: readerEl, in: strings.Join(lines, "\n") + "\n"} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "emacs", "-Q", "--batch", "-l", script)
	cmd.Env = append(os.Environ(), "IN="+in, "OUT="+out, "HOME="+dir, "LC_ALL=C.UTF-8")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("emacs: %v\n%s", err, output)
	}
	content, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")
	if len(got) != len(lines) {
		t.Fatal(fmt.Errorf("emacs wrote %d lines for %d", len(got), len(lines)))
	}
	return got
}
