package org_test

import (
	"strings"

	"pgregory.net/rapid"
)

// The parts of random notes to tangle.
var (
	tangleTargets   = []string{"a.x", "a.x", "b.x", "./a.x", "there/c.x", "yes", "no", "new/d.x", "\"a b.x\"", "../up.x", "~/home.x"}
	tangleLanguages = []string{"python", "emacs-lisp", "elisp", "sh", "C", "js", "html", "unknown", "lisp", "sql", "css", "org", "latex", "text", "xml", "pascal"}
	tangleArguments = []string{
		":tangle a.x", ":tangle b.x", ":tangle yes", ":tangle no", ":tangle new/d.x :mkdirp yes", ":mkdirp yes", ":mkdirp no", ":noweb yes", ":noweb no", ":noweb tangle",
		":noweb eval", ":noweb no-export", ":noweb strip-export", ":noweb strip-tangle", ":noweb-ref r1", ":noweb-ref r2", ":noweb-sep \"\"", ":noweb-sep \"\\n\\n\"", ":noweb-sep \", \"",
		":padline no", ":padline yes", ":shebang #!/bin/sh", ":shebang \"#!/usr/bin/env python\"", ":comments no", ":comments link", ":comments yes", ":comments noweb",
		":comments org", ":comments both", ":comments", ":tangle-mode (identity #o755)", ":tangle-mode (identity #o444)", ":tangle-mode 420", ":no-expand", ":prologue \"before it\"",
		":epilogue after", ":var x=1", ":var x=\"a\\\"b\"", ":var x=1.50 y=\"two words\"", ":var x = 1e3", ":results silent", ":exports none", ":eval no", ":session a :cache yes",
		":foo \"x :tangle no\" :bar (a :tangle z)", ":baz [1 :tangle q]", ":padline no :padline", ":export (a", ":noweb  yes", "  :padline\tno", ":lexical t",
	}
	tangleBodies = []string{
		"x = 1", "  indented", "\tone tab", "    four", "        eight", " \tmixed", "", "", "   ", ",* star", ",#+x", ",,* two", "  ,* in", ",", ",x", "last line  ",
		"<<r1>>", "  <<r1>>", "# <<r2>> end", "<<n1>> and <<n2>>", "<<none>>", "<<r1", "<< r1>>", "<<N1>>", "<<hid>>", "a <<r2>>", "\t<<n1>>", "<<r1>>>", "<<a>>b>>",
		"(ref:one)", "code (ref:two)", "code   (ref:a b) ", "code <b>", "/* c */ <!-- x --> { } -- --", "é ü 漢", "%source-name", "\\ \"q\" 'x'", "* star", "#+x", "# comment",
	}
	tangleBetween = []string{
		"text", "", "", "more text here", "  indented text", "<<target>>", "a <<target2>>", "- item", "  - sub", "1. one", "| a | b |", ": fixed", "# comment", "* Heading", "** Sub [1/2] x", "*** TODO [#A] deep :tag:",
		"* COMMENT hidden", "** COMMENT", "* Archived :ARCHIVE:", "* DONE  two  blanks ", "* [50%]", "* ", "** a [[link][desc]] b]", "* %source-name",
		"#+begin_quote", "#+end_quote", "#+begin_example", "#+end_example", "#+BEGIN_CENTER", "#+END_CENTER", ":drawer:", ":END:", ":end:", "#+begin_foo", "#+end_foo", "#+BEGIN: dyn", "#+END:",
		"\\begin{eq}", "\\end{eq}", "[fn:1] note", "#+begin_src", "#+begin_src x", "#+end_src", "#+end_srcx", "#+begin_src\tpython :tangle a.x", "  #+end_src", "#+begin_comment", "#+end_comment", "#+caption: c", "#+name: n1", "#+name: n2", "#+name:",
		"SCHEDULED: <2026-01-01 Thu>", "\t\ttabs", "   ", "-----", "#+results:", "#+RESULTS[abc]: n1", "#+call: n1()", "#+TITLE: t", "#+begin_verse", "#+end_verse", "#+begin_export html", "#+end_export",
	}
	tangleSwitches = []string{"", "", "", "", "", " -n", " -r", " -n 10 -r", " -i", " -l \"<%s>\" -r", " +n", " -k -r", " -r -l \"(ref:%s)\""}
	tangleNames    = []string{"n1", "n2", "N1", "name with blanks", "r1"}
)

