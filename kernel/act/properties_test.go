package act_test

import (
	"strings"
	"testing"

	"org-agent/kernel/action"
	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
)

// TestProperties checks that properties are judged as pairs of texts, and that those which may not
// be set are refused with the reason.
func TestProperties(t *testing.T) {
	tests := []struct{ properties, want string }{
		{`(:effort "1:00" :count 3 :rate 0.5)`, `(("EFFORT" "1:00") ("COUNT" "3") ("RATE" "0.5"))`},
		{`(("Effort" "1:00") ("note" ""))`, `(("EFFORT" "1:00") ("NOTE" ""))`},
		{`()`, "no property is named"},
		{`(:id "x")`, "not to be set"},
		{`(("header-args:lisp" ":eval yes"))`, "not to be set"},
		{`(("HEADER-ARGS+" "x"))`, "not to be set"},
		{`(("var+" "x"))`, "not to be set"},
		{`(:cron "* * * * *")`, "not to be set"},
		{`(:todo "DONE")`, "a part of the entry"},
		{`(("a b" "x"))`, "cannot name"},
		{`(("a:b" "x"))`, "cannot name"},
		{`(("END" "x"))`, "cannot name"},
		{`((" " "x"))`, "cannot name"},
		{`(:a nil)`, "to be a text"},
		{`(:a :b)`, "to be a text"},
		{`(:a (1 2))`, "to be a text"},
		{`(:a "one\n:ID: two")`, "one line"},
		{`(("A" "1") ("a" "2"))`, "twice"},
	}
	for _, test := range tests {
		proposed, err := action.Read(`(:type :request :target :emacs :action :set-properties :id "x" :properties ` + test.properties + `)`)
		if err != nil {
			t.Fatal(err)
		}
		v := (&policy.Policy{Kinds: builtIn()}).Judge(t.Context(), proposed.Action(), policy.Where{})
		got, kind := v.Reason, policy.Refuse
		if strings.HasPrefix(test.want, "(") {
			value, _ := v.Action.Field("properties")
			got, kind = plist.Print(value), policy.Ask
		}
		if v.Kind != kind || !strings.Contains(got, test.want) {
			t.Errorf("%s: %v, %s, want %s", test.properties, v.Kind, got, test.want)
		}
	}
}
