package lisp_test

import (
	"context"
	"testing"

	"org-agent/kernel/lisp"
)

// TestInPlaceOf: only a form with a keyword written in it calls what stands in place of a
// function of the standard; in every other way that function is itself.
func TestInPlaceOf(t *testing.T) {
	e := newEnvironment(t, lisp.Config{Interface: offering(t, lisp.KernelFunction{
		Name: "%identity", LambdaList: "(name &optional default)", InPlaceOf: "identity",
		Call: func(_ context.Context, c *lisp.Call, args []lisp.Value) (lisp.Value, error) {
			return lisp.NewList(append([]lisp.Value{c.Keyword("READ")}, args...)...), nil
		},
	})})
	for source, want := range map[string]string{
		`(identity :name)`:                          "(:READ :NAME)",
		`(identity :name "x")`:                      `(:READ :NAME "x")`,
		`(cl:identity :name)`:                       "(:READ :NAME)",
		`(progn (defun f () (identity :name)) (f))`: "(:READ :NAME)",
		`(identity 1)`:                              "1",
		`(identity "x")`:                            `"x"`,
		`(identity nil)`:                            "NIL",
		`(let ((key :name)) (identity key))`:        ":NAME",
		`(identity (car '(:name)))`:                 ":NAME",
		`(mapcar #'identity '(:a :b 1))`:            "(:A :B 1)",
		`(mapcar 'identity '(:a :b))`:               "(:A :B)",
		`(funcall #'identity :name)`:                ":NAME",
		`(apply 'identity '(:name))`:                ":NAME",
		`(find :b '(:a :b) :key #'identity)`:        ":B",
		`(sort (list 2 1) #'< :key 'identity)`:      "(1 2)",
		`(eq 'identity 'cl:identity)`:               "T",
		`(functionp #'identity)`:                    "T",
	} {
		got, err := evaluated(t, e, source)
		if err != nil || got != want {
			t.Errorf("%s is %s, %v, want %s", source, got, err, want)
		}
	}
	for _, source := range []string{`(identity)`, `(identity 1 2)`, `(identity :a 1 2)`} {
		if got, err := evaluated(t, e, source); err == nil {
			t.Errorf("%s is %s", source, got)
		}
	}
	plain := newEnvironment(t, lisp.Config{})
	if got, err := evaluated(t, plain, "(identity :name)"); err != nil || got != ":NAME" {
		t.Errorf("where nothing is offered it is %s, %v", got, err)
	}
	if _, err := lisp.NewInterface(testLanguage, []lisp.KernelFunction{{Name: "f", LambdaList: "(x)", InPlaceOf: "nothing-such"}}, nil); err == nil {
		t.Error("it may stand in place of nothing")
	}
}
