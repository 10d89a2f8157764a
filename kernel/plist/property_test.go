package plist_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/chewxy/sexp"
	"pgregory.net/rapid"

	"org-agent/kernel/plist"
)

// texts are strings of every kind: control characters, several scripts, emoji,
// and what looks like syntax.
var texts = rapid.OneOf(
	rapid.String(),
	rapid.StringOf(rapid.RuneFrom([]rune("\x00\x01\a\b\t\n\v\f\r\x1b \"\\();'`,#|[]{}<>aZé漢😀\u200d\ufeff\u0085\u2028n"))),
	rapid.SampledFrom([]string{"", `(:type :request)`, "</think>", "```\n", `\n`, `C:\dir\`, "a\r\nb", "😀 naïve 漢字"}),
)

// names are symbols' and keywords' names.
var names = rapid.StringMatching(`[a-z+*/<>=!$%&_:@^~-][a-z0-9+*/<>=!$%&_.:@^~?é漢-]{0,8}`)

func isSymbol(name string) bool {
	return plist.ValidName(name) && name[0] != ':' && name != "nil"
}

var atoms = rapid.OneOf(
	rapid.Map(texts, func(s string) sexp.Sexp { return plist.String(strings.ToValidUTF8(s, "?")) }),
	rapid.Map(rapid.Int64(), func(i int64) sexp.Sexp { return plist.Int(i) }),
	rapid.Map(rapid.StringMatching(`-?[1-9][0-9]{19,40}`), func(s string) sexp.Sexp { return plist.BigInt(s) }),
	rapid.Map(rapid.Float64(), func(f float64) sexp.Sexp { return plist.Float(f) }),
	rapid.Map(names, func(s string) sexp.Sexp { return plist.Keyword(s) }),
	rapid.Map(names.Filter(isSymbol), func(s string) sexp.Sexp { return sexp.Symbol(s) }),
	rapid.Just(sexp.Sexp(sexp.List(nil))),
	rapid.Just(sexp.Sexp(plist.T)),
)

// trees draws nested data, at most depth lists deep.
func trees(depth int) *rapid.Generator[sexp.Sexp] {
	if depth == 0 {
		return atoms
	}
	return rapid.OneOf(
		atoms,
		rapid.Map(rapid.SliceOfN(rapid.Deferred(func() *rapid.Generator[sexp.Sexp] { return trees(depth - 1) }), 0, 5),
			func(items []sexp.Sexp) sexp.Sexp { return sexp.List(items) }),
		rapid.Custom(func(t *rapid.T) sexp.Sexp {
			return plist.Cons(trees(depth-1).Draw(t, "car"), trees(depth-1).Draw(t, "cdr"))
		}),
		rapid.Custom(func(t *rapid.T) sexp.Sexp {
			return sexp.List{sexp.Symbol("quote"), trees(depth-1).Draw(t, "quoted")}
		}),
	)
}

func TestPrintReadRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := trees(6).Draw(t, "x")
		printed := plist.Print(x)
		if strings.Contains(printed, "\n") || !utf8.ValidString(printed) {
			t.Fatalf("not one line of UTF-8: %q", printed)
		}
		back, err := plist.Read(printed)
		if err != nil {
			t.Fatalf("%s: %v", printed, err)
		}
		if !plist.Equal(x, back) {
			t.Fatalf("%s came back as %s", printed, plist.Print(back))
		}
		if again := plist.Print(back); again != printed {
			t.Fatalf("%s was printed as %s", printed, again)
		}
	})
}

// TestPrintIsAlwaysOneForm checks that a tree that was made by hand, with any name in it, prints
// with its shape.
func TestPrintIsAlwaysOneForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := texts.Draw(t, "name")
		x := sexp.List{sexp.Symbol(name), plist.Keyword(name), plist.BigInt(name), plist.String(name), nil}
		back, err := plist.Read(plist.Print(x))
		if err != nil {
			t.Fatalf("%s: %v", plist.Print(x), err)
		}
		if list, ok := back.(sexp.List); !ok || len(list) != len(x) {
			t.Fatalf("%s has another shape", plist.Print(x))
		}
	})
}

// A reply is a proposal as a model may write it, and the expected result.
type reply struct {
	proposal sexp.List
	text     string
	written  string
}

func replies(t *rapid.T) reply {
	text := texts.Draw(t, "text")
	text = strings.ToValidUTF8(text, "?")
	var more sexp.List
	if rapid.Bool().Draw(t, "more") {
		more = sexp.List{plist.Keyword("note"), trees(2).Draw(t, "note")}
	}
	var x sexp.List
	switch rapid.IntRange(0, 3).Draw(t, "shape") {
	case 0:
		x = append(sexp.List{plist.Keyword("type"), plist.Keyword("response"), plist.Keyword("text"), plist.String(text)}, more...)
	case 1:
		x = append(sexp.List{plist.Keyword("type"), plist.Keyword("request"), plist.Keyword("target"), plist.Keyword("emacs"),
			plist.Keyword("action"), plist.Keyword("insert-at-end")}, append(more, plist.Keyword("text"), plist.String(text))...)
	case 2:
		x = sexp.List{plist.Keyword("target"), plist.Keyword("telegram"), plist.Keyword("type"), plist.Keyword("request"), plist.Keyword("payload"),
			append(sexp.List{plist.Keyword("chat-id"), plist.String("1"), plist.Keyword("text"), plist.String(text)}, more...)}
	default:
		x = sexp.List{plist.Keyword("type"), plist.Keyword("request"), plist.Keyword("payload"),
			append(more, plist.Keyword("action"), plist.Keyword("insert-at-end")), plist.Keyword("text"), plist.String(text)}
	}
	written := plist.Print(x)
	if rapid.Bool().Draw(t, "raw newlines") {
		written = strings.ReplaceAll(written, `\n`, "\n")
		if !plist.Equal(must(plist.Read(written)), x) {
			written = plist.Print(x) // the \n was part of \\n
		}
	}
	if rapid.Bool().Draw(t, "capitals") {
		written = strings.Replace(written, ":type", ":TYPE", 1)
	}
	return reply{x, text, written}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// wrap puts a proposal into text as models write it around one.
func wrap(t *rapid.T, written string) string {
	comment := rapid.SampledFrom([]string{"", "", "; here\n", "  \r\n"}).Draw(t, "comment")
	tail := rapid.SampledFrom([]string{"", "", "\n", " ; done", "\n\n \x00"}).Draw(t, "tail")
	written = comment + written + tail
	prose := rapid.SampledFrom([]string{"", "", "Sure, here it is:", `A 5" "quoted" thing (really) :( it's`, "a\n\nb ``x`` <b>"})
	switch rapid.IntRange(0, 2).Draw(t, "around") {
	case 1:
		mark := rapid.SampledFrom([]string{"```", "~~~", "`````"}).Draw(t, "mark")
		word := rapid.SampledFrom([]string{"", "lisp", "common-lisp", " elisp "}).Draw(t, "word")
		written = mark + word + "\n" + written + "\n" + mark
		if before := prose.Draw(t, "before"); before != "" {
			written = before + "\n" + written
		}
		written += "\n" + prose.Draw(t, "after")
	case 2:
		written = prose.Draw(t, "before") + " " + written + "\n" + prose.Draw(t, "after")
	}
	thoughts := rapid.SampledFrom([]string{"", "", "<think>maybe (:type :log)\n\"</think>\n", "<REASONING></reasoning>", "hm, (:x\n</think>"})
	return thoughts.Draw(t, "thoughts") + written
}

func TestRecoverFindsTheProposalInAnyWrapping(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := replies(t)
		text := wrap(t, r.written)
		got := plist.Recover(text, plist.RecoverOptions{Finished: true})
		if got.Err != nil || !plist.Equal(got.Proposal, r.proposal) {
			t.Fatalf("from %q\ngot  %s (%v; %v)\nwant %s", text, plist.Print(got.Proposal), got.Steps, got.Err, plist.Print(r.proposal))
		}
	})
}

