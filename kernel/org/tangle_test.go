package org_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tangleCases are notes and the files that Emacs makes of them: NAME[ MODE]=CONTENT.
var tangleCases = []struct {
	name, note string
	want       []string
}{
	{"a setup file gives header arguments", "#+SETUPFILE: ../setup/one.org\n#+begin_src x\n1\n#+end_src\n", []string{"one.x=1\n"}},
	{"a setup file in quotes, and the note has the last word", "#+setupfile: \"../setup/one.org\"\n#+PROPERTY: header-args :tangle two.x\n#+begin_src x\n1\n#+end_src\n", []string{"two.x=1\n"}},
	{"a setup file behind the note's own line has the last word", "#+PROPERTY: header-args :tangle two.x\n#+begin_src x\n1\n#+end_src\n* A\n#+SETUPFILE: ../setup/one.org\n", []string{"one.x=1\n"}},
	{"setup files name others, relative to themselves, and each other", "#+SETUPFILE: ../setup/one.org\n#+SETUPFILE: ../setup/adds.org\n#+begin_src sh\n1\n#+end_src\n#+begin_src x\n2\n#+end_src\n", []string{"one.x -rwxr-xr-x=#!/bin/sh\n1\n2\n"}},
	{"the TODO keywords of a setup file", "#+SETUPFILE: ../setup/one.org\n* NEXT COMMENT A\n#+begin_src x\n1\n#+end_src\n* TODO COMMENT B\n#+begin_src x\n2\n#+end_src\n", []string{"one.x=2\n"}},
	{"a setup file that is not there", "#+SETUPFILE: ../setup/none.org\n#+begin_src x :tangle a.x\n1\n#+end_src\n", []string{"a.x=1\n"}},
	{"a setup file that is a directory", "#+SETUPFILE: ../setup\n#+begin_src x :tangle a.x\n1\n#+end_src\n", []string{"a.x=1\n"}},
	{"a setup file that is the note", "#+SETUPFILE: n.org\n#+PROPERTY: header-args :tangle a.x\n#+begin_src x\n1\n#+end_src\n", []string{"a.x=1\n"}},
	{"a setup file with CRLF", "#+SETUPFILE: ../setup/returns.org\n#+begin_src x\n1\n#+end_src\n", []string{"returns.x=1\n"}},
	{"a file's drawer is not for an orphan of level 2", ":PROPERTIES:\n:header-args: :tangle a.x\n:END:\n** Sub\n#+begin_src x\n1\n#+end_src\n", nil},
	{"a file's drawer is for headings of level 1", ":PROPERTIES:\n:header-args: :tangle a.x\n:END:\n* A\n** B\n#+begin_src x\n1\n#+end_src\n", []string{"a.x=1\n"}},
	{"blank lines before a file's drawer make it none", "\n:PROPERTIES:\n:header-args: :tangle a.x\n:END:\n#+begin_src x\n1\n#+end_src\n", nil},
	{"the drawer of a heading on the first line is for all", "* A\n:PROPERTIES:\n:header-args: :tangle a.x\n:END:\n* B\n** C\n#+begin_src x\n1\n#+end_src\n", []string{"a.x=1\n"}},
	{"noweb: what is between the first and the last mark is one name", "#+begin_src x :tangle a.x :noweb yes\n1<<n>><<n>>2<<n>>\n#+end_src\n#+name: n\n#+begin_src x\n3\n#+end_src\n", []string{"a.x=123\n"}},
	{"comments before a file's drawer are fine", "# c\n:PROPERTIES:\n:header-args: :tangle a.x\n:END:\n#+begin_src x\n1\n#+end_src\n", []string{"a.x=1\n"}},
	{"a property keyword without a value changes nothing", "#+PROPERTY: header-args :tangle a.x\n#+PROPERTY: header-args\n#+begin_src x\n1\n#+end_src\n", []string{"a.x=1\n"}},
	{"an empty property shadows a later one and those above", "#+PROPERTY: header-args :tangle a.x\n* A\n:PROPERTIES:\n:header-args:\n:header-args: :tangle b.x\n:END:\n#+begin_src x\n1\n#+end_src\n", nil},
	{"the property nil is none", "#+PROPERTY: header-args :tangle a.x\n* A\n:PROPERTIES:\n:header-args: nil\n:END:\n#+begin_src x\n1\n#+end_src\n", []string{"a.x=1\n"}},
	{"a drawer adds to what is above", "#+PROPERTY: header-args :tangle a.x\n* A\n:PROPERTIES:\n:header-args+: :padline no\n:header-args:x: :shebang #!x\n:END:\n#+begin_src x\n1\n#+end_src\n#+begin_src x\n2\n#+end_src\n", []string{"a.x -rwxr-xr-x=#!x\n1\n2\n"}},
	{"of header lines the first wins", "#+header: :tangle a.x\n#+headers: :tangle b.x\n#+begin_src x :tangle no\n1\n#+end_src\n", []string{"a.x=1\n"}},
	{"a tab before the language hides it", "#+begin_src\tx :tangle a.x\n1\n#+end_src\n#+begin_src\tx :tangle yes\n2\n#+end_src\n", []string{"a.x=1\n", "n=2\n"}},
	{"a label format in quotes reaches to the last quote", "#+begin_src x -l \"<%s>\" :tangle \"a.x\"\n1\n#+end_src\n", nil},
	{"labels go with -r", "#+begin_src x -r :tangle a.x\n1  (ref:a) \n2 (REF:b c)\n3 (ref:) \n4\n#+end_src\n", []string{"a.x=1\n2\n3 (ref:) \n4\n"}},
	{"indentation goes though -i asks to keep it", "#+begin_src x -i :tangle a.x\n    1\n      2\n#+end_src\n", []string{"a.x=1\n  2\n"}},
	{"the first line loses all of its indentation", "#+begin_src x :tangle a.x\n      1\n  2\n#+end_src\n", []string{"a.x=1\n2\n"}},
	{"tabs across the edge become blanks", "#+begin_src x :tangle a.x\n  1\n\t2\n  \t3\n#+end_src\n", []string{"a.x=1\n      2\n      3\n"}},
	{"a short text keeps some of its tabs", "#+begin_src elisp :tangle a.x :var x=1\n\ta\n#+end_src\n", []string{"a.x=(let ((x '1))\n     a\n)\n"}},
	{"one comma goes", "#+begin_src x :tangle a.x\n1\n,* 2\n,,#+3\n  ,*4\n,5\n#+end_src\n", []string{"a.x=1\n* 2\n,#+3\n  *4\n,5\n"}},
	{"an end with more on its line ends only for the search", "#+begin_src x :tangle a.x\n1\n#+end_srcx\n2\n#+end_src\n", []string{"a.x=1\n#+end_srcx\n2\n"}},
	{"a block in an example is text", "#+begin_example\n#+begin_src x :tangle a.x\n1\n#+end_src\n#+end_example\n", nil},
	{"a block in a quote, a list, a drawer, a dynamic block", "#+begin_quote\n#+begin_src x :tangle a.x\n1\n#+end_src\n#+end_quote\n- i\n  #+begin_src x :tangle a.x\n  2\n  #+end_src\n:d:\n#+begin_src x :tangle a.x\n3\n#+end_src\n:END:\n#+BEGIN: x\n#+begin_src x :tangle a.x\n4\n#+end_src\n#+END:\n", []string{"a.x=1\n\n2\n\n3\n\n4\n"}},
	{"a block in a LaTeX environment is text", "\\begin{a}\n#+begin_src x :tangle a.x\n1\n#+end_src\n\\end{a}\n", nil},
	{"a quote ends a block without an end", "#+begin_quote\n#+begin_src x :tangle a.x\n1\n#+end_quote\n", nil},
	{"COMMENT and archived trees are left out", "* COMMENT A\n** B\n#+begin_src x :tangle a.x\n1\n#+end_src\n* C :ARCHIVE:\n** D\n#+begin_src x :tangle a.x\n2\n#+end_src\n* E\n#+begin_src x :tangle a.x\n3\n#+end_src\n", []string{"a.x=3\n"}},
	{"two names of one file: the last wins", "#+begin_src x :tangle a.x\n1\n#+end_src\n#+begin_src x :tangle ./a.x\n2\n#+end_src\n", []string{"a.x=2\n"}},
	{"yes takes the language as extension", "#+begin_src python :tangle yes\n1\n#+end_src\n#+begin_src elisp :tangle yes\n2\n#+end_src\n", []string{"n.el=2\n", "n.python=1\n"}},
	{"the first mode wins, a plain number is decimal", "#+begin_src x :tangle a.x :tangle-mode (identity #o444)\n1\n#+end_src\n#+begin_src x :tangle a.x :tangle-mode (identity #o755)\n2\n#+end_src\n#+begin_src x :tangle b.x :tangle-mode 0420\n3\n#+end_src\n", []string{"a.x -r--r--r--=1\n\n2\n", "b.x -rw-r--r--=3\n"}},
	{"the shebang stands where its block does, once", "#+begin_src x :tangle a.x\n1\n#+end_src\n#+begin_src x :tangle a.x :shebang #!b\n2\n#+end_src\n#+begin_src x :tangle a.x :shebang #!c\n3\n#+end_src\n", []string{"a.x -rwxr-xr-x=1\n\n#!b\n2\n\n3\n"}},
	{"noweb: prefixes, names before references, separators", "#+begin_src x :tangle a.x :noweb yes\n# <<r>> end\n<<n>> <none>\n#+end_src\n#+name: n\n#+begin_src x :noweb-ref n\n1\n2\n#+end_src\n#+begin_src x :noweb-ref r :noweb-sep \";\"\n3\n#+end_src\n#+begin_src x :noweb-ref r\n4\n5\n#+end_src\n", []string{"a.x=# 3;4\n# 5 end\n1\n2 <none>\n"}},
	{"noweb: what a reference names expands as when evaluated", "#+begin_src x :tangle a.x :noweb tangle\n<<n>>\n<<m>>\n#+end_src\n#+name: n\n#+begin_src x :noweb tangle\n<<o>>\n#+end_src\n#+name: m\n#+begin_src x :noweb eval\n<<o>>\n#+end_src\n#+name: o\n#+begin_src x\n1\n#+end_src\n", []string{"a.x=<<o>>\n1\n"}},
	{"noweb: a block in itself that is not expanded when evaluated", "#+name: n\n#+begin_src x :tangle a.x :noweb tangle\n1\n<<n>>\n#+end_src\n", []string{"a.x=1\n1\n<<n>>\n"}},
	{"noweb: names in any case, references as written", "#+begin_src x :tangle a.x :noweb yes\n<<N>>\n<<R>>\n<<r>>\n#+end_src\n#+name: n\n#+begin_src x\n1\n#+end_src\n#+begin_src x :noweb-ref r\n2\n#+end_src\n", []string{"a.x=1\n\n2\n"}},
	{"noweb: a subtree by its ID", "#+begin_src x :tangle a.x :noweb yes\n<<cid>>\n<<id>>\n#+end_src\n* A\n:PROPERTIES:\n:CUSTOM_ID: cid\n:END:\none\n** B\n* C\n:PROPERTIES:\n:ID: id\n:END:\ntwo\n", []string{"a.x=one\n** B\ntwo\n"}},
	{"noweb: a name in a COMMENT tree is none", "#+begin_src x :tangle a.x :noweb yes\n1<<n>>2\n#+end_src\n* COMMENT C\n#+name: n\n#+begin_src x\n3\n#+end_src\n", []string{"a.x=12\n"}},
	{"variables of Emacs Lisp", "#+begin_src emacs-lisp :tangle a.x :var a=1 b=\"x \\\"y\\\"\" :var c = 1e3\n(a)\n#+end_src\n#+begin_src x :tangle b.x :var a=1\n1\n#+end_src\n", []string{"a.x=(let ((a '1)\n      (b '\"x \\\"y\\\"\")\n      (c '1000.0))\n(a)\n)\n", "b.x=1\n"}},
	{"prologue and epilogue", "#+begin_src x :tangle a.x :prologue \"a\\nb\" :epilogue c\n1\n#+end_src\n#+begin_src x :tangle b.x :prologue a :no-expand\n1\n#+end_src\n#+begin_src elisp :tangle c.x :prologue a\n1\n#+end_src\n", []string{"a.x=a\nb\n1\nc\n", "b.x=1\n", "c.x=1\n"}},
	{"comments: links", "* A [1/2]  b\n#+begin_src sh :tangle there/a.x :comments link\n1\n#+end_src\n#+name: n\n#+begin_src C :tangle ../u.x :comments yes\n2\n#+end_src\n", []string{"there/a.x=# [[file:../n.org::*A b][A [1/2]  b:1]]\n1\n# A [1/2]  b:1 ends here\n"}},
	{"comments: text", "* A\ntext\n  more\n#+begin_src lisp :tangle a.x :comments org\n1\n#+end_src\n\nnext\n#+begin_src lisp :tangle a.x :comments both\n2\n#+end_src\n", []string{"a.x=;; A\n;; text\n;;   more\n\n1\n\n\n\n;; next\n\n;; [[file:n.org::*A][A:2]]\n2\n;; A:2 ends here\n"}},
	{"comments: without a mode those of the block before", "#+begin_src python :tangle a.x :comments link\n1\n#+end_src\n#+begin_src nolang :tangle a.x :comments link\n2\n#+end_src\n", []string{"a.x=# [[file:n.org::+begin_src python :tangle a.x :comments link][No heading:1]]\n1\n# No heading:1 ends here\n\n# [[file:n.org::+begin_src nolang :tangle a.x :comments link][No heading:2]]\n2\n# No heading:2 ends here\n"}},
	{"comments: marks in the text are made harmless", "* a */ /* b\n#+begin_src C :tangle a.x :comments link\n1\n#+end_src\n", []string{"a.x=/* [[file:n.org::*a *\\/ /\\* b][a *\\/ /\\* b:1]] */\n1\n/* a *\\/ /\\* b:1 ends here */\n"}},
	{"line ends: a name in a file with some CRLF", "#+PROPERTY: header-args :comments link\r\n#+PROPERTY: header-args \r\n#+name: n\r\n#+begin_src sh :tangle a.x\n1\n#+end_src\n", []string{"a.x=# [[file:n.org::n][n]]\n1\n# n ends here\n"}},
	{"a name at the end of a list item names no block behind it", "- one\n  #+name: n\n#+begin_src sh :tangle a.x :comments link\n1\n#+end_src\n", []string{"a.x=# [[file:n.org::+begin_src sh :tangle a.x :comments link][No heading:1]]\n1\n# No heading:1 ends here\n"}},
	{"a word before the first colon is no argument", "* A\n:PROPERTIES:\n:header-args:\n:header-args+: :tangle-mode (identity #o755) :padline no\n:END:\n#+begin_src x :tangle a.x\n1\n#+end_src\n", []string{"a.x=1\n"}},
	{"noweb: a reference to what only looks like a block, with comments", "#+begin_src sh :tangle a.x :noweb yes :comments noweb\n<<n>>\n#+end_src\n#+name: n\n#+begin_src sh\n* star\n#+end_src\n", []string{"a.x=# [[file:n.org::+begin_src sh :tangle a.x :noweb yes :comments noweb][No heading:1]]\n# [[%link][%source-name]]\n\n# %source-name ends here\n# No heading:1 ends here\n"}},
	{"a name in a list item", "- one\n  #+name: n\n  #+begin_src sh :tangle a.x :comments link\n  1\n  #+end_src\n", []string{"a.x=# [[file:n.org::n][n]]\n1\n# n ends here\n"}},
	{"line ends: CRLF", "#+begin_src x :tangle a.x\r\n1\r\n2\r\n#+end_src\r\n", []string{"a.x=1\n2\n"}},
	{"line ends: CR", "#+begin_src x :tangle a.x\r1\r2\r#+end_src\r", []string{"a.x=1\n2\n"}},
	{"line ends: some CRLF", "#+begin_src x :tangle a.x\n1\r\n2\n#+end_src\n", []string{"a.x=1\r\n2\n"}},
	{"Latin-1 is written as UTF-8", "#+begin_src x :tangle a.x\n\xe9\n#+end_src\n", []string{"a.x=\u00e9\n"}},
	{"a byte order mark goes", "\ufeff#+begin_src x :tangle a.x\n\u00e9\n#+end_src\n", []string{"a.x=\u00e9\n"}},
	{"empty blocks are empty lines", "#+begin_src x :tangle a.x\n#+end_src\n#+begin_src x :tangle a.x\n\n  \n#+end_src\n", []string{"a.x=\n\n\n"}},
}

