package lisp

import "testing"

// TestStr compares with what the library str is documented to do.
func TestStr(t *testing.T) {
	for _, test := range []struct{ form, want string }{
		{`(list (str:concat "a" "b" nil "c") (str:join "," '("x" "y")) (str:join #\- '("x" "y")))`, `("abc" "x,y" "x-y")`},
		{`(list (str:split "," "a,b,,c") (str:split #\, "a,b,,c" :omit-nulls t) (str:split "," "a,b,c" :limit 2) (str:split "+" "a+b"))`, `(("a" "b" "" "c") ("a" "b" "c") ("a" "b,c") ("a" "b"))`},
		{`(list (str:lines (format nil "a~%b~%")) (str:unlines '("a" "b")) (str:words " a  b c ") (str:unwords '("a" "b")))`, "((\"a\" \"b\") \"a\nb\" (\"a\" \"b\" \"c\") \"a b\")"},
		{`(list (str:trim "  a ") (str:trim-left " a ") (str:trim-right " a ") (str:collapse-whitespaces "a   b  c"))`, `("a" "a " " a" "a b c")`},
		{`(list (str:starts-with-p "ab" "abc") (str:starts-with? "B" "abc") (str:starts-with? "A" "abc" :ignore-case t) (str:ends-with-p "bc" "abc") (str:containsp "b" "abc") (str:contains? "B" "abc" :ignore-case t))`, `(T NIL T T T T)`},
		{`(list (str:emptyp "") (str:emptyp nil) (str:blankp "  ") (str:blankp "a") (str:non-empty-string-p "a"))`, `(T T T NIL T)`},
		{`(list (str:replace-all "a" "b" "banana") (str:replace-first "a" "o" "banana") (str:replace-all "." "-" "a.b"))`, `("bbnbnb" "bonana" "a-b")`},
		{`(list (str:upcase "ab") (str:downcase "AB") (str:capitalize "foo bar") (str:upcase nil))`, `("AB" "ab" "Foo Bar" NIL)`},
		{`(list (str:repeat 3 "ab") (str:substring 1 3 "abcd") (str:substring 0 -1 "abcd") (str:substring 2 100 "abcd") (str:shorten 8 "hello world"))`, `("ababab" "bc" "abc" "cd" "hello...")`},
		{`(list (str:pad 5 "ab") (str:pad 5 "ab" :pad-side :left) (str:pad 6 "ab" :pad-side :center :pad-char "*"))`, `("ab   " "   ab" "**ab**")`},
		{`(list (str:s-first "abc") (str:s-last "abc") (str:s-rest "abc") (str:count-substring "a" "banana") (str:prefix '("foobar" "foozz")))`, `("a" "c" "bc" 3 "foo")`},
		{`(list (str:snake-case "fooBar baz") (str:camel-case "foo-bar") (str:pascal-case "foo bar") (str:param-case "Foo Bar") (str:constant-case "foo bar"))`, `("foo_bar_baz" "fooBar" "FooBar" "foo-bar" "FOO_BAR")`},
		{`(list (str:digitp "123") (str:digitp "") (str:alphap "abc") (str:alphanump "a1") (str:upcasep "ABC") (str:downcasep "aB"))`, `(T NIL "abc" 0 T NIL)`},
	} {
		if got, err := evaluated(t, newEnvironment(t, Config{}), test.form); err != nil || got != test.want {
			t.Errorf("%s\n got %s (%v)\nwant %s", test.form, got, err, test.want)
		}
	}
}
