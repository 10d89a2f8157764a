package org_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"org-agent/kernel/org"
	"org-agent/kernel/org/inert"
)

// listedLanguages returns the languages with which both implementations are tested.
func listedLanguages(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile("../../testdata/languages/listed")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(data))
}

// TestLanguages checks that a block in a listed language stays source, that any other becomes an
// example with the name on its first line, in every dialect, and that neither depends on how the
// text was cut.
func TestLanguages(t *testing.T) {
	listed := listedLanguages(t)
	for _, name := range listed {
		if !inert.Listed(name) {
			t.Errorf("%s is not listed", name)
		}
	}
	held := func(name string) string { return "#+begin_example " + invisible + name + "\nx\n#+end_example\n" }
	source := func(name string) string { return "#+begin_src " + name + "\nx\n#+end_src\n" }
	want := map[string]string{
		"Python": source("python"), "JSON": source("json"), "c": source("c"), "C": source("C"), "{.haskell .x}": source("haskell"),
		"": "#+begin_example\nx\n#+end_example\n",
	}
	for _, name := range listed {
		want[name] = source(name)
	}
	for _, name := range []string{"dot", "latex"} {
		want[name] = source(name + " :exports code") // an export would take the text for its own
	}
	for _, name := range []string{
		"recentf", "desktop-save", "hexl", "url-handler", "auto-save-visited", "server", "artist", "ditaa", "org", "markdown", "screen", "calc",
		"org-agent", "org-agent-chat", "pythonx", "python-", "sh.x", "shell-script",
	} {
		want[name] = held(name)
	}
	for name, out := range want {
		for _, in := range []string{"```" + name + "\nx\n```\n", "~~~ " + name + " :var y=1\nx\n~~~\n", "#+begin_src " + name + "\nx\n#+end_src\n"} {
			if strings.HasPrefix(in, "#+begin") && (name == "" || strings.ContainsAny(name, "{JP")) {
				continue // Org stays as it was written
			}
			dialect := org.OrgWithMarkdown
			got := convertText(in, org.Options{Dialect: dialect})
			if got != out {
				t.Errorf("%q: %q, want %q", in, got, out)
			}
			if streamed := cut(in, org.Options{Dialect: dialect}, everyByte(in)...); streamed != got {
				t.Errorf("%q in single bytes: %q, want %q", in, streamed, got)
			}
			if again := org.Inert(got); again != got {
				t.Errorf("%q: %q, again %q", in, got, again)
			}
			if ok, reason := org.IsInert(got); !ok {
				t.Errorf("%q: %s", got, reason)
			}
		}
	}
	for _, text := range []string{
		"#+begin_src recentf\nx\n#+end_src\n", "#+begin_example recentf\nx\n#+end_example\n",
		"#+begin_quote recentf\nx\n#+end_quote\n", "#+begin_src org-agent\nx\n#+end_src\n",
	} {
		if ok, _ := org.IsInert(text); ok {
			t.Errorf("%q passes", text)
		}
	}
}

// TestEmacsCallsNoMode highlights converted blocks in every language X for which Emacs has a
// function X-mode. Only modes of listed languages are called. The unconverted blocks must call the
// others, or the test proves nothing.
func TestEmacsCallsNoMode(t *testing.T) {
	listed := listedLanguages(t)
	var known [][]string
	runEmacs(t, "org-agent-modes-known", []string{""}, &known)
	if len(known[0]) < 300 || !slices.Contains(known[0], "recentf") {
		t.Fatalf("Emacs has %d modes", len(known[0]))
	}
	var hostile []string
	runEmacs(t, "org-agent-modes-hostile", append([]string{"recentf", "org-agent", "org", "desktop-save"}, listed...), &hostile)
	var raw []string
	for group := range slices.Chunk(slices.Concat(known[0], listed), 50) {
		var text strings.Builder
		for _, name := range group {
			fmt.Fprintf(&text, "```%[1]s\nx\n```\n\n- a\n  ```%[1]s :x\n  x\n  ```\n\n> ~~~{.%[1]s}\n> x\n\n", name)
		}
		raw = append(raw, text.String())
		text.Reset()
		for _, name := range group {
			fmt.Fprintf(&text, "#+begin_src %[1]s\nx\n#+end_src\n#+BEGIN_SRC %[1]s -n :x\nx\n#+END_SRC\n#+begin_export %[1]s\n#+end_export\n#+begin_example %[1]s\n#+end_example\n", name)
		}
		raw = append(raw, text.String())
	}
	raw = append(raw, hostile...)
	var called [][]string
	runEmacs(t, "org-agent-modes-of-text", raw, &called)
	if all := slices.Concat(called...); !slices.Contains(all, "recentf") || !slices.Contains(all, "desktop-save") {
		t.Errorf("as they stand the blocks call too little: %v", all)
	}
	var converted []string
	for _, text := range raw {
		for _, dialect := range dialects {
			options := org.Options{Dialect: dialect}
			converted = append(converted, convertText(text, options))
			if ok, reason := org.IsInert(converted[len(converted)-1]); !ok {
				t.Errorf("%s\n%s", reason, visible(converted[len(converted)-1]))
			}
		}
	}
	check := func(by, function string, texts []string) {
		runEmacs(t, function, texts, &called)
		seen := map[string]bool{}
		for i, names := range called {
			for _, name := range names {
				seen[name] = true
				if !slices.Contains(listed, name) {
					t.Errorf("%s: %s-mode is called for\n%.2000s", by, name, visible(texts[i]))
				}
			}
		}
		if len(seen) < 40 {
			t.Errorf("%s: of the listed languages only %d are highlighted: %v", by, len(seen), seen)
		}
	}
	check("the conversion", "org-agent-modes-of-text", converted)
	check("the client's check", "org-agent-modes-of-checked-text", raw)
}