// TestTangleCases checks that each note makes the files that Emacs makes of it.
func TestTangleCases(t *testing.T) {
	for _, c := range tangleCases {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			ours, diagnostics := weTangle(t, filepath.Join(root, "note"), root, c.note)
			if ours.failure != "ok" {
				t.Fatal(ours.failure, diagnostics)
			}
			want := map[string]string{"there/": "drwxr-xr-x"}
			for _, file := range c.want {
				name, content, _ := strings.Cut(file, "=")
				name, mode, found := strings.Cut(name, " ")
				if !found {
					mode = "-rw-r--r--"
				}
				want[name] = fmt.Sprintf("%s %q", mode, content)
			}
			if !maps.Equal(ours.tree, want) {
				t.Errorf("got\n%v\nwant\n%v", ours.tree, want)
			}
		})
	}
}

// TestEmacsTanglesCases checks that Emacs makes these files of the cases.
func TestEmacsTanglesCases(t *testing.T) {
	var notes []string
	for _, c := range tangleCases {
		notes = append(notes, c.note)
	}
	for _, c := range refusedNotes {
		notes = append(notes, c.note)
	}
	compareTangles(t, notes)
}

// refusedNotes are notes of which nothing is written, and the reason.
var refusedNotes = []struct{ note, want string }{
	{"#+begin_src x :tangle (f)\n#+end_src\n", "1:1: error: :tangle (f) is Emacs Lisp"},
	{"* A\n:PROPERTIES:\n:header-args:\n:header-args+: :export (a\n:END:\n#+begin_src x :tangle a.x\n#+end_src\n", "4:1: error: :(export) (a is Emacs Lisp"},
	{"#+PROPERTY: header-args :padline '(a)\n\n#+begin_src x :tangle a.x\n#+end_src\n", "1:1: error: :padline '(a) is Emacs Lisp"},
	{"#+begin_src x :tangle a.x :var y=table\n#+end_src\n", "1:1: error: :var y=table: the value is the result"},
	{"#+begin_src x :tangle no :var y\n#+end_src\n", "1:1: error: :var y: a variable must be assigned"},
	{"#+begin_src x :tangle a.x :noweb yes\n\n<<f(x)>>\n#+end_src\n", "3:1: error: noweb reference <<f(x)>> asks for the result"},
	{"#+name: n\n#+begin_src x :tangle a.x :noweb yes\n<<n>>\n#+end_src\n", "3:1: error: noweb reference <<n>>: the block refers to itself"},
	{"#+begin_src sh :tangle a.x :noweb yes :comments org\n<<i>>\n#+end_src\n* A\n:PROPERTIES:\n:ID: i\n:END:\n", "1:1: error: a noweb reference to a heading's ID moves"},
	{"#+begin_src x :tangle 5\n#+end_src\n", "1:1: error: :tangle 5 is a number"},
	{"#+begin_src x :tangle\n#+end_src\n", "1:1: error: :tangle has no value"},
	{"#+begin_src x :tangle \"a\n#+end_src\n", "1:1: error: :tangle: the string has no end"},
	{"#+begin_src x :tangle a.x :tangle-mode o755\n#+end_src\n", "1:1: error: :tangle-mode o755 is no number"},
	{"#+begin_src x :tangle a.x :results\n#+end_src\n", "1:1: error: :results needs words"},
	{"#+begin_src text :tangle a.x :comments link\n1\n#+end_src\n", "1:1: error: :comments link: text: "},
	{"#+begin_src nolang :tangle a.x :comments link\n1\n#+end_src\n", "1:1: error: :comments link: nolang: a plain Emacs has no mode"},
	{"* A\n#+begin_src x :tangle a.x\n* B\n#+begin_src x :tangle a.x\n#+end_src\n", "2:1: error: #+begin_src without #+end_src"},
	{"#+begin_src x :tangle no/a.x\n1\n#+end_src\n", "1:1: error: no/a.x: there is no directory"},
	{"#+begin_src x :tangle there\n1\n#+end_src\n", "1:1: error: there is a directory"},
	{"#+begin_src x :tangle there/\n1\n#+end_src\n", "1:1: error: :tangle there/ names a directory"},
}

