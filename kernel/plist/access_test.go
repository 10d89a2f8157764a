package plist_test

import (
	"strings"
	"testing"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
)

func read(t *testing.T, src string) sexp.Sexp {
	t.Helper()
	x, err := plist.Read(src)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestGetNeverPanics(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{`(:a 1 :b 2)`, "2"}, {`(:b nil :b 2)`, "nil"}, {`(:a :b :b 3)`, "3"},
		{`(:a 1 :b)`, ""}, {`(a 1 :b 2)`, ""}, {`(:a . :b)`, ""}, {`nil`, ""}, {`"x"`, ""}, {`:b`, ""}, {`((:b 1))`, ""},
	} {
		v, ok := plist.Get(read(t, c.src), "b")
		if ok != (c.want != "") || ok && plist.Print(v) != c.want {
			t.Errorf("%s: got %v, %v", c.src, v, ok)
		}
	}
	if _, ok := plist.Get(nil, "b"); ok {
		t.Error("something is in nothing")
	}
	x := read(t, `(:s "x" :k :y)`)
	s, isText := plist.Text(x, "s")
	k, isKeyword := plist.KeywordValue(x, "k")
	_, wrong := plist.Text(x, "k")
	if s != "x" || !isText || k != "y" || !isKeyword || wrong {
		t.Errorf("typed getters: %q %v %q %v %v", s, isText, k, isKeyword, wrong)
	}
}

func TestPutAndWithoutLeaveTheListAlone(t *testing.T) {
	list := read(t, `(:a 1 :b 2 :a 3)`).(sexp.List)
	for _, c := range []struct {
		got  sexp.List
		want string
	}{
		{plist.Put(list, "a", plist.Int(9)), `(:a 9 :b 2 :a 3)`},
		{plist.Put(list, "c", nil), `(:a 1 :b 2 :a 3 :c nil)`},
		{plist.Put(nil, "c", plist.Int(1)), `(:c 1)`},
		{plist.Without(list, "a"), `(:b 2)`},
		{plist.Without(list, "a", "b"), `nil`},
		{plist.Without(read(t, `(:a 1 :b)`).(sexp.List), "a"), `(:b)`},
		{plist.Without(read(t, `(:x :a :b 1)`).(sexp.List), "a"), `(:x :a :b 1)`},
	} {
		if plist.Print(c.got) != c.want {
			t.Errorf("got %s, want %s", plist.Print(c.got), c.want)
		}
	}
	if got := plist.Print(list); got != `(:a 1 :b 2 :a 3)` {
		t.Errorf("the list became %s", got)
	}
}

func TestWellFormed(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{`(:type :request :payload (:args (:a 1)) :id nil)`, ""},
		{`(:a (:b 1 :b 2))`, ""}, // only the top, :payload and :args are checked
		{`(:a 1 :payload (:a 1))`, ""}, {`nil`, ""}, {`(:payload nil)`, ""}, {`(:text "a" :payload nil)`, ""},
		{`(:a)`, "the last key, :a, has no value"},
		{`(:a 1 b 2)`, "element 3 is b where a keyword should be"},
		{`(:a 1 "b" 2)`, `element 3 is the string "b" where a keyword should be`},
		{`(:a 1 :a 1)`, "the key :a stands twice"},
		{`(:a . 1)`, "ends with a dot"},
		{`"x"`, `the plist is the string "x"`}, {`5`, "the plist is 5"},
		{`(:payload "x")`, `:payload is the string "x"`},
		{`(:payload (:a))`, "in :payload the last key"},
		{`(:payload (:a 1 :a 2))`, "in :payload the key :a stands twice"},
		{`(:args ((:a 1)))`, "in :args element 1 is the list (:a ...)"},
		{`(:args "ls")`, `:args is the string "ls"`},
		{`(:payload (:args (:a 1 :a 1)))`, "in :args the key :a stands twice"},
		{`(:a 1 :payload (:a 2))`, ":a stands outside and inside :payload with different values"},
		{`(:a nil :payload (:a 2))`, ":a stands outside and inside"},
	} {
		err := plist.WellFormed(read(t, c.src))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.src, err, c.want)
		}
	}
}

func TestNested(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{`(:type :request :target :emacs :action :insert-at-end :text "x")`, `(:type :request :target :emacs :payload (:action :insert-at-end :text "x"))`},
		{`(:type :request :target :emacs :payload (:action :insert-at-end :text "x") :id "1")`, `(:type :request :target :emacs :id "1" :payload (:action :insert-at-end :text "x"))`},
		{`(:type :request :a 1 :payload (:b 2 :a 1))`, `(:type :request :payload (:b 2 :a 1))`},
		{`(:type :request :payload nil)`, `(:type :request)`},
		{`(:type :request :target :tool :action :call :args (:type "x"))`, `(:type :request :target :tool :payload (:action :call :args (:type "x")))`},
	} {
		got, err := plist.Nested(read(t, c.src))
		if err != nil || plist.Print(got) != c.want {
			t.Errorf("%s: %s, %v", c.src, plist.Print(got), err)
		}
		again, err := plist.Nested(got)
		if err != nil || !plist.Equal(again, got) {
			t.Errorf("%s: nesting twice gives %s, %v", c.src, plist.Print(again), err)
		}
	}
	if _, err := plist.Nested(read(t, `(:a 1 :payload (:a 2))`)); err == nil {
		t.Error("a conflict was nested")
	}
}

func TestStripForbidden(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{`(:type :request :approved t :payload (:verified t :text "x" :args (:policy 1)) :args (:origin 1))`,
			`(:type :request :payload (:text "x" :args (:policy 1)) :args (:origin 1))`},
		{`(:type :request :payload (:policy 1))`, `(:type :request :payload nil)`},
		{`(:approved t :approved t)`, `nil`},
		{`(:type :approved :text "x")`, ""},
		{`(:type :request :payload "x")`, ""},
		{`(:type :request :approved)`, `(:type :request)`},
	} {
		action := read(t, c.src).(sexp.List)
		before := plist.Print(action)
		got, changed := plist.StripForbidden(action, "approved", "verified", "policy", "origin")
		want := c.want
		if want == "" {
			want = before
		}
		if plist.Print(got) != want || changed != (c.want != "") || plist.Print(action) != before {
			t.Errorf("%s: got %s, %v; the action is now %s", c.src, plist.Print(got), changed, plist.Print(action))
		}
	}
}

func TestEqual(t *testing.T) {
	data := []string{`nil`, `t`, `a`, `:a`, `"a"`, `1`, `1.0`, `-0.0`, `0.0`, `(a)`, `(a b)`, `(a . b)`, `(a . c)`, `99999999999999999999`, `(a (b))`}
	for i, a := range data {
		for j, b := range data {
			if got := plist.Equal(read(t, a), read(t, b)); got != (i == j) {
				t.Errorf("Equal(%s, %s) is %v", a, b, got)
			}
		}
	}
	if !plist.Equal(nil, sexp.List(nil)) || !plist.Equal(sexp.List{}, nil) {
		t.Error("nothing is not nil")
	}
}
