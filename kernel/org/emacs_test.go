package org_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"org-agent/kernel/org"
	shown "org-agent/kernel/text"
)

// emacs returns a batch Emacs that ends with the context. It collects garbage every 64 MB: with
// Emacs's own threshold that takes more than half of its time. It makes no native code of what it loads, which
// would be gone with its home before it is used.
func emacs(ctx context.Context, t *testing.T, arguments ...string) *exec.Cmd {
	t.Helper()
	if testing.Short() {
		t.Skip("-short starts no Emacs")
	}
	return exec.CommandContext(ctx, "emacs", append([]string{"-Q", "--batch", "--eval", "(setq gc-cons-threshold 67108864 native-comp-deferred-compilation nil native-comp-jit-compilation nil)"}, arguments...)...)
}

// runEmacs passes a list of texts to one batch Emacs, which calls the function on each, and reads
// the list of the results.
func runEmacs(t *testing.T, function string, texts []string, results any) {
	t.Helper()
	directory := t.TempDir()
	in, out := filepath.Join(directory, "in.json"), filepath.Join(directory, "out.json")
	data, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in, data, 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	command := emacs(ctx, t, "--eval", "(setq load-prefer-newer t)", "-L", "../../elisp", "-l", "testdata/parse.el", "-l", "testdata/outline.el", "-l", "testdata/live.el", "-l", "testdata/use.el", "-l", "../../testdata/languages/modes.el", "-l", "testdata/modes.el",
		"--eval", `(org-agent-parse-file "`+in+`" "`+out+`" #'`+function+`)`)
	command.Env = append(os.Environ(), "HOME="+directory)
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("emacs: %v\n%s", err, output)
	}
	if data, err = os.ReadFile(out); err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(results); err != nil {
		t.Fatal(err)
	}
}

// emacsText removes what JSON cannot carry to Emacs: bytes that are not text, and NULs.
func emacsText(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "?"), "\x00", "\x01")
}

// parsedHeading is a heading as Org's parser sees it.
type parsedHeading struct {
	Level     int      `json:"level"`
	Todo      string   `json:"todo"`
	Priority  string   `json:"priority"`
	Title     string   `json:"title"`
	Tags      []string `json:"tags"`
	Commented bool     `json:"commented"`
	Line      int      `json:"line"`
	End       int      `json:"end"`
	Drawer    []string `json:"drawer"`
}

type parsedBlock struct {
	Kind      string   `json:"kind"`
	Language  string   `json:"language"`
	Switches  string   `json:"switches"`
	Arguments string   `json:"arguments"`
	Name      string   `json:"name"`
	Value     string   `json:"value"`
	Body      string   `json:"body"`
	Line      int      `json:"line"`
	Header    []string `json:"header"`
}

type parsedText struct {
	Headings []parsedHeading `json:"headings"`
	Blocks   []parsedBlock   `json:"blocks"`
}

// headingsOf returns what the scanner finds, in the form of Org's parser.
func headingsOf(text string) []parsedHeading {
	found := []parsedHeading{}
	for _, h := range org.Parse(text).Headings {
		drawer := []string{}
		for _, p := range h.Properties {
			drawer = append(drawer, p.Key+"="+p.Value)
		}
		tags := h.Tags
		if tags == nil {
			tags = []string{}
		}
		found = append(found, parsedHeading{
			h.Level, h.Todo, h.Priority, h.Title, tags, h.Commented, h.Line, utf8.RuneCountInString(text[:h.End]) + 1, drawer,
		})
	}
	return found
}

// sameHeadings compares everything but the blank lines after a subtree, which Org sometimes counts
// to the subtree around it.
func sameHeadings(text string, a, b []parsedHeading) bool {
	runes := []rune(text)
	sameEnd := func(a, b int) bool {
		return strings.TrimSpace(string(runes[min(a, b)-1:max(a, b)-1])) == ""
	}
	return slices.EqualFunc(a, b, func(a, b parsedHeading) bool {
		return a.Level == b.Level && a.Todo == b.Todo && a.Priority == b.Priority && a.Title == b.Title && slices.Equal(a.Tags, b.Tags) &&
			a.Commented == b.Commented && a.Line == b.Line && sameEnd(a.End, b.End) && slices.Equal(a.Drawer, b.Drawer)
	})
}

