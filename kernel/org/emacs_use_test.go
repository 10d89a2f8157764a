package org

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// traps are texts that call (org-agent-fire) if they are not converted, when a person works in
// their buffer: C-c C-c, TAB in a table, following links, exporting, the agenda.
var traps = []string{
	"elisp:(org-agent-fire)", "[[elisp:(org-agent-fire)]]", "[[elisp:(org-agent-fire)][text]]", "<elisp:(org-agent-fire)>", "[text](elisp:(org-agent-fire))",
	"shell:true", "[[shell:true]]", "![text](shell:true)",
	"\n%%(org-agent-fire)\n", "\n&%%(org-agent-fire)\n", "<%%(org-agent-fire)>", "SCHEDULED: <%%(org-agent-fire)>\n",
	"| 1 |\n| 2 |\n#+TBLFM: $1='(org-agent-fire)\n", "| ='(org-agent-fire) | 1 |\n", "| :='(org-agent-fire) | 1 |\n", "| a |\n|---|\n| ='(org-agent-fire) |\n",
	"#+begin_src emacs-lisp :var x=(org-agent-fire)\nx\n#+end_src\n", "```emacs-lisp :var x=(org-agent-fire)\nx\n```\n",
	"#+header: :var x=(org-agent-fire)\n#+begin_src emacs-lisp\nx\n#+end_src\n", "* H\n:PROPERTIES:\n:header-args: :var x=(org-agent-fire)\n:END:\n",
	"#+CALL: f(x=(org-agent-fire))\n", "src_emacs-lisp[:var x=(org-agent-fire)]{x}", "call_f(x=(org-agent-fire))",
	"#+MACRO: fire (eval (org-agent-fire))\n{{{fire}}}\n", "#+begin_export ascii\nx\n#+end_export\n",
	"#+begin_src emacs-lisp :tangle stolen.el\nx\n#+end_src\n", "```emacs-lisp :tangle stolen.el\nx\n```\n", "#+PROPERTY: header-args :tangle stolen.el\n",
	"#+BIND: org-export-filter-body-functions (org-agent-fire)\n", "#+STARTUP: fold\n", "#+TODO: A(a@/!) | B(b)\n",
	"#+INCLUDE: \"/etc/passwd\" src sh\n", "#+SETUPFILE: https://example.org/setup.org\n", "#+SETUPFILE: /etc/passwd\n",
	"#+BEGIN: org-agent-fire\n#+END:\n", "#+BEGIN: clocktable :formula '(org-agent-fire)\n#+END:\n", "#+CONSTANTS: a='(org-agent-fire)\n",
	"Local Variables:\norg-agent-canary: t\nEnd:\n",
	"-*- mode: org; org-agent-canary: t; eval: (org-agent-fire) -*-\n", "# -*- org-agent-canary: t -*-\n", "* x -*- org-agent-canary: t -*-\n",
	"[[file+sys:/bin/true]]", "[[file+emacs:/etc/passwd]]", "[[file:/sudo:root@localhost:/etc/passwd]]", "[[calc:1]]",
	"- [ ] a [/]\n  - [ ] b\n", "* TODO x\nSCHEDULED: <2026-01-01 Thu +1d>\n", "<<<org>>>", "#+LINK: x elisp:(org-agent-fire)\n[[x:y]]\n", "#+ATTR_HTML: :x y\n",
	"#+begin_src emacs-lisp :results silent :session x :dir /tmp :eval yes\n(org-agent-fire)\n#+end_src\n", "```sh\n%%(org-agent-fire)\n&%%(org-agent-fire)\n```\n", "- a\n  ```sh\n  %%(org-agent-fire)\n%%(org-agent-fire)\n  ```\n", "> ```\n> %%(org-agent-fire)\n", "    %%(org-agent-fire)\n",
	"#+RESULTS:\n| a |\n", "#+NAME: f\n",
}

// variables is a text that sets a variable when its file is opened.
const variables = "x\n# Local Variables:\n# org-agent-canary: t\n# End:\n"

// TestEmacsRunsNothing uses converted traps, mixed with other text, as a person would, and the
// traps that only the client's check has treated. No code may run. The unconverted traps must run
// some code, or the test proves nothing.
func TestEmacsRunsNothing(t *testing.T) {
	mixed := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(slices.Concat(fragments, traps, traps, traps)), 1, 12).Draw(t, "mixed"), "")
	})
	var fired [][]string
	runEmacs(t, "org-agent-use-text", []string{strings.Join(traps, "\n"), variables}, &fired)
	for _, way := range []string{"C-c C-c", "C-c C-o", "recalculate", "execute-buffer", "tables", "ascii", "html", "latex", "md", "agenda"} {
		if !slices.Contains(fired[0], way) {
			t.Errorf("the traps as they stand do not fire by %s: %v", way, fired[0])
		}
	}
	if !slices.Contains(fired[1], "opening") {
		t.Errorf("file variables do not fire: %v", fired[1])
	}
	var raw, converted []string
	for i, text := range append(slices.Clone(traps), variables) {
		raw, converted = append(raw, text), append(converted, convert(text, Options{Dialect: dialects[i%2]}))
	}
	for seed := range 15 {
		text := emacsText(mixed.Example(seed))
		raw, converted = append(raw, text), append(converted, convert(text, Options{Dialect: dialects[seed%len(dialects)]}))
	}
	runEmacs(t, "org-agent-use-text", converted, &fired)
	for i := range fired {
		if len(fired[i]) > 0 {
			t.Errorf("code ran by %v\ninput:  %q\noutput: %s", fired[i], raw[i], visible(converted[i]))
		}
	}
	var grouped []string
	for group := range slices.Chunk(raw, 8) {
		grouped = append(grouped, strings.Join(group, "\n\n"))
	}
	runEmacs(t, "org-agent-use-checked-text", grouped, &fired)
	for i := range fired {
		if len(fired[i]) > 0 {
			t.Errorf("checked by the client alone, code ran by %v\ninput:  %q", fired[i], grouped[i])
		}
	}
}

// TestEmacsAlignsAlike checks that Org's own alignment changes nothing in a table that we laid out.
func TestEmacsAlignsAlike(t *testing.T) {
	cells := []string{"a", "longer text", "1", "22.5", "-3", "1e5", "50%", "中文", "é", "**bold**", "`code`", "", "<x>", "12 apples", "10:30", "(4)", "0x1F", "2#01", "nan", "-inf", ">5", "<<5", "🙂"}
	table := rapid.Custom(func(t *rapid.T) string {
		columns := rapid.IntRange(1, 4).Draw(t, "columns")
		row := func() string {
			return "|" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(cells), columns, columns).Draw(t, "row"), "|") + "|\n"
		}
		text := row() + "|" + strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"---", ":--", "--:", ":-:"}), columns, columns).Draw(t, "marks"), "|") + "|\n"
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			text += row()
		}
		return text
	})
	var results, aligned []string
	for seed := range 200 {
		results = append(results, MarkdownToOrg(table.Example(seed)))
	}
	runEmacs(t, "org-agent-align-text", results, &aligned)
	for i := range results {
		if aligned[i] != results[i] {
			t.Errorf("Org makes of\n%s\n%s", results[i], aligned[i])
		}
	}
}
