package plist_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"org-agent/kernel/plist"
)

// spell is a Maker that writes the calls that it gets, with positions.
type spell struct{ features map[string]bool }

func (spell) List(at plist.Position, items []string) (string, error) {
	return "(" + strings.Join(items, " ") + ")", nil
}
func (spell) Dotted(_ plist.Position, items []string, tail string) (string, error) {
	return "(" + strings.Join(items, " ") + " . " + tail + ")", nil
}
func (spell) Vector(_ plist.Position, items []string) (string, error) {
	return "[" + strings.Join(items, " ") + "]", nil
}
func (spell) Token(at plist.Position, text string, escaped bool) (string, error) {
	if text == "forbidden" {
		return "", errForbidden
	}
	pkg, colons, name := plist.SymbolParts(text, escaped)
	return fmt.Sprintf("%s%s%s@%s", pkg, strings.Repeat(":", colons), name, at), nil
}
func (spell) Uninterned(_ plist.Position, text string, escaped bool) (string, error) {
	_, _, name := plist.SymbolParts(text, escaped)
	return "#:" + name, nil
}
func (spell) Radix(_ plist.Position, radix int, text string) (string, error) {
	return fmt.Sprintf("%s_%d", text, radix), nil
}
func (spell) String(_ plist.Position, s string) (string, error) { return fmt.Sprintf("%q", s), nil }
func (spell) Char(_ plist.Position, name string) (string, error) {
	return "char<" + name + ">", nil
}
func (spell) Prefixed(_ plist.Position, kind plist.Prefix, v string) (string, error) {
	return [...]string{"quote", "function", "backquote", "comma", "comma-at", "pathname"}[kind] + "<" + v + ">", nil
}
func (s spell) Feature(name string) bool { return s.features[name] }

var errForbidden = errors.New("this symbol is forbidden")

func readLisp(src string) (string, error) {
	r := plist.NewReader(src, plist.Maker[string](spell{map[string]bool{"sbcl": true, "x": true}}), plist.Lisp, plist.Limits{})
	var forms []string
	for {
		v, err := r.Next()
		if errors.Is(err, io.EOF) {
			return strings.Join(forms, " "), nil
		}
		if err != nil {
			return "", err
		}
		forms = append(forms, v)
	}
}

func TestLispModeReadsCommonLisp(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"foo\n  Bar", "FOO@1:1 BAR@2:3"},
		{"\"é\"é x", `"é" é@1:4 X@1:6`},
		{"'a `(b ,c ,@d ,.e) #'f", "quote<A@1:2> backquote<(B@1:6 comma<C@1:9> comma-at<D@1:13> comma-at<E@1:17>)> function<F@1:22>"},
		{"#(1 #(2) ())", "[1@1:3 [2@1:7] ()]"},
		{`#\a #\( #\) #\; #\Space #\é #\" (#\a)`, `char<a> char<(> char<)> char<;> char<Space> char<é> char<"> (char<a>)`},
		{"#| a #| b |# c |# d #||# e", "D@1:19 E@1:26"},
		{"#:foo #:|a b|", "#:FOO #:a b"},
		{"|a b| a|B c|d |a:b| p:|x| p::q :k :|Kw| a\\:b \\a", "a b@1:1 AB cD@1:7 a:b@1:15 P:x@1:21 P::Q@1:27 :K@1:32 :Kw@1:35 A:B@1:41 a@1:46"},
		{"#b101 #O17 #xFF/a #36rZz", "101_2 17_8 FF/a_16 Zz_36"},
		{"#+sbcl a #-sbcl b #+clisp (c ,d [ } \"x)\" #\\)) e", "A@1:8 E@1:47"},
		{"(#+nope a)", "()"}, {"(a #-x 'b c)", "(A@1:2 C@1:11)"},
		{"#+(or nope sbcl) a #+(and x sbcl (not nope)) b #-(not x) c", "A@1:18 B@1:46 C@1:58"},
		{"#+nope #+sbcl a b", "B@1:17"}, {"#+nope (#.(b) #3x #1=a) c", "C@1:25"}, {"a #-nope", "A@1:1"}, {"(#+sbcl)", "()"},
		{"(a . b) (a b . c)", "(A@1:2 . B@1:6) (A@1:10 B@1:12 . C@1:16)"},
		{"a#b 1+ [x] {y}", "A#B@1:1 1+@1:5 [X]@1:8 {Y}@1:12"},
		{`"a\nb\"\q"`, `"a\nb\"q"`},
		{`#p"x" #P"y"`, `pathname<"x"> pathname<"y">`},
		{"; c\r\na ; d", "A@2:1"},
	} {
		got, err := readLisp(c.src)
		if err != nil || got != c.want {
			t.Errorf("%s\ngot  %s, %v\nwant %s", c.src, got, err, c.want)
		}
	}
}