// TestEmacsHoldsNothingMore converts thousands of hostile texts. The client's own implementation of
// the list must find nothing in the results that is to be held. As they came most of the texts do have
// something.
func TestEmacsHoldsNothingMore(t *testing.T) {
	var texts, results []string
	add := func(text, result string) {
		texts, results = append(texts, text), append(results, result)
	}
	listed := listedText(t)
	for seed := range 2400 {
		text := emacsText(hostileText().Example(seed))
		if seed%3 == 0 {
			text = emacsText(listed.Example(seed))
		}
		switch dialect := dialects[seed%len(dialects)]; {
		case seed%4 == 3:
			add(text, org.Inert(text))
		case seed%2 == 0:
			add(text, convertText(text, org.Options{Dialect: dialect}))
		default:
			add(text, convertText(text, answerOptions(dialect)))
		}
	}
	for _, text := range goldenInputs(t) {
		add(emacsText(text), convertText(emacsText(text), answerOptions(org.Auto)))
	}
	raw := len(results)
	results = append(results, texts[:300]...)
	var held [][]string
	runEmacs(t, "org-agent-parse-held", results, &held)
	found, shown := 0, 0
	for i, places := range held {
		switch {
		case len(places) == 0:
		case i >= raw:
			found++
		case shown < 5:
			shown++
			t.Errorf("the client holds %q\ninput:  %q\noutput: %s", places, texts[i], visible(results[i]))
		}
	}
	if found < 100 {
		t.Errorf("only %d of 300 texts have anything to be held", found)
	}
}

// listedText makes texts of the lines and words of what is held, and of signs.
func listedText(t *testing.T) *rapid.Generator[string] {
	t.Helper()
	var pieces []string
	for _, name := range []string{"cases", "hostile", "benign.org"} {
		data, err := os.ReadFile("../../testdata/held/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(strings.ReplaceAll(string(data), "‹›", "")) {
			pieces = append(pieces, line, strings.TrimSuffix(line, "\n"))
			pieces = append(pieces, strings.Fields(line)...)
		}
	}
	pieces = append(pieces, " ", "\n", "\n\n", "*", "/", "_", "+", "=", "~", "[", "]", "{", "}", "<", ">", "$", "|", ":", "(", ")", "-", "%", "\\", "#", "* ", "- ", ",")
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 8, 25).Draw(t, "pieces"), "")
	})
}

// TestEmacsFindsTheHeadings: Org finds the headings in a converted text that our scanner finds.
func TestEmacsFindsTheHeadings(t *testing.T) {
	var texts, results []string
	for seed := range 600 {
		text := emacsText(hostileText().Example(seed))
		texts = append(texts, text)
		results = append(results, convertText(text, answerOptions(dialects[seed%len(dialects)])))
	}
	var parsed []parsedText
	runEmacs(t, "org-agent-parse-text", results, &parsed)
	for i, p := range parsed {
		if want := headingsOf(results[i]); !sameHeadings(results[i], p.Headings, want) {
			t.Errorf("Org finds headings\n%+v, we\n%+v\ninput:  %q\noutput: %s", p.Headings, want, texts[i], visible(results[i]))
		}
		if i > 20 && t.Failed() {
			break
		}
	}
}

// TestEmacsReadsTheTags: the tags are those that Org reads, also with the marks of letters and with what only looks like
// a letter or a number.
func TestEmacsReadsTheTags(t *testing.T) {
	var texts []string
	for _, tag := range []string{"robot", "_@#%", "дело", "cafe\u0301", "\u0301", "k\u0903", "\u2160", "\u0660", "\u20dd", "\u00bd", "\u00b2", "a-b", "a.b", "a“", "中文", "\u200b"} {
		texts = append(texts, "* One :agenttask:"+tag+":\n", "* TODO "+tag+" :"+tag+":\n")
	}
	var parsed []parsedText
	runEmacs(t, "org-agent-parse-text", texts, &parsed)
	tagged := 0
	for i, p := range parsed {
		want := headingsOf(texts[i])
		if !sameHeadings(texts[i], p.Headings, want) {
			t.Errorf("%q: Org finds headings\n%+v, we\n%+v", texts[i], p.Headings, want)
		}
		if len(want[0].Tags) > 0 {
			tagged++
		}
		for _, tag := range want[0].Tags {
			if !org.IsTag(tag) {
				t.Errorf("%q is no tag", tag)
			}
		}
	}
	if tagged != 20 {
		t.Errorf("%d headings of %d have tags", tagged, len(texts))
	}
}

// writtenCode is code as it is written: what a screen obeys is left out, file variables are held, a
// carriage return before a line end is a part of it, and other controls are shown.
func writtenCode(code string) string {
	code = shown.Shown(code)
	code = strings.NewReplacer("Local Variables:", "Local"+invisible+" Variables:", "-*- mode", "-"+invisible+"*- mode").Replace(code)
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' {
			return 0x2400 + r
		}
		return r
	}, strings.ReplaceAll(code, "\r\n", "\n"))
}

