package lib_test

import (
	"testing"
	"time"

	"org-agent/kernel/lisp"
	"org-agent/kernel/lisp/lib"
)

// example is a form, and what prin1 prints of its value.
type example struct{ form, want string }

// check evaluates each example in an environment of its own.
func check(t *testing.T, examples []example) {
	t.Helper()
	language, err := lib.Language()
	if err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return time.Date(2026, 11, 22, 10, 30, 5, 0, time.UTC) }
	for _, test := range examples {
		environment, err := lisp.New(lisp.Config{Language: language, Now: now})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		err = environment.Eval(t.Context(), test.form, "test.lisp", 1, func(printed string) { got = printed })
		if err != nil || got != test.want {
			t.Errorf("%s\n got %s (%v)\nwant %s", test.form, got, err, test.want)
		}
	}
}

// TestMissingLibrary makes sure that a library is refused without those it needs.
func TestMissingLibrary(t *testing.T) {
	for _, library := range lib.All() {
		_, err := lisp.NewLanguage(library)
		if missing := len(library.Needs) > 0; missing != (err != nil) {
			t.Errorf("%s alone: %v", library.Package, err)
		}
		if _, err := lisp.NewLanguage(append(lib.All(), library)...); err == nil {
			t.Errorf("%s is added twice", library.Package)
		}
	}
}

// TestWithoutLibraries makes sure that a language has only the libraries it was made with.
func TestWithoutLibraries(t *testing.T) {
	environment, err := lisp.New(lisp.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, library := range lib.All() {
		if err := environment.Load(t.Context(), "(find-symbol \"X\" \""+library.Package+"\")", "test.lisp", 1); err == nil {
			t.Errorf("there is a package %s", library.Package)
		}
	}
}

// TestJSON compares with what cl-json is documented to do.
func TestJSON(t *testing.T) {
	check(t, []example{
		{`(json:decode-json-from-string "{\"a\":1,\"fooBar\":[1,2.5,\"x\",true,false,null]}")`, `((:A . 1) (:FOO-BAR 1 2.5 "x" T NIL NIL))`},
		{`(json:decode-json-from-string "{\"chat_id\":7,\"TreeNode\":{},\"widgetURL\":[]}")`, `((:CHAT--ID . 7) (:*TREE-NODE) (:WIDGET-+URL+))`},
		{`(cl-json:decode-json-from-string " [ 1 , -2 , 1e3 , 12345678901234567890 ] ")`, `(1 -2 1000.0 12345678901234567890)`},
		{`(cl-json:decode-json-from-string "\"a\\u00e9\\n\\\"\\\\\\/\\ud83d\\ude00\"")`, "\"aé\n\\\"\\\\/😀\""},
		{`(cdr (assoc :name (cl-json:decode-json-from-string "{\"name\":\"n\"}")))`, `"n"`},
		{`(handler-case (cl-json:decode-json-from-string "{\"a\" 1}") (cl-json:json-syntax-error () :syntax))`, ":SYNTAX"},
		{`(handler-case (cl-json:decode-json-from-string "[1 2]") (error (e) (type-of e)))`, "JSON:JSON-SYNTAX-ERROR"},
		{`(handler-case (cl-json:decode-json-from-string "[1,") (end-of-file () :eof))`, ":EOF"},
		{`(handler-case (cl-json:decode-json-from-string "") (end-of-file () :eof))`, ":EOF"},
		{`(handler-case (cl-json:decode-json-from-string "nope") (error () :bad))`, ":BAD"},
		{`(with-input-from-string (s "{\"a\":1} [2]") (list (json:decode-json s) (json:decode-json s)))`, `(((:A . 1)) (2))`},
		{`(json:encode-json-to-string '((:a . 1) (:foo-bar . "x") ("Key" . nil) (:chat--id . t)))`, `"{\"a\":1,\"fooBar\":\"x\",\"Key\":null,\"chat_id\":true}"`},
		{`(json:encode-json-to-string '(1 2.5 1/2 "a/b" :some-key #\c nil t))`, `"[1,2.5,0.5,\"a\\/b\",\"someKey\",\"c\",null,true]"`},
		{`(json:encode-json-to-string '((:a . ((:b . 1))) (:c . (1 2))))`, `"{\"a\":{\"b\":1},\"c\":[1,2]}"`},
		{`(json:encode-json-to-string '((:a 1) (:b 2)))`, `"[[\"a\",1],[\"b\",2]]"`},
		{`(json:encode-json-to-string #(1 #(2)))`, `"[1,[2]]"`},
		{`(let ((h (make-hash-table :test 'equal))) (setf (gethash "k" h) 1 (gethash :two-words h) '(2)) (json:encode-json-to-string h))`, `"{\"k\":1,\"twoWords\":[2]}"`},
		{`(json:encode-json-plist-to-string '(:a 1 :b-c "d"))`, `"{\"a\":1,\"bC\":\"d\"}"`},
		{`(json:encode-json-alist-to-string '((:a 1) (:b 2)))`, `"{\"a\":[1],\"b\":[2]}"`},
		{`(with-output-to-string (s) (json:encode-json '(1 2) s))`, `"[1,2]"`},
		{`(json:encode-json-to-string (format nil "é~%\"\\"))`, `"\"\\u00E9\\n\\\"\\\\\""`},
		{`(handler-case (json:encode-json-to-string #'car) (error () :no))`, ":NO"},
		{`(handler-case (json:encode-json-to-string '(1 . 2)) (error () :no))`, ":NO"},
		{`(mapcar #'json:camel-case-to-lisp '("camelCase" "CamelCase" "ABC" "a_b" "a1b2" "x"))`, `("CAMEL-CASE" "*CAMEL-CASE" "+ABC+" "A--B" "A-1-B-2" "X")`},
		{`(mapcar #'json:lisp-to-camel-case '("CAMEL-CASE" "*CAMEL-CASE" "+ABC+" "A--B" "X"))`, `("camelCase" "CamelCase" "ABC" "a_b" "x")`},
	})
}

// TestStr compares with what the library str is documented to do.
func TestStr(t *testing.T) {
	check(t, []example{
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
	})
}

// TestLocalTime compares with what local-time is documented to do.
func TestLocalTime(t *testing.T) {
	check(t, []example{
		{`(local-time:format-timestring nil (local-time:now))`, `"2026-11-22T10:30:05.000000Z"`},
		{`(local-time:format-timestring nil (local-time:today) :format '(:year "-" (:month 2) #\- (:day 2) " " :short-weekday))`, `"2026-11-22 Sun"`},
		{`(let ((x (local-time:parse-timestring "2024-01-31T00:00:00Z"))) (list (local-time:timestamp-to-unix x) (local-time:timestamp-day (local-time:timestamp+ x 1 :month)) (local-time:timestamp-year (local-time:timestamp- x 1 :day))))`, "(1706659200 29 2024)"},
		{`(let ((a (local-time:unix-to-timestamp 0)) (b (local-time:unix-to-timestamp 90))) (list (local-time:timestamp< a b) (local-time:timestamp>= a b) (local-time:timestamp-difference b a) (local-time:timestamp= b (local-time:timestamp+ a 90 :sec))))`, "(T NIL 90 T)"},
		{`(handler-case (local-time:parse-timestring "soon") (local-time:invalid-timestring () :bad))`, ":BAD"},
		{`(local-time:timestamp-to-universal (local-time:universal-to-timestamp 3900000000))`, "3900000000"},
		{`(princ-to-string (local-time:now))`, `"2026-11-22T10:30:05.000000Z"`},
	})
}
