package skill

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"org-agent/kernel/lisp"
	"org-agent/kernel/org"
	"org-agent/kernel/text"
)

// test is a deftest of a note.
type test struct {
	name, criterion string
	line            int
	function        lisp.Value
}

// TestResult is the result of one test.
type TestResult struct {
	// Name is the test's name, or the criterion's for a block without a deftest.
	Name string
	// Criterion is the heading under "Success Criteria" that the test's block proves, by its
	// #+name: or :criterion, or "".
	Criterion string
	// Line is the first line of the test's block.
	Line int
	// Faults are the reasons why the test failed. It passed if there are none.
	Faults []Diagnostic
	// Withheld is true if the test used a capability that is not granted. Its failure then says
	// nothing about the note.
	Withheld bool
}

// testFunctions returns the functions that the test macros call.
func testFunctions() []lisp.KernelFunction {
	return append(proposalFunctions(),
		lisp.KernelFunction{Name: "%register-test", LambdaList: "(name function)", Call: ofNote(registerTest), Doc: "What deftest does."},
		lisp.KernelFunction{Name: "%recorded", LambdaList: "(turn part)", Call: ofNote(recorded), Doc: "A part of a turn of the journal."},
		lisp.KernelFunction{Name: "%with-answers", LambdaList: "(answers function)", Call: withAnswers, Doc: "What with-answers does."},
		lisp.KernelFunction{Name: "%check", LambdaList: "(form result &rest reason)", Call: check, Doc: "What is does."},
		lisp.KernelFunction{Name: "%check-call", LambdaList: "(form function &rest arguments)", Call: checkCall, Doc: "What is does for a comparison."},
	)
}

// testMacros returns the test language. It includes FiveAM's names, also in FiveAM's package.
func testMacros() []lisp.KernelMacro {
	macros := append(answerMacros(), lisp.KernelMacro{Name: "deftest", LambdaList: "(name &body body)", Expand: expandDeftest, Doc: "Define a test."})
	for _, prefix := range []string{"", "fiveam:", "5am:"} {
		macros = append(macros,
			lisp.KernelMacro{Name: prefix + "test", LambdaList: "(name &body body)", Expand: expandDeftest, Doc: "The same as deftest."},
			lisp.KernelMacro{Name: prefix + "is", LambdaList: "(form &rest reason)", Expand: expandIs, Doc: "Fail the test unless the form is true."},
			lisp.KernelMacro{Name: prefix + "signals", LambdaList: "(condition &body body)", Expand: expandSignals, Doc: "Fail the test unless the body signals the condition."},
			lisp.KernelMacro{Name: prefix + "def-suite", LambdaList: "(name &rest options)", Expand: expandNothing, Doc: "Accepted; a note is one suite."},
			lisp.KernelMacro{Name: prefix + "in-suite", LambdaList: "(name)", Expand: expandNothing, Doc: "Accepted; a note is one suite."},
		)
	}
	return macros
}

func expandNothing(*lisp.Call, []lisp.Value) (lisp.Value, error) { return lisp.Nil, nil }

// expandDeftest makes a function of the test's body.
func expandDeftest(call *lisp.Call, args []lisp.Value) (lisp.Value, error) {
	name := args[0]
	if options, ok := name.(*lisp.Cons); ok { // FiveAM's (NAME :suite S)
		name = options.Car
	}
	text, err := nameOf(name)
	if err != nil {
		return nil, fmt.Errorf("the name of a test: %w", err)
	}
	body, err := expandReplay(call, args[1:])
	if err != nil {
		return nil, fmt.Errorf("the test %s: %w", text, err)
	}
	function := append([]lisp.Value{call.Symbol("LAMBDA"), lisp.Nil}, body...)
	return lisp.NewList(call.Symbol("%REGISTER-TEST"), lisp.NewString(text), lisp.NewList(function...)), nil
}

// comparisons are the functions whose arguments a failed check shows.
var comparisons = []string{"EQ", "EQL", "EQUAL", "EQUALP", "=", "/=", "<", ">", "<=", ">=",
	"STRING=", "STRING-EQUAL", "CHAR=", "MEMBER", "SEARCH"}