// TestEmacsReadsSourceByteExact puts hostile code into fences, alone, in lists and in quotes. Org
// must find the same bytes.
func TestEmacsReadsSourceByteExact(t *testing.T) {
	code := rapid.Custom(func(t *rapid.T) string {
		return emacsText(strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 1, 12).Draw(t, "code"), ""))
	})
	places := []struct{ first, rest string }{{"", ""}, {"- item\n\n  ", "  "}, {"1. one\n   - two\n\n     ", "     "}, {"> ", "> "}}
	fenceMark := strings.Repeat("`", 60)
	var texts, results, want []string
	for seed := range 400 {
		body := strings.TrimSuffix(code.Example(seed), "\r")
		place := places[seed%len(places)]
		var text strings.Builder
		text.WriteString(place.first + fenceMark + "text\n")
		for line := range strings.SplitSeq(body, "\n") {
			text.WriteString(place.rest + line + "\n")
		}
		text.WriteString(place.rest + fenceMark + "\n\nbehind\n")
		texts = append(texts, text.String())
		results = append(results, org.MarkdownToOrg(text.String()))
		want = append(want, writtenCode(body)+"\n")
	}
	var parsed []parsedText
	runEmacs(t, "org-agent-parse-text", results, &parsed)
	for i, p := range parsed {
		if len(p.Blocks) == 0 || p.Blocks[len(p.Blocks)-1].Value != want[i] {
			t.Errorf("Org finds %+v\nfenced: %q\ninput:  %q\noutput: %s", p.Blocks, want[i], texts[i], results[i])
		}
	}
}

// TestEmacsScansAlike compares the scanner with Org's parser on random notes.
func TestEmacsScansAlike(t *testing.T) {
	lines := []string{
		"* Heading", "** TODO [#A] Sub :tag:b:", "*** DONE done", "* COMMENT no", "* [#B] :only:", "** x :ARCHIVE:", "*not", "* ", "*",
		"SCHEDULED: <2026-01-01 Thu>", "CLOSED: [2026-01-01 Thu]", ":PROPERTIES:", ":ID: abc", ":header-args: :tangle no", ":header-args+: :noweb yes",
		":header-args:lisp: :var x=1", ":END:", "text", "", "- item", "  more", "#+NAME: n", "#+header: :var y=2 :tangle a.lisp", "#+header: :results silent",
		"#+begin_src lisp", "#+BEGIN_SRC lisp -n -r :tangle \"x y\" :noweb yes", "  #+begin_src emacs-lisp :var a=(f :b) :x", "#+end_src", "  #+END_SRC",
		"#+begin_example", "#+end_example", "(code)", "  (indented)", "\tcode", ",* escaped", ",#+escaped", ",,* twice", "#+PROPERTY: header-args :mkdirp yes", "#+PROPERTY: header-args:lisp :eval no",
	}
	note := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(lines), 1, 40).Draw(t, "lines"), "\n") + "\n"
	})
	var texts []string
	for seed := range 600 {
		texts = append(texts, note.Example(seed))
	}
	var parsed []parsedText
	runEmacs(t, "org-agent-parse-text", texts, &parsed)
	for i, p := range parsed {
		if want := headingsOf(texts[i]); !sameHeadings(texts[i], p.Headings, want) {
			t.Errorf("Org finds headings\n%+v, we\n%+v\nin:\n%s", p.Headings, want, texts[i])
		}
		compareBlocks(t, texts[i], p.Blocks)
		if t.Failed() {
			break
		}
	}
}

func compareBlocks(t *testing.T, text string, parsed []parsedBlock) {
	t.Helper()
	var ours []*org.Block
	for _, b := range org.Parse(text).Blocks() {
		if b.Kind == "src" {
			ours = append(ours, b)
		}
	}
	if len(ours) != len(parsed) {
		t.Fatalf("Org finds %d blocks, we %d in:\n%s", len(parsed), len(ours), text)
	}
	for i, b := range ours {
		p := parsed[i]
		if b.Line != p.Line || b.Language != p.Language || b.Switches != p.Switches || b.Arguments != p.Arguments || b.Name != p.Name || b.Body != p.Body {
			t.Errorf("Org finds\n%+v, we\n%+v\nin:\n%s", p, b, text)
		}
		var arguments []string
		for _, a := range b.HeaderArgs() {
			arguments = append(arguments, ":"+a.Key+" "+a.Value)
		}
		slices.Sort(arguments)
		if !slices.Equal(arguments, p.Header) {
			t.Errorf("Org finds header arguments\n%q, we\n%q\nat line %d in:\n%s", p.Header, arguments, b.Line, text)
		}
	}
}