// tangleNote draws a note with everything that decides what is tangled.
func tangleNote(t *rapid.T) string {
	draw := func(from []string) string { return rapid.SampledFrom(from).Draw(t, "part") }
	chance := func(of int) bool { return rapid.IntRange(1, of).Draw(t, "chance") == 1 }
	var lines []string
	some := func(limit int, add func()) {
		for range rapid.IntRange(0, limit).Draw(t, "some") {
			add()
		}
	}
	arguments := func(limit int) string {
		var words []string
		some(limit, func() { words = append(words, draw(tangleArguments)) })
		return strings.Join(words, " ")
	}
	drawer := func() {
		lines = append(lines, ":PROPERTIES:")
		some(3, func() {
			lines = append(lines, draw([]string{":header-args: ", ":header-args+: ", ":header-args:python: ", ":Header-Args:emacs-lisp+: ", ":header-args:sh: "})+arguments(2))
		})
		some(1, func() {
			lines = append(lines, draw([]string{":CUSTOM_ID: hid", ":ID: hid", ":header-args: nil", ":x:", ":CUSTOM_ID: cid"}))
		})
		lines = append(lines, ":END:")
	}
	if chance(6) {
		drawer()
	}
	some(2, func() {
		lines = append(lines, "#+PROPERTY: "+draw([]string{"header-args ", "header-args+ ", "header-args:sh ", "header-args:python+ "})+arguments(2))
	})
	wild := chance(3)
	some(7, func() {
		some(2, func() {
			if wild || chance(4) {
				lines = append(lines, draw(tangleBetween))
			} else {
				lines = append(lines, draw(tangleBetween[:24]))
			}
		})
		if chance(4) {
			lines = append(lines, draw([]string{"* Heading", "** Sub two", "*** TODO third", "* COMMENT hid", "** arch :ARCHIVE:"}))
			if chance(2) {
				drawer()
			}
		}
		if chance(3) {
			lines = append(lines, draw([]string{"#+name: ", "#+NAME: ", "  #+name: ", "#+srcname: ", "#+label: "})+draw(tangleNames))
		}
		some(2, func() {
			if chance(3) {
				lines = append(lines, draw([]string{"#+header: ", "#+HEADERS: ", "#+attr_x: "})+arguments(2))
			}
		})
		indent := draw([]string{"", "", "", "  ", "\t", "    "})
		target := " :tangle " + draw(tangleTargets)
		if chance(4) {
			target = ""
		} else if chance(2) {
			target = " :tangle a.x"
		}
		language := draw(tangleLanguages)
		if chance(2) {
			language = draw(tangleLanguages[:5])
		}
		lines = append(lines, indent+draw([]string{"#+begin_src ", "#+BEGIN_SRC ", "#+Begin_Src  "})+language+draw(tangleSwitches)+target+" "+arguments(3))
		some(5, func() {
			line := draw(tangleBodies)
			if chance(2) {
				line = indent + line
			}
			lines = append(lines, line)
		})
		if !wild || !chance(8) {
			lines = append(lines, indent+draw([]string{"#+end_src", "#+END_SRC", "#+end_src  "}))
		}
	})
	text := strings.Join(lines, "\n")
	switch rapid.IntRange(0, 19).Draw(t, "ends") {
	case 0:
		return strings.ReplaceAll(text, "\n", "\r\n") + "\r\n"
	case 1:
		return text
	case 2:
		return strings.Replace(text, "\n", "\r\n", 3) + "\n"
	case 3:
		return strings.ReplaceAll(text, "é ü 漢", "\xe9 \xfc") + "\n"
	}
	return text + "\n"
}
