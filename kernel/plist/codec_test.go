package plist_test

import (
	"strings"
	"testing"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
)

type inner struct {
	Text  string `json:"text,omitempty"`
	Count int    `json:"count"`
}

type outer struct {
	inner
	Name    string            `json:"never-received"`
	Level   protocol.Level    `json:"level,omitempty"`
	Levels  []protocol.Level  `json:"levels,omitempty"`
	On      bool              `json:"on"`
	Ratio   float64           `json:"ratio,omitempty"`
	Size    uint64            `json:"size,omitempty"`
	Child   *inner            `json:"child,omitempty"`
	Rows    []inner           `json:"rows,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Payload protocol.Object   `json:"payload,omitempty"`
	Tree    sexp.Sexp         `json:"tree,omitempty"`
	List    sexp.List         `json:"list,omitempty"`
	Hidden  string            `json:"-"`
}

func TestMarshalWritesTheFormsOfTheWire(t *testing.T) {
	v := outer{
		inner: inner{Text: "é\n", Count: 0}, Name: "", Level: protocol.LevelWarn,
		Levels: []protocol.Level{"info", "warn"}, On: true, Ratio: 1, Size: 1 << 63,
		Child: &inner{Count: 2}, Rows: []inner{{Text: "a"}, {}},
		Env: map[string]string{"b": "2", "a": "1"},
		Payload: protocol.Object{
			{Key: "action", Value: protocol.Keyword("insert-at-end")},
			{Key: "n", Value: int64(3)}, {Key: "f", Value: 0.5}, {Key: "yes", Value: true}, {Key: "no", Value: nil},
			{Key: "args", Value: protocol.Object{{Key: "cmd", Value: "ls"}}},
			{Key: "list", Value: []any{"a", int64(1), protocol.Object{{Key: "k", Value: "v"}}}},
		},
		Tree: sexp.Symbol("x"), List: sexp.List{plist.Int(1)}, Hidden: "no",
	}
	x, err := plist.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	want := `(:text "é\n" :count 0 :never-received "" :level :warn :levels ("info" "warn") :on t :ratio 1.0 ` +
		`:size 9223372036854775808 :child (:count 2) :rows ((:text "a" :count 0) (:count 0)) :env (("a" "1") ("b" "2")) ` +
		`:payload (:action :insert-at-end :n 3 :f 0.5 :yes t :args (:cmd "ls") :list ("a" 1 (:k "v"))) :tree x :list (1))`
	if got := plist.Print(x); got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
	var back outer
	back.Name = "is overwritten"
	if err := plist.Unmarshal(x, &back); err != nil {
		t.Fatal(err)
	}
	again, err := plist.Marshal(back)
	if err != nil {
		t.Fatal(err)
	}
	if got := plist.Print(again); got != want {
		t.Fatalf("after a round trip:\ngot  %s\nwant %s", got, want)
	}
	if back.Payload.Text("action") != "insert-at-end" || back.Hidden != "" {
		t.Fatalf("read back as %+v", back)
	}
}

func TestUnmarshalErrorNamesPath(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{`(:child (:text 5))`, `:child :text wants a string, not 5`},
		{`(:rows ((:count 1) (:count "x")))`, `:rows element 2 :count wants an integer of 64 bits, not the string "x"`},
		{`(:level 5)`, `:level wants a keyword, not 5`},
		{`(:on 1)`, `:on wants t or nil, not 1`},
		{`(:size -1)`, `:size wants an integer from 0 of 64 bits, not -1`},
		{`(:ratio "x")`, `:ratio wants a number`},
		{`(:rows "x")`, `:rows wants a list`},
		{`(:env (("a")))`, `:env wants a list of lists of two strings`},
		{`(:env (:a "b"))`, `:env wants a list of lists of two strings`},
		{`(:child (:text))`, `:child wants keys and values: in it the last key, :text, has no value`},
		{`(:child "x")`, `:child wants keys and values, not the string "x"`},
		{`(:payload (:a 1 :a 2))`, `:payload wants keys and values: in it the key :a stands twice`},
		{`(:payload (:a (:b odd-symbol)))`, `:payload :a :b wants a string, number, keyword or list, not odd-symbol`},
		{`(:payload (:a . b))`, `:payload wants keys and values, not a pair`},
		{`5`, `wants keys and values, not 5`},
	} {
		x, err := plist.Read(c.src)
		if err != nil {
			t.Fatal(err)
		}
		var v outer
		if err := plist.Unmarshal(x, &v); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", c.src, err, c.want)
		}
	}
}

func TestUnmarshalClientValues(t *testing.T) {
	x, err := plist.Read(`(:LEVEL "WARN" :unknown (1 . 2) :count nil :ratio 2 :on nil :child nil :rows nil :text nil)`)
	if err != nil {
		t.Fatal(err)
	}
	v := outer{inner: inner{Count: 7, Text: "old"}, Child: &inner{}, On: true}
	if err := plist.Unmarshal(x, &v); err != nil {
		t.Fatal(err)
	}
	if v.Level != "warn" || v.Count != 0 || v.Ratio != 2 || v.Child != nil || v.On || v.Text != "" {
		t.Fatalf("read as %+v", v)
	}
}

func TestMarshalUnsupported(t *testing.T) {
	type loop struct {
		Next *loop `json:"next,omitempty"`
	}
	round := &loop{}
	round.Next = round
	nan := 0.0
	nan /= nan
	for _, v := range []any{
		struct{ F float64 }{nan}, struct{ C chan int }{make(chan int)}, round,
		protocol.Object{{Key: "a b", Value: "x"}}, struct{ L protocol.Level }{"a b"},
		map[string]int{"a": 1},
	} {
		if x, err := plist.Marshal(v); err == nil {
			t.Errorf("%T was written as %s", v, plist.Print(x))
		}
	}
	if err := plist.Unmarshal(plist.Int(1), outer{}); err == nil {
		t.Error("stored into a struct that is not a pointer")
	}
}
