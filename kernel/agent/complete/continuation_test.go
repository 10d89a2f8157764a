package complete

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestContinuation(t *testing.T) {
	for _, test := range []struct{ name, reply, before, after, want string }{
		{"plain", "world", "Hello ", "", "world"},
		{"several lines", "x + 1\n}", "return ", "\n", "x + 1\n}"},
		{"blanks at the end", "world \n\n", "Hello ", "", "world"},
		{"one blank is enough", " world", "Hello ", "", "world"},
		{"a blank that is needed", " world", "Hello", "", " world"},
		{"indentation", "    return 1", "def f():\n", "", "    return 1"},
		{"thoughts", "<think>\nhm\n</think>\n\nworld", "Hello ", "", "world"},
		{"thoughts without an end", "<think>hm world", "Hello ", "", ""},
		{"a fence around it", "```go\nreturn 1\n```", "func f() int {\n", "", "return 1"},
		{"fences within it", "```\na\n```\nb\n```\nc\n```", "Text:\n", "", "```\na\n```\nb\n```\nc\n```"},
		{"the line repeated", "fmt.Println(x)", "\tfmt.Println(", "", "x)"},
		{"the line repeated with its indentation", "\tfmt.Println(x)", "\tfmt.Println(", "", "x)"},
		{"the line before repeated", "def f():\n    return 1", "def f():\n", "", "    return 1"},
		{"a short line is no repetition", "a a", "a", "", "a a"},
		{"what stands behind it already", "bar)", "foo(", ")\nnext", "bar"},
		{"the next lines too", "bar)\nnext line", "foo(", ")\nnext line\nmore", "bar"},
		{"not what only looks like it", "ab", "x", "bc", "ab"},
		{"wide characters", "界を旅する", "世", "\n", "界を旅する"},
		{"wide characters behind it", "界を旅する", "世", "旅する", "界を"},
		{"what is not seen", "a\u202eb\u200bc\u00add\x00e\x1b[31mf\U000e0041g\u3164h", "x", "", "abcde[31mfgh"},
		{"letters that are joined", "می\u200cخواهم 👩\u200d👧", "", "x", "می\u200cخواهم 👩\u200d👧"},
		{"joined to ASCII", "a\u200db", "", "x", "ab"},
		{"other line ends", "a\r\nb\u2028c", "", "x", "a\nb\nc"},
		{"many empty lines", "\n\n\n\nb", "a", "", "\n\nb"},
		{"nothing", " \n", "a", "", ""},
		{"a proposal is text", `(:type :request :target :shell :cmd "rm")`, "x", "", `(:type :request :target :shell :cmd "rm")`},
	} {
		if got := continuation(test.reply, test.before, test.after, false); got != test.want {
			t.Errorf("%s: %q, not %q", test.name, got, test.want)
		}
	}
	for reply, want := range map[string]string{
		"one two thr": "one two", "one": "one", "one\ntwo\nthr": "one\ntwo", "\n  one tw": "\n  one",
	} {
		if got := continuation(reply, "x", "", true); got != want {
			t.Errorf("%q cut off is %q, not %q", reply, got, want)
		}
	}
	long := continuation(strings.Repeat("many words ", 5000), "x", "", false)
	if n := utf8.RuneCountInString(long); n > maximumLength || n < maximumLength-20 {
		t.Errorf("%d characters", n)
	}
	if lines := continuation(strings.Repeat("a\n", 500), "x", "", false); strings.Count(lines, "\n") != maximumLines-1 {
		t.Errorf("%q", lines)
	}
}

// For any texts the result is valid and bounded, and does not end with white space.
func FuzzContinuation(f *testing.F) {
	f.Add("```\nx\n```", "a\n", ")", true)
	f.Add("<think>é", "é", "é\n", false)
	f.Fuzz(func(t *testing.T, reply, before, after string, cut bool) {
		got := continuation(strings.ToValidUTF8(reply, ""), before, strings.ToValidUTF8(after, ""), cut)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > maximumLength || strings.Count(got, "\n") >= maximumLines || strings.TrimRight(got, " \t\n") != got {
			t.Errorf("%q", got)
		}
	})
}
