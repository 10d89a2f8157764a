package lisp_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"org-agent/kernel/lisp"
)

// TestEntriesAreComplete makes sure that everything the language has is told, once, in
// one line.
func TestEntriesAreComplete(t *testing.T) {
	told := map[string]bool{}
	for _, entry := range testLanguage.Entries() {
		if told[entry.Name] {
			t.Errorf("%s is told twice", entry.Name)
		}
		told[entry.Name] = true
		if entry.Doc == "" || strings.Contains(entry.Doc, "\n") || !strings.HasSuffix(entry.Doc, ".") {
			t.Errorf("%s: the doc %q is not a line of prose", entry.Name, entry.Doc)
		}
		variable := entry.Kind == lisp.VariableEntry || entry.Kind == lisp.ConstantEntry
		if variable != (entry.LambdaList == "") {
			t.Errorf("%s: a %s with the lambda list %q", entry.Name, entry.Kind, entry.LambdaList)
		}
		if entry.Chapter == "" {
			t.Errorf("%s stands in no chapter", entry.Name)
		}
	}
	for _, name := range testLanguage.Names() {
		if !told[name] {
			t.Errorf("%s is not told", name)
		}
	}
}

// TestLambdaListsAreTrue calls every function with zeros for arguments, with one fewer and one more than
// its lambda list says, and with as many as it says. Only the wrong numbers are refused
// for their number.
func TestLambdaListsAreTrue(t *testing.T) {
	t.Parallel()
	for _, entry := range testLanguage.Entries() {
		if entry.Kind != lisp.FunctionEntry {
			continue
		}
		parameters, err := lisp.ParseParameters(entry.LambdaList)
		if err != nil {
			t.Errorf("%s: %v", entry.Name, err)
			continue
		}
		least, most := parameters.Required, parameters.Most
		e := newEnvironment(t, lisp.Config{Limits: lisp.Limits{Steps: 100_000, Bytes: 4 << 20}, Access: everything()})
		refused := func(count int) bool {
			_, err := evaluated(t, e, "(funcall '"+entry.Name+strings.Repeat(" 0", count)+")")
			var failed *lisp.Error
			if errors.As(err, &failed) && failed.Class == internalError {
				t.Errorf("%s with %d arguments: %v", entry.Name, count, failed.Cause)
			}
			return errors.As(err, &failed) && failed.Class == lisp.ProgramError && strings.HasPrefix(failed.Message, "invalid number of arguments: ")
		}
		if least > 0 && !refused(least-1) {
			t.Errorf("%s %s takes %d arguments", entry.Name, entry.LambdaList, least-1)
		}
		if most >= 0 && !refused(most+1) {
			t.Errorf("%s %s takes %d arguments", entry.Name, entry.LambdaList, most+1)
		}
		if entry.Name == "funcall" || entry.Name == "apply" {
			continue // they pass the arguments on
		}
		if refused(least) || most >= 0 && refused(most) {
			t.Errorf("%s %s refuses the number of arguments it says", entry.Name, entry.LambdaList)
		}
	}
}

// everything grants all kinds of access, to nothing that exists.
func everything() lisp.Access {
	return lisp.Access{Read: []string{"/nowhere"}, Write: []string{"/nowhere"}, Environment: []string{"NOTHING"}, Directory: "/nowhere", Ask: func(context.Context, any, lisp.ServerRequest) (lisp.ServerAnswer, error) {
		return lisp.ServerAnswer{}, errors.New("nobody is there")
	}}
}

// TestArgumentsAreBound makes sure that optional and keyword arguments are bound by the lambda list
// of their row, and not taken by their position.
func TestArgumentsAreBound(t *testing.T) {
	for _, f := range testLanguage.Functions() {
		if p := f.Parameters(); (p.Positional > p.Required || len(p.Keys) > 0) && !f.IsNamed() {
			t.Errorf("%s %s takes its arguments by their position", f.Name(), f.LambdaList())
		}
	}
}

// TestKeywordsAreTrue calls every function that has &key with each keyword its lambda
// list names, and with one that it does not.
func TestKeywordsAreTrue(t *testing.T) {
	t.Parallel()
	for _, entry := range testLanguage.Entries() {
		_, keys, found := strings.Cut(strings.TrimSuffix(entry.LambdaList, ")"), "&key ")
		if entry.Kind != lisp.FunctionEntry || !found || strings.Contains(keys, "&allow-other-keys") {
			continue
		}
		parameters, err := lisp.ParseParameters(entry.LambdaList)
		if err != nil {
			t.Fatal(err)
		}
		positions := parameters.Positional
		e := newEnvironment(t, lisp.Config{Limits: lisp.Limits{Steps: 100_000, Bytes: 4 << 20}, Access: everything()})
		refused := func(key string) bool {
			for _, argument := range []string{" nil", " 1", ` "a"`, " 'list", " #'car"} {
				arguments := strings.Repeat(argument, positions)
				if entry.Name == "make-sequence" {
					arguments = " 'list 1"
				}
				_, err := evaluated(t, e, "("+entry.Name+arguments+" :"+key+" nil)")
				var failed *lisp.Error
				if errors.As(err, &failed) && failed.Class == internalError {
					t.Errorf("%s%s :%s nil: %s %v", entry.Name, arguments, key, failed.Message, failed.Cause)
				}
				if errors.As(err, &failed) && strings.HasPrefix(strings.ToLower(failed.Message), "unknown keyword argument :"+key) {
					return true
				}
			}
			return false
		}
		if !refused("no-such-keyword") {
			t.Errorf("%s takes any keyword", entry.Name)
		}
		for key := range strings.FieldsSeq(keys) {
			if refused(key) {
				t.Errorf("%s %s refuses the keyword %s", entry.Name, entry.LambdaList, key)
			}
		}
	}
}

func TestEntriesOfAnEnvironment(t *testing.T) {
	e := newEnvironment(t, noteConfig(nil))
	source := `(defun twice (x &optional (n 2)) "Twice X.
More." (* x n)) (defmacro with-it ((a) &body body) "With it." a ` + "`(progn ,@body)" + `) (defvar *it* 1 "It.") (defconstant +k+ 1)`
	if err := e.Load(t.Context(), source, "x", 1); err != nil {
		t.Fatal(err)
	}
	entries, err := e.Entries(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name+" | "+string(entry.Kind)+" | "+entry.LambdaList+" | "+entry.Doc+" | "+entry.Chapter)
	}
	want := `*it* | variable |  | It. | The note
+k+ | constant |  |  | The note
ask-neuro | function | (text &key system-prompt) |  | The kernel
defskill | macro | (name &rest properties) |  | The kernel
twice | function | (x &optional (n 2)) | Twice X. | The note
with-it | macro | ((a) &body body) | With it. | The note`
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	if near := lisp.Nearest("twise", entries); near == nil || near.Name != "twice" {
		t.Errorf("nearest to twise is %v", near)
	}
}
