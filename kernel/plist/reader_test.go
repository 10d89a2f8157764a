package plist_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
)

func TestDataReadsAndPrintsCanonically(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"(:TYPE :Request\n\t:text \"a\\n\\t\\r\\\"\\\\\\x\")", `(:type :request :text "a\n\t\r\"\\x")`},
		{"\uFEFF (a)", `(a)`},
		{"'x", `(quote x)`},
		{"(a.b)", `(a.b)`},
		{"(a . b)", `(a . b)`},
		{"(a . (b . (c . nil)))", `(a b c)`},
		{"(a b . (c . d))", `(a b c . d)`},
		{`(a ."b")`, `(a . "b")`},
		{"()", "nil"}, {"NIL", "nil"}, {"(nil)", "(nil)"}, {"T", "t"}, {"(quote)", "(quote)"},
		{"; c\n(a ; )\n b);end", "(a b)"},
		{"007", "7"}, {"+5", "5"}, {"-0", "0"}, {"5.", "5"}, {"-000", "0"},
		{"000000000000000000000000012", "12"},
		{"-00099999999999999999999", "-99999999999999999999"},
		{"-9223372036854775808", "-9223372036854775808"},
		{"1.50", "1.5"}, {".5", "0.5"}, {"1E3", "1000.0"}, {"1e21", "1e+21"}, {"0.1", "0.1"}, {"-0.0", "-0.0"},
		{"0.30000000000000004", "0.30000000000000004"}, {"1e-7", "1e-07"}, {"1e-400", "0.0"},
		{"(1/2 1d0 2026-11-21 1+ - 1.2.3 ...)", "(1/2 1d0 2026-11-21 1+ - 1.2.3 ...)"},
		{"(É é ÀB :NaÏve)", "(É é Àb :naÏve)"},
		{"(pkg:sym a::b :a:b a?b)", "(pkg:sym a::b :a:b a?b)"},
		{"\"caf\xe9 \xff\xfe\"", "\"caf\uFFFD \uFFFD\uFFFD\""},
		{"\"\x00\x1b😀\u2028\"", "\"\x00\x1b😀\u2028\""},
		{"(a\u00a0b\u3000c\fd\ve)", "(a b c d e)"},
		{`"a""b"`, ""}, // two forms
		{`("a"b"c"'d)`, `("a" b "c" (quote d))`},
		{strings.Repeat("(", 64) + strings.Repeat(")", 64), strings.Repeat("(", 63) + "nil" + strings.Repeat(")", 63)},
	} {
		x, err := plist.Read(c.src)
		if c.want == "" {
			if err == nil {
				t.Errorf("%q was read as %s", c.src, plist.Print(x))
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.src, err)
		} else if got := plist.Print(x); got != c.want {
			t.Errorf("%q was read as %s, not %s", c.src, got, c.want)
		}
		if got := fmt.Sprintf("%v", x); err == nil && !strings.HasPrefix(got, "(") && got != plist.Print(x) {
			t.Errorf("%%v of %s is %s", plist.Print(x), got)
		}
	}
}

func TestDataErrors(t *testing.T) {
	for _, c := range []struct {
		src  string
		kind plist.ErrorKind
		want string // position and the message's beginning
	}{
		{"(a\n  [b])", plist.BadToken, "2:3: [ is not allowed"},
		{"(é {)", plist.BadToken, "1:4: { is not allowed"},
		{"(a |b|)", plist.BadToken, "1:4: '|' is not allowed"},
		{`(a \b)`, plist.BadToken, `1:4: '\\' is not allowed`},
		{"(a ,b)", plist.BadToken, "1:4: ',' is not allowed"},
		{"(a `b)", plist.BadToken, "1:4: '`' is not allowed"},
		{"(a #(b))", plist.BadToken, "1:4: '#' is not allowed"},
		{"(a b#c)", plist.BadToken, "1:5: '#' is not allowed"},
		{"(a 😀)", plist.BadToken, "1:4: '😀' is not allowed"},
		{"(a \x01)", plist.BadToken, `1:4: '\x01' is not allowed`},
		{"(a \xff)", plist.BadToken, "1:4: '\uFFFD' is not allowed"},
		{"(a ?b)", plist.BadToken, "1:4: a token may not begin with ?"},
		{"(a .?b)", plist.BadToken, "1:4: a token may not begin with ?"},
		{"(1e999)", plist.BadToken, "1:2: the number 1e999 is out of range"},
		{"(. a)", plist.BadToken, "1:2: a dot stands only"},
		{"(a . )", plist.BadToken, "1:6: exactly one form"},
		{"(a . b c)", plist.BadToken, "1:9: exactly one form"},
		{"(a . b . c)", plist.BadToken, "1:8: a dot stands only"},
		{". a", plist.BadToken, "1:1: a dot stands only"},
		{")", plist.UnexpectedClose, "1:1: this ) closes nothing"},
		{"(')", plist.UnexpectedClose, "1:3: a form is missing"},
		{"a b", plist.UnexpectedClose, "1:3: something follows"},
		{"a )", plist.UnexpectedClose, "1:3: something follows"},
		{"", plist.UnclosedList, "1:1: there is no form"},
		{"\n (a (b c", plist.UnclosedList, "2:2: this list is not closed: 2 ) missing"},
		{"(a '", plist.UnclosedList, "1:1: this list is not closed: 1 ) missing"},
		{"'", plist.UnclosedList, "1:1: a form is missing after this"},
		{"(a\n\"b", plist.UnclosedString, "2:1: this string is not closed"},
		{`(a "b\`, plist.UnclosedString, "1:4: this string is not closed"},
		{`(a "b\"`, plist.UnclosedString, "1:4: this string is not closed"},
		{strings.Repeat("(", 65), plist.LimitExceeded, "1:65: nested deeper than 64 levels"},
		{strings.Repeat("'", 65), plist.LimitExceeded, "1:65: nested deeper than 64 levels"},
		{"(" + strings.Repeat("a ", 100_001) + ")", plist.LimitExceeded, "1:200002: more than 100000 atoms"},
		{"(" + strings.Repeat("()", 100_001) + ")", plist.LimitExceeded, "1:200003: more than 100000 atoms"},
		{"(" + strings.Repeat("'a", 50_001) + ")", plist.LimitExceeded, "1:100002: more than 100000 atoms"},
		{`"` + strings.Repeat("a", 8<<20), plist.LimitExceeded, "1:8388609: a form longer than 8388608 bytes"},
		{strings.Repeat("a", 9<<20), plist.LimitExceeded, "1:8388609: a form longer than 8388608 bytes"},
		{"(" + strings.Repeat(" ", 9<<20) + ")", plist.LimitExceeded, "1:8388609: a form longer than 8388608 bytes"},
	} {
		x, err := plist.Read(c.src)
		var syntax *plist.SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("%.40q: read as %v, %v", c.src, x, err)
			continue
		}
		if syntax.Kind != c.kind || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%.40q: kind %d, %q; want kind %d, %q", c.src, syntax.Kind, err, c.kind, c.want)
		}
	}
}

