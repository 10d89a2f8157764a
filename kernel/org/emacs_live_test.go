package org_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"org-agent/kernel/org"
)

// liveLines are lines that begin, end or continue what a place may stand in, and lines that are held and so
// become something else.
var liveLines = []string{
	"$a", "a $", `b \(x`, `c \[`, `y\)`, "^^5cinput{x}", "a ^^5c $", "=c* ^^5c=", "~d ^^5c~ $", `=e \input{x}=`, `*b`, `f* g`, `=c* \input{x}=`, "~x_ {{{m}}}~", "_u", `/i =j/ src_sh{x}=`,
	"=a call_f(1)=", "[fn:1] $n", "[fn:: in $", "[fn:1] z", "x]", "- item $", "- [ ] \\(", "  * sub $", "1. ^^5c", "  ^^5c", "", "", "* h $", "** COMMENT x",
	"#+TBLFM: $1='(x)", "#+TBLFM: $1=$2", "| $a | ^^5c |", "|---|", "+---+", "# c $", "# ^^5c", "#", "#\t^^5c", ": $f", ": ^^5c", ":\t$", ":\t^^5c \\)", ":", ":a: b $", ":ID: x $",
	":PROPERTIES:", ":END:", ":LOG:", ":NOTE: $", "#+begin_verse", "#+end_verse", "#+begin_quote", "#+end_quote", "#+begin_center $", "#+end_center", "#+begin_src", "#+begin_src sh", "#+end_src",
	"#+begin_example", "#+end_example", "#+begin_export html", "#+end_export", "#+begin_comment", "#+end_comment", "#+begin_luacode $", "#+end_luacode", "#+begin_org-agent", "#+begin_", "#+begin_a:b $",
	"#+begin: x $", "#+end:", "#+ x $", "#+x", "#+x[a $", "#+caption[a]: b", "#+attr_html: :onload $", "#+name: x", "#+startup: $", "#+call: f(", "#+header: :var x=(f) $", "#+results:",
	`\begin{align}`, `\end{align}`, `x $ \end{align}`, `# \input{x}`, `: \input{x}`, `\begin{luacode}`, `\end{luacode}`, `\input{x}`, "%%(f)", "&%%(f) $", "<%%(f)>", "SCHEDULED: <%%(f)>", "DEADLINE: $", "CLOCK: [2026-01-01]",
	`\foo{=\input x=}`, `\foo[=^^5c=]{a} =\input{x}=`, `\foo{=\input`, `*b =b* $c= ~\input{x}~$`, "$$", "$$ x", `$a$ =\input{x}=`, `\(a\) =\input{x}=`, "+a", `=d+ src_sh{x}=`, "x $", `[[x][=\input{x}=]] $b`, "costs $5, =^^5c= $", `~\)~ =^^5c=`,
	"elisp:(f)", "[[elisp:", "(f)]]", "[cite: $", "@x]", "{{{m(", ")}}}", "@@html:", "@@", "-----", "*not", "*", ",* x", "#+begin_src elisp :var x=(f)", "#+BEGIN_VERSE", ":end:", "CLOSED: <%%(", "f)>",
}

// TestOrgFindsNothingLive asks Org's own parser, and not the client's list, what is live in texts that were
// made inert: nothing may be. LIVE_SEEDS has it try that many texts.
func TestOrgFindsNothingLive(t *testing.T) {
	first, count := 0, 400
	if seeds := os.Getenv("LIVE_SEEDS"); seeds != "" {
		from, n, _ := strings.Cut(seeds, "+")
		first, _ = strconv.Atoi(from)
		count, _ = strconv.Atoi(n)
	}
	lines := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(liveLines), 2, 14).Draw(t, "lines"), "\n") + "\n"
	})
	listed := listedText(t)
	var texts, results []string
	for seed := first; seed < first+count; seed++ {
		text := lines.Example(seed)
		if seed%4 == 3 {
			text = emacsText(listed.Example(seed))
		}
		texts = append(texts, text)
		results = append(results, org.Inert(text))
	}
	const raw = 100
	results = append(results, texts[:raw]...)
	var live, held [][]string
	runEmacs(t, "org-agent-parse-live", results, &live)
	found, shown := 0, 0
	for i, places := range live {
		switch {
		case len(places) == 0:
		case i >= count:
			found++
		case shown < 5:
			shown++
			t.Errorf("Org finds %q\ninput:  %q\noutput: %s", places, texts[i], visible(results[i]))
		}
	}
	if found < raw/10 {
		t.Errorf("only %d of %d texts have anything live as they are", found, raw)
	}
	runEmacs(t, "org-agent-parse-held", results[:count], &held)
	for i, places := range held {
		if len(places) > 0 {
			t.Errorf("the client holds %q\ninput:  %q\noutput: %s", places, texts[i], visible(results[i]))
			break
		}
	}
}