// TestTangleRefuses checks that nothing is written where Org would evaluate, ask or fail.
func TestTangleRefuses(t *testing.T) {
	for _, c := range refusedNotes {
		root := t.TempDir()
		ours, _ := weTangle(t, filepath.Join(root, "note"), root, c.note)
		if !strings.HasPrefix(ours.failure, c.want) {
			t.Errorf("%q: %s, want %s", c.note, ours.failure, c.want)
		}
		if names := slices.Collect(maps.Keys(ours.tree)); len(names) != 1 {
			t.Errorf("%q wrote %v", c.note, names)
		}
	}
	for note, want := range map[string]string{
		"#+begin_src x :tangle /ssh:h:/a.x\n#+end_src\n":                              "1:1: error: :tangle /ssh:h:/a.x is on another machine",
		"#+begin_src x :tangle a.gz\n#+end_src\n":                                     "1:1: error: :tangle a.gz: Emacs would compress",
		"#+begin_src x :tangle a.x\na\x00b\n#+end_src\n":                              "2:2: error: a NUL byte",
		"#+begin_src x :tangle a.x\n\xff\x80\n#+end_src\n":                            "2:2: error: a byte that is neither",
		"\n#+begin_src x :tangle a.x\n# -*- coding: latin-1 -*-\n\u00e9\n#+end_src\n": "2:1: error: a.x says that its coding system is latin-1",
		"#+begin_src rst :tangle a.x :comments link\n1\n#+end_src\n":                  "1:1: error: :comments link: rst: its comments are not supported",
		"#+begin_src x :tangle ~other/a.x\n1\n#+end_src\n":                            "1:1: error: :tangle ~other/a.x: the home of another user",
	} {
		root := t.TempDir()
		if ours, _ := weTangle(t, filepath.Join(root, "note"), root, note); !strings.HasPrefix(ours.failure, want) {
			t.Errorf("%q: %s, want %s", note, ours.failure, want)
		}
	}
}