func TestReaderGoesFormByForm(t *testing.T) {
	r := plist.NewTreeReader("a (b) ; c\n\"d\"  ", plist.Limits{})
	var got []string
	for {
		x, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s@%d", plist.Print(x), r.Offset()))
	}
	if want := `a@1 (b)@5 "d"@13`; strings.Join(got, " ") != want {
		t.Fatalf("got %s, want %s", strings.Join(got, " "), want)
	}
	r = plist.NewTreeReader("a ] b", plist.Limits{})
	_, first := r.Next()
	_, second := r.Next()
	_, third := r.Next()
	if first != nil || second == nil || !errors.Is(third, second) || r.Offset() != 2 {
		t.Fatalf("after an error: %v, %v, %v at %d", first, second, third, r.Offset())
	}
}

// readAll reads every form in src.
func readAll(src string) ([]sexp.Sexp, error) {
	r := plist.NewTreeReader(src, plist.Limits{})
	var forms []sexp.Sexp
	for {
		x, err := r.Next()
		if errors.Is(err, io.EOF) {
			return forms, nil
		}
		if err != nil {
			return nil, err
		}
		forms = append(forms, x)
	}
}

func TestLimitsAreForOneForm(t *testing.T) {
	forms, err := readAll(strings.Repeat("(a b c)", 60_000))
	if err != nil || len(forms) != 60_000 {
		t.Fatalf("%d forms, %v", len(forms), err)
	}
	r := plist.NewTreeReader(`(((a)))`, plist.Limits{Depth: 2})
	if _, err := r.Next(); err == nil {
		t.Error("a depth of 3 passed a limit of 2")
	}
	r = plist.NewTreeReader(`   (a b)(a b)`, plist.Limits{Bytes: 5})
	for range 2 {
		if _, err := r.Next(); err != nil {
			t.Errorf("a form of 5 bytes: %v", err)
		}
	}
	r = plist.NewTreeReader(`(a bc)`, plist.Limits{Bytes: 5})
	if _, err := r.Next(); err == nil {
		t.Error("a form of 6 bytes passed a limit of 5")
	}
}

func TestTreesAreIndependent(t *testing.T) {
	forms, err := readAll("(a b) (c d)")
	if err != nil {
		t.Fatal(err)
	}
	_ = append(forms[0].(sexp.List), sexp.Symbol("x"))
	if got := plist.Print(forms[1]); got != "(c d)" {
		t.Fatalf("appending to one list made the next %s", got)
	}
}

func TestPrintUnreadable(t *testing.T) {
	inf := plist.Float(math.Inf(1))
	for _, c := range []struct {
		x    sexp.Sexp
		want string
	}{
		{nil, "nil"}, {sexp.Symbol("nil"), "nil"}, {sexp.Symbol("FOO"), "foo"}, {plist.Keyword("FOO"), ":foo"},
		{sexp.Symbol("a) (b"), `"a) (b"`}, {plist.Keyword("a b"), `":a b"`}, {sexp.Symbol("5"), `"5"`}, {sexp.Symbol(""), `""`},
		{sexp.Symbol("?a"), `"?a"`}, {plist.BigInt("x"), `"x"`}, {plist.String("\xff"), "\"\uFFFD\""},
		{inf, "1.0e+INF"}, {-inf, "-1.0e+INF"}, {inf - inf, "0.0e+NaN"}, {plist.Keyword(""), ":"},
		{&plist.Pair{Car: plist.Int(1), Cdr: sexp.List{plist.Int(2)}}, "(1 2)"},
	} {
		if got := plist.Print(c.x); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