// write feeds text to a stream in pieces and checks the stream's promises.
func write(t interface {
	Fatalf(string, ...any)
}, s *plist.Stream, text string, cut func(rest int) int) {
	before := ""
	for text != "" {
		n := cut(len(text))
		s.Write(text[:n])
		text = text[n:]
		now := s.Text()
		if !strings.HasPrefix(now, before) || !utf8.ValidString(now) {
			t.Fatalf("the text was %q and became %q", before, now)
		}
		before = now
	}
}

func TestStreamAgreesWithRecover(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := replies(t)
		text := wrap(t, r.written)
		size := rapid.SampledFrom([]int{1, 1, 2, 7, 50, 1000}).Draw(t, "size")
		var s plist.Stream
		write(t, &s, text, func(rest int) int { return min(rest, rapid.IntRange(1, size).Draw(t, "n")) })
		if s.Text() != r.text {
			t.Fatalf("from %q\nstreamed %q\nwant     %q", text, s.Text(), r.text)
		}
		proposal, ok := s.Proposal()
		if !ok || plist.WellFormed(proposal) != nil {
			t.Fatalf("from %q\nthe proposal is %s", text, plist.Print(proposal))
		}
		final := plist.Recover(text, plist.RecoverOptions{Finished: true}).Proposal
		for i := 0; i < len(proposal); i += 2 {
			value, _ := plist.Get(final, string(proposal[i].(plist.Keyword)))
			if proposal[i] != sexp.Sexp(plist.Keyword("payload")) && !plist.Equal(value, proposal[i+1]) {
				t.Fatalf("from %q\nstreamed %s\nfinally  %s", text, plist.Print(proposal), plist.Print(final))
			}
		}
	})
}

func TestStreamTextIsAPrefixAtEveryCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := replies(t)
		text := wrap(t, r.written)
		text = text[:rapid.IntRange(0, len(text)).Draw(t, "cut")]
		var s plist.Stream
		write(t, &s, text, func(rest int) int { return min(rest, 3) })
		if !strings.HasPrefix(r.text, s.Text()) {
			t.Fatalf("from %q\nstreamed %q\nwant     %q", text, s.Text(), r.text)
		}
	})
}
