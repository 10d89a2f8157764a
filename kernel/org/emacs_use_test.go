package org

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// traps are texts that call (org-agent-fire), as they stand, when a person works in
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
}

// TestEmacsRunsNothing uses converted traps, mixed with other text, as a person would:
// no code may run. The traps themselves, as they stand, must run some, or this proves nothing.
func TestEmacsRunsNothing(t *testing.T) {
	mixed := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(slices.Concat(fragments, traps, traps, traps)), 1, 12).Draw(t, "mixed"), "")
	})
	texts := []string{strings.Join(traps, "\n")}
	results := []string{texts[0]}
	for _, text := range traps {
		texts, results = append(texts, text), append(results, convert(text, Options{}))
	}
	for seed := range 150 {
		text := emacsText(mixed.Example(seed))
		texts = append(texts, text)
		results = append(results, convert(text, Options{Dialect: dialects[seed%len(dialects)]}))
	}
	var fired [][]string
	runEmacs(t, "org-agent-use-text", results, &fired)
	for _, way := range []string{"C-c C-c", "C-c C-o", "agenda", "export"} {
		if !slices.Contains(fired[0], way) {
			t.Errorf("the traps as they stand do not fire by %s: %v", way, fired[0])
		}
	}
	for i := range fired[1:] {
		if len(fired[i+1]) > 0 {
			t.Errorf("code ran by %v\ninput:  %q\noutput: %s", fired[i+1], texts[i+1], visible(results[i+1]))
		}
	}
}

// TestEmacsAlignsAlike: Org's own alignment changes nothing in a table we laid out.
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