// expandIs evaluates the form. It evaluates the arguments of a comparison separately, to show them.
func expandIs(call *lisp.Call, args []lisp.Value) (lisp.Value, error) {
	form := args[0]
	quoted := lisp.NewList(call.Symbol("QUOTE"), form)
	if cell, ok := form.(*lisp.Cons); ok {
		operator, ok := cell.Car.(*lisp.Symbol)
		operands, proper := lisp.Slice(cell.Cdr, 16)
		if ok && proper && slices.Contains(comparisons, operator.Name()) {
			function := lisp.NewList(call.Symbol("FUNCTION"), operator)
			return lisp.NewList(append([]lisp.Value{call.Symbol("%CHECK-CALL"), quoted, function}, operands...)...), nil
		}
	}
	return lisp.NewList(append([]lisp.Value{call.Symbol("%CHECK"), quoted, form}, args[1:]...)...), nil
}

// expandSignals checks (handler-case (progn body nil) (condition () t)).
func expandSignals(call *lisp.Call, args []lisp.Value) (lisp.Value, error) {
	condition := args[0]
	if cell, ok := condition.(*lisp.Cons); ok { // quoted
		if rest, ok := cell.Cdr.(*lisp.Cons); ok {
			condition = rest.Car
		}
	}
	body := append(append([]lisp.Value{call.Symbol("PROGN")}, args[1:]...), lisp.Nil)
	handled := lisp.NewList(call.Symbol("HANDLER-CASE"), lisp.NewList(body...),
		lisp.NewList(condition, lisp.Nil, lisp.T))
	form := lisp.NewList(append([]lisp.Value{call.Symbol("SIGNALS")}, args...)...)
	return lisp.NewList(call.Symbol("%CHECK"), lisp.NewList(call.Symbol("QUOTE"), form), handled), nil
}

// registerTest stores a test until the note is loaded.
func registerTest(_ context.Context, n *Note, call *lisp.Call, args []lisp.Value) (lisp.Value, error) {
	name, err := nameOf(args[0])
	if err != nil {
		return nil, fmt.Errorf("the name of a test: %w", err)
	}
	defines, err := defining(call, "deftest")
	if defines && n.block != nil {
		n.tests = append(n.tests, test{name: name, line: n.block.Line, function: args[1],
			criterion: criterionOf(n.block.Criterion, n.block.Name)})
	}
	return args[0], err
}

func criterionOf(criterion, name string) string {
	if criterion != "" {
		return criterion
	}
	return name
}

// check ends the test with an error when a form is false.
func check(ctx context.Context, call *lisp.Call, args []lisp.Value) (lisp.Value, error) {
	if args[1] != lisp.Nil {
		return lisp.T, nil
	}
	form, err := shownInTest(call, args[0])
	if err != nil {
		return nil, err
	}
	message := form + " is false"
	if len(args) > 2 {
		reason, err := call.Apply(call.Symbol("FORMAT"), append([]lisp.Value{lisp.Nil}, args[2:]...)...)
		if err != nil {
			return nil, err
		}
		if text, ok := reason.(*lisp.String); ok {
			message += ": " + text.String()
		}
	}
	return nil, failed(call, message)
}

// checkCall ends the test with an error when a comparison is false.
func checkCall(ctx context.Context, call *lisp.Call, args []lisp.Value) (lisp.Value, error) {
	result, err := call.Apply(args[1], args[2:]...)
	if err != nil {
		return nil, err
	}
	if result != lisp.Nil {
		return lisp.T, nil
	}
	form, err := shownInTest(call, args[0])
	if err != nil {
		return nil, err
	}
	var shown []string
	for _, argument := range args[2:] {
		text, err := shownInTest(call, argument)
		if err != nil {
			return nil, err
		}
		shown = append(shown, text)
	}
	return nil, failed(call, form+" is false for "+strings.Join(shown, " and "))
}

// failed records the failure, so that a test which handles errors fails too.
func failed(call *lisp.Call, message string) error {
	o := invocationOf(call.Reason())
	o.failures = append(o.failures, message)
	return errors.New(message)
}

func shownInTest(call *lisp.Call, v lisp.Value) (string, error) {
	const longest = 200
	printed, err := call.Print(v)
	return text.Clip(printed, longest), err
}

// Tested reports whether the note has blocks of tests.
func (n *Note) Tested() bool {
	return slices.ContainsFunc(n.blocks, func(b org.SkillBlock) bool { return b.Test })
}