func TestLispModeErrors(t *testing.T) {
	for _, c := range []struct {
		src  string
		kind plist.ErrorKind
		want string
	}{
		{"a #.(b)", plist.BadToken, "1:3: #. runs code while reading"},
		{"#S(a)", plist.BadToken, "1:1: #S is not supported"},
		{"#1=(a)", plist.BadToken, "1:1: #1= is not supported"},
		{"#", plist.UnclosedString, "1:1: something is missing after this #"},
		{"#99r1", plist.BadToken, "1:1: #NNr wants a radix"},
		{"#b12", plist.BadToken, `1:1: "12" is not a number in base 2`},
		{"#x", plist.UnclosedString, "1:1: digits are missing at the end"},
		{"(a |b", plist.UnclosedString, "1:4: this | is not closed"},
		{"a #| b", plist.UnclosedString, "1:3: this #| comment is not closed"},
		{`a\`, plist.UnclosedString, `1:2: a character is missing after this \`},
		{`#\`, plist.UnclosedString, `1:1: a character is missing after #\`},
		{"..", plist.BadToken, "1:1: a token of dots only"},
		{"(defun f (x)\n  (car x)", plist.UnclosedList, "1:1: this list is not closed: 1 ) missing"},
		{"(a))", plist.UnexpectedClose, "1:4: this ) closes nothing"},
		{"#+nope", plist.UnclosedList, "1:1: a form is missing after this"},
		{"(a #+nope)", plist.UnexpectedClose, "1:10: a form is missing"},
		{"#+(foo x) a", plist.BadToken, "1:3: a feature test is"},
		{"(a forbidden)", plist.BadToken, "1:4: this symbol is forbidden"},
		{"#+" + strings.Repeat("(not ", 100), plist.LimitExceeded, "1:328: a feature test nested deeper"},
	} {
		got, err := readLisp(c.src)
		var syntax *plist.SyntaxError
		if !errors.As(err, &syntax) || syntax.Kind != c.kind || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%.40s: got %s, %v; want kind %d, %s", c.src, got, err, c.kind, c.want)
		}
	}
	if _, err := readLisp("forbidden"); !errors.Is(err, errForbidden) {
		t.Errorf("the maker's error is lost: %v", err)
	}
}

func TestNumberSyntax(t *testing.T) {
	for kind, tokens := range map[plist.NumberKind]string{
		plist.Integer:   "0 12 -7 +3 12. -12.",
		plist.Ratio:     "1/2 -1/2 +10/20",
		plist.Decimal:   "1.5 .5 -.5 1e3 1E+3 1.5d0 1f-2 1.e5 +1.5s2 1l0",
		plist.NotNumber: "+ - . 1+ 1/ /2 1/-2 1.5.2 1e 1e+ e5 .e5 1.5e 1x a 1_000 -a 1/2/3 .",
	} {
		for _, token := range strings.Fields(tokens) {
			if got := plist.NumberSyntax(token); got != kind {
				t.Errorf("%s is %d, not %d", token, got, kind)
			}
		}
	}
	if plist.NumberSyntax("") != plist.NotNumber {
		t.Error("nothing is a number")
	}
}

// TestSkip passes over forms that would be errors if they were read.
func TestSkip(t *testing.T) {
	for text, rest := range map[string]string{
		"a b": " b", "(a . b) c": " c", "#.(delete) x": " x", "#3x12 y": " y", "#c(1) z": " z", "#:a:b w": " w", "#*12 v": " v",
		"#2(1 2 3) u": " u", "... t": " t", ". s": " s", "#1# r": " r", "#5\\a q": " q", "#99r- p": " p", "#(. .) o": " o",
	} {
		r := plist.NewReader[string](text, spell{}, plist.Lisp, plist.Limits{})
		if err := r.Skip(); err != nil || text[r.Offset():] != rest {
			t.Errorf("%s: %v, %q is left, want %q", text, err, text[r.Offset():], rest)
		}
	}
	for _, text := range []string{"(a", "#|", `"a`, "#<", "#.", "#+", ")"} {
		if err := plist.NewReader[string](text, spell{}, plist.Lisp, plist.Limits{}).Skip(); err == nil {
			t.Errorf("%s is passed over", text)
		}
	}
	if err := plist.NewReader[string](" ; x", spell{}, plist.Lisp, plist.Limits{}).Skip(); err != io.EOF {
		t.Errorf("the end: %v", err)
	}
}
