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

// livePieces are parts of lines, by what they are of: what is verbatim and formulas, and links. Texts of them
// have within a line what texts of lines have one below the other.
var livePieces = [][]string{
	strings.Split("$ $$ $a a$ \\( \\) \\[ \\] = ~ = ~ * / _ + ^^5c \\input{x} \\foo{ \\foo[ } ] { [ a b , . - ( ) ' \" : | {{{m}}} src_sh{x} [[ ]] ][ [fn:: < > << >> ^{ _{ @@ [cite: \\\\ \\alpha é – — <http: <file: \\[ \\]"+
		" \n \n \n| \n- \n#+x: \n#+caption: \n#\u00a0 \n:\u00a0 \n\n \n*\u00a0 \nSCHEDULED:\u00a0<2026-01-01> \nCLOCK:\u00a0[2026-01-01\u00a0Thu\u00a010:00] \n:PROPERTIES:\n \n:END:\n \n:a:\u00a0 \n----- \n[fn:1]\u00a0 \n#+begin_verse\n \n#+end_verse\n \u00a0 \u00a0 \u00a0 \u200b", " "),
	strings.Split("http: https:// mailto: id: file: help:ab help:ab elisp:(f) shell:ls file+sys:/x foo: news:ab HELP:ab [[ ]] ][ [ ] < > ( ) (( )) {{ }} = ~ * / _ + = ~ * . , ; ! ? ' \" - – é 中 1 a B / // \\ | % & # : :: @ $ ^ ` "+
		" \n \n| \n- \n\n \u00a0 \u00a0 \t \u200b <<< >>> << >> <<<http>>> <<<a\u00a0=b>>> <<<ab>>> =a\u00a0=b\u00a0src_sh{x}= x+ x- _{ ^{ ab cd", " "),
}

// A liveKind is a way of making texts.
type liveKind = *rapid.Generator[string]

// liveKinds are all of them.
func liveKinds(t *testing.T) []liveKind {
	t.Helper()
	kinds := []liveKind{
		rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(liveLines), 2, 14).Draw(t, "lines"), "\n") + "\n"
		}),
		rapid.Map(listedText(t), emacsText),
	}
	for _, pieces := range livePieces {
		kinds = append(kinds, rapid.Custom(func(t *rapid.T) string {
			text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 2, 24).Draw(t, "pieces"), "")
			return strings.ReplaceAll(text, "\u00a0", " ") + "\n"
		}))
	}
	return kinds
}

// TestOrgFindsNothingLive asks Org's own parser, and not the client's list, what is live in texts that were
// made inert: nothing may be. Nor may the client hold anything more in them. LIVE_SEEDS has it try that many
// texts.
func TestOrgFindsNothingLive(t *testing.T) {
	first, count := 0, 400
	if seeds := os.Getenv("LIVE_SEEDS"); seeds != "" {
		from, n, _ := strings.Cut(seeds, "+")
		first, _ = strconv.Atoi(from)
		count, _ = strconv.Atoi(n)
	}
	kinds := liveKinds(t)
	var texts []string
	for seed := first; seed < first+count; seed++ {
		texts = append(texts, kinds[seed%len(kinds)].Example(seed))
	}
	const shown = 5
	for _, proof := range []string{"org-agent-parse-live", "org-agent-parse-held"} {
		failed := 0
		for i, places := range foundIn(t, proof, inertAll(texts)) {
			if len(places) == 0 {
				continue
			}
			if failed++; failed <= shown {
				text, places := smallest(t, proof, texts[i], places)
				t.Errorf("%s: %q\ninput:  %q\noutput: %s", proof, places, text, visible(org.Inert(text)))
			}
		}
		if failed > shown {
			t.Errorf("%s: %d texts of %d", proof, failed, count)
		}
	}
	found := 0
	const raw = 100
	for _, places := range foundIn(t, "org-agent-parse-live", texts[:raw]) {
		if len(places) > 0 {
			found++
		}
	}
	if found < raw/10 {
		t.Errorf("only %d of %d texts have anything live as they are", found, raw)
	}
}

func inertAll(texts []string) []string {
	results := make([]string, len(texts))
	for i, text := range texts {
		results[i] = org.Inert(text)
	}
	return results
}

// foundIn returns what a proof finds in each text.
func foundIn(t *testing.T, proof string, texts []string) (found [][]string) {
	t.Helper()
	runEmacs(t, proof, texts, &found)
	return found
}

// smallest takes parts away from a text as long as the proof still finds something in what is made of it.
func smallest(t *testing.T, proof, text string, places []string) (string, []string) {
	t.Helper()
	for {
		var candidates []string
		runes := []rune(text)
		for length := len(runes) / 2; length > 0; length /= 2 {
			for at := 0; at+length <= len(runes); at += length {
				candidates = append(candidates, string(runes[:at])+string(runes[at+length:]))
			}
		}
		less := -1
		for i, found := range foundIn(t, proof, inertAll(candidates)) {
			if len(found) > 0 {
				less, places = i, found
				break
			}
		}
		if less < 0 {
			return text, places
		}
		text = candidates[less]
	}
}
