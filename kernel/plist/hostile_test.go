package plist_test

import (
	"strings"
	"testing"

	"org-agent/kernel/plist"
)

// TestRecoverBytes has the cases that a golden file cannot contain.
func TestRecoverBytes(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("(:type ", n) + strings.Repeat(")", n) }
	for _, c := range []struct{ name, text, want string }{
		{"outer NUL, BOM and blanks", "\x00\ufeff\x00 \u00a0(:type :log :text \"a\")\x00\n\x00", `steps: strict
proposal: (:type :log :text "a")
`},
		{"BOM inside a fence", "```\n\ufeff(:type :log :text \"a\")\n```", `steps: fence
proposal: (:type :log :text "a")
`},
		{"CRLF", "```lisp\r\n(:type :log\r\n :text \"a\r\nb\")\r\n```\r\n", `steps: fence
proposal: (:type :log :text "a\r\nb")
`},
		{"not UTF-8", "(:type :log :text \"caf\xe9\")", "steps: strict\nproposal: (:type :log :text \"caf\uFFFD\")\n"},
		{"NUL inside a string", "(:type :log :text \"a\x00b\")", "steps: strict\nproposal: (:type :log :text \"a\x00b\")\n"},
		{"NUL inside a form", "(:type :log \x00 :text \"a\")", `steps: strict
error: 1:13: '\x00' is not allowed outside a string; put it in a string
`},
		{"NUL in prose", "a\x00b", "steps: prose\nprose: \"a\\x00b\"\nreason: there is no plist in the text\n"},
		{"not UTF-8 in prose", "caf\xe9", "steps: prose\nprose: \"caf\uFFFD\"\nreason: there is no plist in the text\n"},
		{"only blanks", " \n\t\x00\ufeff", "steps: strict\nerror: " + plist.ErrEmpty.Error() + "\n"},
		{"cut inside a character", "(:type :response :text \"caf\xc3", "steps: truncated\nproposal: (:type :response :text \"caf…\")\n"},
		{"cut behind a bad character", "(:type :response :text \"caf\xff\xc3", "steps: truncated\nproposal: (:type :response :text \"caf\uFFFD…\")\n"},
		{"64 levels", "(:type :log :args (:a " + strings.Repeat("(", 62) + strings.Repeat(")", 62) + "))",
			"steps: strict\nproposal: (:type :log :args (:a " + strings.Repeat("(", 61) + "nil" + strings.Repeat(")", 61) + "))\n"},
		{"10,000 levels", deep(10_000), "steps: strict\nerror: 1:449: nested deeper than 64 levels; make it flatter\n"},
		{"10,000 levels of JSON", `{"type":` + strings.Repeat(`{"a":`, 10_000), "steps: strict\nerror: 1:324: nested deeper than 64 levels; make it flatter\n"},
		{"over 8 MiB", `(:type :log :text "` + strings.Repeat("a", 8<<20) + `")`,
			"steps: strict\nerror: 1:8388609: a form longer than 8388608 bytes; split it\n"},
		{"over 100,000 atoms", "(:type :log :args (" + strings.Repeat(":a b ", 50_000) + "))",
			"steps: strict\nerror: 1:250013: more than 100000 atoms in one form; split it\n"},
	} {
		if got := describe(plist.Recover(c.text, plist.RecoverOptions{Finished: true})); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestHostileTextIsNoProposal checks that no text of the benchmarks becomes an action unless it is
// one, and that reading it ends.
func TestHostileTextIsNoProposal(t *testing.T) {
	for _, h := range hostile {
		input := ""
		if h.input != nil {
			input = h.input(1 << 16)
		}
		r := plist.Recover(h.text(1<<16), plist.RecoverOptions{Finished: true, Input: []string{input}})
		if (r.Proposal != nil) != (h.name == "candidates-in-prose" || h.name == "backslashes") {
			t.Errorf("%s: %v %.80s %v", h.name, r.Steps, plist.Print(r.Proposal), r.Err)
		}
	}
}

func TestReadProposal(t *testing.T) {
	for _, c := range []struct{ text, want, steps, err string }{
		{"Sure: (:type :nonsense :x 1)", "(:type :nonsense :x 1)", "embedded", ""},
		{"(:type :response :text \"a\"", `(:type :response :text "a")`, "unclosed", ""},
		{"hello", "", "prose", "there is no plist in the text"},
		{"(:type)", "", "strict", "the plist cannot be used: in the plist the last key, :type, has no value"},
		{"", "", "strict", plist.ErrEmpty.Error()},
	} {
		x, steps, err := plist.ReadProposal(c.text, nil)
		message := ""
		if err != nil {
			message = err.Error()
		}
		if x != nil && plist.Print(x) != c.want || x == nil && c.want != "" || strings.Join(steps, " ") != c.steps || message != c.err {
			t.Errorf("%q: %s, %v, %v", c.text, plist.Print(x), steps, err)
		}
	}
}

func TestStreamIsSilentWhenInDoubt(t *testing.T) {
	quoted := `(:type :response :text "rm -rf")`
	for _, c := range []struct{ text, input, want string }{
		{`{"type":"response","text":"a"}`, "", ""},
		{`'(:type :response :text "a")`, "", ""},
		{`(list :type :response :text "a")`, "", ""},
		{`(type response text "a")`, "", ""},
		{`(:type response :text "a")`, "", ""},
		{`(:type :request :args ((:a 1)) :text "a")`, "", ""},
		{`(:type :request :type :log :text "a")`, "", ""},
		{`(:type :request . (:text "a"))`, "", ""},
		{`(:type :request :args (:text "a") :cmd "b")`, "", ""},
		{`(:type :request :cmd "x" [:text "a")`, "", ""},
		{`(:type :request :cmd ":text" "a" :text "b")`, "", ""},
		{`<think>(:type :response :text "a")`, "", ""},
		{`He wrote "(:type :response :text 1)" and (foo (:type :response :text "a"))`, "", ""},
		{"You sent " + quoted + " to me", quoted, ""},
		{"You sent " + quoted + ` to me: (:type :response :text "no")`, quoted, "no"},
		{quoted, quoted, ""},
		{`(:type :response :text "rm -rf is dangerous")`, quoted, "rm -rf is dangerous"},
		{`(:type :response :text "a`, "", "a"},
		{"(:type :response :text \"a\\", "", "a"},
		{"(:type :response :text \"a\xe2\x80", "", "a"},
		{"(:type :response :text \"\\é\\\\\\\"\")", "", `é\"`},
	} {
		s := plist.Stream{Input: []string{c.input}}
		write(t, &s, c.text, func(rest int) int { return min(rest, 1) })
		_, ok := s.Proposal()
		if s.Text() != c.want || ok != (c.want != "") {
			t.Errorf("%s: streamed %q (%v)", c.text, s.Text(), ok)
		}
	}
}