// Test runs the note's tests in a new environment, in the order in which they are
// defined, and returns a result for each. The environment of n is not touched. The error is a [Faults] if
// the tests use names that do not exist and no test failed there; the results are whole then too.
func (n *Note) Test(ctx context.Context) ([]TestResult, error) {
	fresh := *n
	fresh.options.Log = func(string, string) {}
	fresh.hooks = slices.DeleteFunc(slices.Clone(n.hooks), func(h *Hook) bool { return h.Script == "" })
	fresh.skills, fresh.actions, fresh.tests, fresh.tools, fresh.Diagnostics, fresh.Identity = nil, nil, nil, nil, nil, Identity{}
	if faults := fresh.load(ctx); len(faults) > 0 {
		return nil, limited(faults)
	}
	var results []TestResult
	for i, b := range fresh.blocks {
		if !b.Test {
			continue
		}
		before := len(fresh.tests)
		err := fresh.loadBlock(ctx, i, purposeTest)
		if ctx.Err() != nil {
			return results, ctx.Err()
		}
		criterion := criterionOf(b.Criterion, b.Name)
		if err != nil {
			_, withheld := errors.AsType[*withheldError](err)
			results = append(results, TestResult{Name: criterion, Criterion: criterion, Line: b.Line, Faults: []Diagnostic{fresh.diagnose(b.Line, err)}, Withheld: withheld})
		} else if criterion != "" && len(fresh.tests) == before {
			results = append(results, TestResult{Name: criterion, Criterion: criterion, Line: b.Line})
		}
	}
	problems := fresh.problems(ctx)
	for _, t := range fresh.tests {
		results = append(results, fresh.runTest(ctx, t))
		if ctx.Err() != nil {
			return results, ctx.Err()
		}
	}
	if problems = withoutFailedLines(problems, results); len(problems) > 0 {
		return results, limited(problems)
	}
	return results, nil
}

// withoutFailedLines drops the problems in lines where a test failed.
func withoutFailedLines(problems []Diagnostic, results []TestResult) []Diagnostic {
	return slices.DeleteFunc(problems, func(p Diagnostic) bool {
		return slices.ContainsFunc(results, func(r TestResult) bool {
			return !r.Withheld && slices.ContainsFunc(r.Faults, func(d Diagnostic) bool { return d.Line == p.Line })
		})
	})
}

// warnOfTests says that the tests of a note that does not load did not run.
func (n *Note) warnOfTests() {
	if i := slices.IndexFunc(n.blocks, func(b org.SkillBlock) bool { return b.Test }); i >= 0 {
		n.surprise(n.blocks[i].Line, "the tests were not run, because the note does not load; run the check again when it does")
	}
}

func (n *Note) runTest(ctx context.Context, t test) TestResult {
	result := TestResult{Name: t.name, Criterion: t.criterion, Line: t.line}
	o := &invocation{purpose: purposeTest}
	_, err := n.environment.For(o).Call(ctx, t.function)
	if err = n.mapPlace(err); err != nil {
		d := n.diagnose(t.line, err)
		d.Message = "the test " + t.name + " failed: " + d.Message
		result.Faults, result.Withheld = append(result.Faults, d), o.withheld
		return result
	}
	for _, message := range o.failures {
		result.Faults = append(result.Faults, Diagnostic{File: n.File, Line: t.line, Column: 1,
			Message: "the test " + t.name + " failed: " + message})
	}
	result.Withheld = o.withheld && len(result.Faults) > 0
	return result
}

// prove runs the tests of a note, if it has any. No other goroutine may have the note yet.
func (n *Note) prove(ctx context.Context) (faults []Diagnostic) {
	if !n.Tested() {
		return nil
	}
	results, err := n.Test(ctx)
	var more Faults
	switch {
	case errors.As(err, &more):
		faults = more
	case err != nil:
		faults = []Diagnostic{{File: n.File, Line: 1, Column: 1, Message: fmt.Sprintf("run the note's tests: %v", err)}}
	}
	for _, result := range results {
		if result.Withheld {
			n.Diagnostics = append(n.Diagnostics, unproven(result.Faults)...)
			continue
		}
		n.proven++
		faults = append(faults, result.Faults...)
	}
	return faults
}
