package lisp_test

import (
	"errors"
	"flag"
	"fmt"
	"hash/crc64"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/lisp"
)

// The tests in this file call every function of the language and its libraries with arguments made
// from its lambda list. So a function that is added to a table is tested without a line here.

// argument makes an argument of about n elements. A circular one has no end if n is 0.
type argument func(c *lisp.Call, n int) lisp.Value

// lists are the arguments that can be circular.
var lists = []argument{
	listing(func(c *lisp.Call, i int) lisp.Value { return lisp.Integer(int64(i)) }),
	listing(func(c *lisp.Call, i int) lisp.Value { return lisp.Character('a' + rune(i%26)) }),
	listing(func(c *lisp.Call, i int) lisp.Value { return c.Text("text") }),
	listing(func(c *lisp.Call, i int) lisp.Value { return c.Cons(lisp.Integer(int64(i)), lisp.Integer(int64(i))) }),
	listing(func(c *lisp.Call, i int) lisp.Value { return c.Keyword([]string{"A", "B"}[i%2]) }),
}

// listing makes lists whose elements are made one by one.
func listing(element func(c *lisp.Call, i int) lisp.Value) argument {
	return func(c *lisp.Call, n int) lisp.Value {
		circle := n == 0
		if circle {
			n = 4
		}
		first := c.Cons(element(c, 0), lisp.Nil)
		last := first
		for i := 1; i < n; i++ {
			cell := c.Cons(element(c, i), lisp.Nil)
			last.Cdr, last = cell, cell
		}
		if circle {
			last.Cdr = first
		}
		return first
	}
}

// texts are strings of n characters.
func texts(sample string) argument {
	return func(c *lisp.Call, n int) lisp.Value {
		return c.Text(strings.Repeat(sample, n/len(sample)+1)[:max(n, 4)])
	}
}

// evaluating is what a form gives in which N stands for the number of elements.
func evaluating(form string) argument {
	return func(c *lisp.Call, n int) lisp.Value {
		return lisp.Single(c.Standard("EVAL", must(c.ReadForm(c.Standard("MAKE-STRING-INPUT-STREAM", c.Text(strings.ReplaceAll(form, "N", fmt.Sprint(max(n, 4))))).(*lisp.Stream)))))
	}
}

func must(v lisp.Value, _ bool) lisp.Value { return v }

// forms are arguments by forms.
func forms(all ...string) []argument {
	var arguments []argument
	for _, form := range all {
		arguments = append(arguments, evaluating(form))
	}
	return arguments
}

var (
	sequencesOf = append(append([]argument{
		texts("a"), texts("abc def "), texts("1234567890"), texts("{\"a\":[1]} "), texts("/tmp/dir/"),
	}, forms(`(make-array N :initial-element 1)`, `(make-array N :element-type 'bit)`,
		`(make-array N :fill-pointer t :adjustable t :initial-element 1)`,
		`(make-array N :element-type 'character :fill-pointer t :adjustable t :initial-element #\a)`,
	)...), lists...)
	charactersOf = forms(`#\a`, `#\A`, `#\1`, `(code-char 955)`)
	treesOf      = append(forms(`'((((1 2) (3 4)) ((5 6) (7 8))) (((1 2) (3 4)) ((5 6) (7 8))) (((1 2) (3 4)) ((5 6) (7 8))))`), lists...)
	arraysOf     = forms(`(make-array N :element-type 'bit)`, `(make-array '(2 2) :initial-element 1)`, `(make-array N :displaced-to (make-array N :initial-element 1))`)
	functionsOf  = forms(`#'identity`, `#'list`, `#'eql`, `(constantly t)`, `(constantly nil)`, `#'print-object`, `#'+`)
	typesOf      = forms(`'list`, `'vector`, `'string`, `'bit-vector`, `'character`, `'integer`, `'(integer 0 5)`)
	numbersOf    = append(forms(`(expt 3 N)`, `(/ (expt 3 N) (expt 2 N))`, `0`, `2`, `1.5d0`, `1.5`, `(complex (expt 3 N) 1)`, `(- (expt 3 N))`),
		func(_ *lisp.Call, n int) lisp.Value { return lisp.Integer(int64(n)) })
	smallOf   = forms(`0`, `1`, `2`, `5`, `8`, `31`, `2000`)
	bytesOf   = forms(`(byte 3 2)`, `(byte N 5)`)
	streamsOf = forms(`(make-string-input-stream (format nil "~vD" N 1))`, `(make-string-input-stream (make-string N :initial-element #\())`, `(make-string-output-stream)`,
		`(make-string-input-stream (make-string N :initial-element #\a))`, `(make-broadcast-stream (make-string-output-stream))`, `(make-concatenated-stream (make-string-input-stream "a"))`,
		`(make-echo-stream (make-string-input-stream "a") (make-string-output-stream))`, `(make-two-way-stream (make-string-input-stream "a") (make-string-output-stream))`)
	filesOf   = forms(`(merge-pathnames "text.txt")`, `(merge-pathnames "new.txt")`, `(merge-pathnames "directory/")`)
	tablesOf  = forms(`(let ((h (make-hash-table))) (dotimes (i N h) (setf (gethash i h) i)))`, `(make-hash-table :test 'equalp)`)
	symbolsOf = forms(`nil`, `t`, `'a`, `:a`, `'car`, `(gensym)`)
	namesOf   = append(forms(`"A"`, `'a`, `:keyword`, `"CL-USER"`), symbolsOf...)
	classesOf = forms(`(find-class 'integer)`, `(defclass k () ((a :initarg :a :initform 1 :accessor a-of)))`, `'simple-error`, `(progn (defstruct s a) 's)`)
	madeOf    = forms(`(progn (defclass k () ((a :initarg :a :initform 1))) (make-instance 'k))`, `(progn (defstruct s a) (make-s :a 1))`)
	failedOf  = forms(`(make-condition 'simple-error :format-control "a" :format-arguments (list 1))`, `(make-condition 'division-by-zero :operation '/ :operands (list 1 0))`,
		`(make-condition 'file-error :pathname "a")`, `(make-condition 'package-error :package "A")`, `(make-condition 'type-error :datum 1 :expected-type 'string)`,
		`(make-condition 'stream-error :stream *standard-output*)`, `(make-condition 'unbound-slot :name 'a :instance 1)`, `(make-condition 'cl-ppcre:ppcre-syntax-error)`)
	methodsOf  = forms(`(defmethod of ((x integer) y) 1)`)
	momentsOf  = forms(`(local-time:now)`, `local-time:+utc-zone+`)
	controlsOf = append(forms(`"~a"`, `"~a~%~a"`, `"~{~a~^, ~}"`, `"~10d"`), texts("abc def "))
	patternsOf = forms(`"a"`, `"(a)(b)?"`, `"[a-c]+|x"`, `"\\s+"`, `'(:sequence #\a (:register "b"))`, `(ppcre:create-scanner "a+")`)
	pairsOf    = slices.Concat(arraysOf, numbersOf, momentsOf, treesOf, forms(`"1.2.3"`))
	unitsOf    = forms(`:day`, `:year`, `:nsec`, `:array`, `:object`)
	othersOf   = forms(`(pathname "/nowhere/a.b")`, `(find-package "CL-USER")`, `*random-state*`, `*readtable*`, `(ppcre:create-scanner "a+")`)

	everyArgument = slices.Concat(sequencesOf, charactersOf, treesOf, arraysOf, functionsOf, typesOf, numbersOf, smallOf, bytesOf, streamsOf, filesOf, tablesOf, symbolsOf,
		classesOf, madeOf, failedOf, methodsOf, momentsOf, unitsOf, othersOf)
	// byName are the arguments for parameters whose names contain a word.
	byName = []struct {
		word      string
		arguments []argument
	}{
		{"control", controlsOf}, {"pattern", patternsOf}, {"regex", patternsOf}, {"readtable", forms(`*readtable*`)}, {"slot", forms(`'a`)}, {"restart", forms(`'continue`)}, {"variable", forms(`"HOME"`)},
		{"function", functionsOf}, {"predicate", functionsOf}, {"test", functionsOf}, {"key", functionsOf}, {"type", typesOf}, {"stream", streamsOf}, {"input", streamsOf}, {"output", streamsOf},
		{"condition", failedOf}, {"timestamp", momentsOf}, {"zone", momentsOf}, {"unit", unitsOf}, {"part", unitsOf}, {"method", methodsOf}, {"class", classesOf}, {"instance", madeOf}, {"structure", madeOf},
		{"file", filesOf}, {"pathname", filesOf}, {"directory", filesOf}, {"target", filesOf}, {"table", tablesOf}, {"byte", bytesOf}, {"array", arraysOf}, {"character", charactersOf}, {"char", charactersOf},
		{"name", namesOf}, {"symbol", symbolsOf}, {"package", namesOf}, {"sequence", sequencesOf}, {"list", treesOf}, {"string", sequencesOf}, {"text", sequencesOf},
		{"second", smallOf}, {"minute", smallOf}, {"hour", smallOf}, {"day", smallOf}, {"month", smallOf}, {"year", smallOf}, {"number", numbersOf}, {"integer", numbersOf}, {"count", numbersOf},
		{"size", smallOf}, {"index", smallOf}, {"position", smallOf}, {"n", numbersOf},
	}
	// hostile are arguments that no function can be meant for: without an end, too deep, too long or too
	// large.
	hostile = append(forms(
		`(let ((l (list 1))) (setf (cdr l) l))`, `(let ((l (list #\a))) (setf (cdr l) l))`, `(let ((l (list "ab"))) (setf (cdr l) l))`, `(let ((l (list (cons :a 1)))) (setf (cdr l) l))`,
		`(let ((l (list 1))) (setf (car l) l))`, `(let ((l (list 1))) (setf (car l) l (cdr l) l))`, `(let ((v (vector 1))) (setf (aref v 0) v))`,
		`(let ((l nil)) (dotimes (i 20000 l) (setf l (list l))))`, `(let ((l 1)) (dotimes (i 60 l) (setf l (cons l l))))`,
		`most-positive-fixnum`, `most-negative-fixnum`, `1000000000`, `(expt 10 30)`, `(expt 3 200000)`, `(/ (expt 3 90000) (expt 2 90001))`, `most-positive-double-float`, `least-positive-double-float`,
		`(make-string 200000 :initial-element #\a)`, `(make-string 50000 :initial-element #\()`, `(make-string 50000 :initial-element #\Newline)`, `(make-array 50000 :initial-element 1)`,
		`"~1000000000d"`, `"~1000000000a"`, `"~v%"`, `"~,1000000000f"`, `"~,300000e"`, `"~{~:*~a~}"`, `"~1000000000<~a~>"`, `"~?"`, `(with-output-to-string (s) (dotimes (i 20000) (princ "~a" s)))`,
		`"((a{100}){100}){100}"`, `"(a*)*b"`, `"[[[[[["`, `"{\"a\":{\"a\":{\"a\":"`, `(make-string 50000 :initial-element #\[)`,
		`(let ((h (make-hash-table))) (setf (gethash h h) h) h)`, `(lambda (&rest r) (loop (push 1 r)))`, `(lambda (&rest r) (make-list 100000))`, `(lambda (&rest r) (apply #'list 1 r))`,
		`(make-concatenated-stream (make-string-input-stream (make-string 50000 :initial-element #\a)))`,
	), everyArgument...)
)

// argumentFor chooses an argument for a parameter.
func argumentFor(choice *rand.Rand, name string) argument {
	if choice.IntN(4) > 0 {
		if name == "a" || name == "b" {
			return pairsOf[choice.IntN(len(pairsOf))]
		}
		for _, known := range byName {
			if strings.Contains(name, known.word) {
				return known.arguments[choice.IntN(len(known.arguments))]
			}
		}
	}
	return everyArgument[choice.IntN(len(everyArgument))]
}

// application is a function with the arguments of one call.
type application struct {
	function  *lisp.Function
	arguments []argument
	// keys are the keywords that the last arguments belong to.
	keys []*lisp.Symbol
}

// choose makes up an application of a function from its lambda list.
func choose(choice *rand.Rand, f *lisp.Function) application {
	a := application{function: f}
	p := f.Parameters()
	positional := p.Required + choice.IntN(p.Positional-p.Required+1)
	for i := range positional {
		a.arguments = append(a.arguments, argumentFor(choice, p.Names[i]))
	}
	if positional < p.Positional {
		return a
	}
	if p.Rest && len(p.Keys) == 0 {
		for range choice.IntN(3) {
			a.arguments = append(a.arguments, argumentFor(choice, "rest"))
		}
	}
	for i, key := range p.Keys {
		if choice.IntN(4) == 0 {
			a.keys = append(a.keys, key)
			a.arguments = append(a.arguments, argumentFor(choice, p.Names[p.Positional+i]))
		}
	}
	return a
}

// values makes the arguments.
func (a application) values(c *lisp.Call, n int) []lisp.Value {
	var values []lisp.Value
	for i, argument := range a.arguments {
		if at := i - (len(a.arguments) - len(a.keys)); at >= 0 {
			values = append(values, a.keys[at])
		}
		values = append(values, argument(c, n))
	}
	return values
}

// form is the application as a form, for messages.
func (a application) form(values []lisp.Value) string {
	text := "(" + strings.ToLower(a.function.Name())
	for _, v := range values {
		text += " " + lisp.Sketch(v, 40)
	}
	return text + ")"
}

// ground is a directory of the test with files, in which functions of files find something. It is made anew when
// one of them has changed it.
type ground struct {
	directory string
	state     string
}

// access is access to the directory as it was at first.
func (g *ground) access(t *testing.T) lisp.Access {
	t.Helper()
	if g.directory == "" || g.looks() != g.state {
		g.directory = realDirectory(t)
		put(t, filepath.Join(g.directory, "text.txt"), strings.Repeat("(a \"b\" 1)\n", 100))
		put(t, filepath.Join(g.directory, "directory", "inner.txt"), "1")
		g.state = g.looks()
	}
	return lisp.Access{Read: []string{g.directory}, Write: []string{g.directory}, Environment: []string{"HOME"}, Directory: g.directory}
}

// looks is what one sees of all that is in the directory.
func (g *ground) looks() string {
	var seen strings.Builder
	if err := filepath.WalkDir(g.directory, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			fmt.Fprintln(&seen, path, info.Mode(), info.Size(), info.ModTime().UnixNano())
		}
		return err
	}); err != nil {
		return err.Error()
	}
	return seen.String()
}

// applications are those of a function that end with a value when their arguments are small.
func applications(t *testing.T, e *lisp.Environment, f *lisp.Function, tries, most int) []application {
	t.Helper()
	choice := nameChoice(f, 1)
	var good []application
	if err := e.Run(t.Context(), func(c *lisp.Call) {
		for range tries {
			if len(good) == most {
				return
			}
			a := choose(choice, f)
			if _, err := c.Apply(f, a.values(c, 4)...); err == nil {
				good = append(good, a)
			}
		}
	}); err != nil {
		t.Logf("%s: %v", f.Name(), err)
	}
	return good
}

// nameChoice makes choices that are the same for a function each time.
func nameChoice(f *lisp.Function, more uint64) *rand.Rand {
	return rand.New(rand.NewPCG(crc64.Checksum([]byte(f.Name()), crc64.MakeTable(crc64.ISO)), more))
}

// idle are functions that do nothing but wait, or end what runs.
var idle = []string{"SLEEP"}

// eachApplication calls body with every function of the language, for most applications of each.
func eachApplication(t *testing.T, most int, limits lisp.Limits, body func(e *lisp.Environment, a application)) {
	t.Helper()
	tries := 300
	if testing.Short() {
		tries, most = 40, 1
	}
	functions := testLanguage.Functions()
	var never []string
	var files ground
	for _, f := range functions {
		if slices.Contains(idle, f.Name()) {
			continue
		}
		e := newEnvironment(t, lisp.Config{Limits: limits, Access: files.access(t)})
		good := applications(t, e, f, tries, most)
		if len(good) == 0 {
			never = append(never, f.Name())
		}
		for _, a := range good {
			body(e, a)
		}
	}
	t.Logf("%d of %d functions are called with no value: %s", len(never), len(functions), strings.Join(never, " "))
}

// A call may be charged for less than Go allocates by a fifth, because sizes are rounded and memory is
// pooled, and by a few kilobytes, such as the words of a message. It is charged for more where what it
// takes is not known before: at most for so many times as much.
const (
	underCharged = 1.2
	overCharged  = 4
	overSlack    = 96 << 10
	// slack is for what is small, such as the hint at the end of a call, and nestedSlack for what the reader
	// had begun when it found a fault.
	slack       = 48 << 10
	nestedSlack = 256 << 10
)

// charged calls the function of an application and compares what the call is charged with what Go
// allocates meanwhile.
func (a application) charged(t *testing.T, e *lisp.Environment, n int) (err error) {
	t.Helper()
	var before, after runtime.MemStats
	if limit := e.Run(t.Context(), func(c *lisp.Call) {
		values := a.values(c, n)
		left, nested := c.BytesLeft(), c.StackBytes()
		runtime.ReadMemStats(&before)
		_, err = c.Apply(a.function, values...)
		runtime.ReadMemStats(&after)
		stack := c.StackBytes() - nested
		charged, allocated := left-c.BytesLeft(), int64(after.TotalAlloc-before.TotalAlloc)
		free := float64(slack)
		var failed *lisp.Error
		if errors.As(err, &failed) && (failed.Class == readerError || failed.Class == lisp.EndOfFile) {
			free = nestedSlack
		}
		if float64(allocated) > underCharged*float64(charged)+free {
			t.Errorf("%s allocates %d bytes and is charged for %d (%v)", a.form(values), allocated, charged, err)
		}
		if charged-stack > overCharged*allocated+overSlack {
			t.Errorf("%s allocates %d bytes and is charged for %d (%v)", a.form(values), allocated, charged-stack, err)
		}
	}); limit != nil {
		return limit
	}
	return err
}

// TestAllocationsAreCharged calls every function with arguments of thousands of elements, and
// compares what the call is charged with what Go allocates meanwhile.
func TestAllocationsAreCharged(t *testing.T) {
	most := 2
	if *thorough {
		most = 6
	}
	eachApplication(t, most, lisp.Limits{Steps: 2_000_000, Bytes: 16 << 20, Duration: 10 * time.Second}, func(e *lisp.Environment, a application) {
		a.charged(t, e, 4096)
	})
}

// TestHostileArguments calls every function with arguments that no function can be meant for. Whatever
// it does, it ends within the limits, with no fault of the evaluator, and is charged for what it takes.
func TestHostileArguments(t *testing.T) {
	tries := 3
	if *thorough {
		tries = 40
	} else if testing.Short() {
		tries = 1
	}
	limits := lisp.Limits{Steps: 300_000, Bytes: 24 << 20, Output: 1 << 20, Duration: 5 * time.Second}
	var files ground
	for _, f := range testLanguage.Functions() {
		if slices.Contains(idle, f.Name()) {
			continue
		}
		e := newEnvironment(t, lisp.Config{Limits: limits, Access: files.access(t)})
		choice := nameChoice(f, 2)
		for range tries {
			a := choose(choice, f)
			for i := range a.arguments {
				if choice.IntN(2) == 0 {
					a.arguments[i] = hostile[choice.IntN(len(hostile))]
				}
			}
			err := a.charged(t, e, 4096)
			var failed *lisp.Error
			if errors.As(err, &failed) && failed.Class == internalError {
				t.Errorf("%s: %v\n%v", f.Name(), failed, failed.Cause)
			}
		}
	}
}

var thorough = flag.Bool("thorough", false, "call each function with more arguments")

// TestLoopsStep calls every function with circular lists, where it must end, and with long
// arguments, where it must account for the time that it takes.
func TestLoopsStep(t *testing.T) {
	const (
		elements, many = 1 << 12, 1 << 17
		// A function that accounts for fewer steps than these may not take longer for long arguments
		// than for none, but for what is brief. It is given several tries, because a machine under
		// load may stop it at any time.
		fewest, brief, tries = elements / 256, 3 * time.Millisecond, 20
	)
	most := 1
	if *thorough {
		most = 6
	}
	eachApplication(t, most, lisp.Limits{Steps: 200_000, Bytes: 8 << 20, Output: 1 << 20, Duration: 2 * time.Second}, func(e *lisp.Environment, a application) {
		steps, took, form := a.timed(t, e, 0)
		if took > 20*time.Second {
			t.Errorf("%s takes %v and accounts for %d steps", form, took, steps)
		}
		if steps, _, _ := a.timed(t, e, elements); steps >= fewest {
			return
		}
		least, base := time.Hour, time.Hour
		for range tries {
			_, none, _ := a.timed(t, e, 0)
			base = min(base, none)
			if steps, took, form = a.timed(t, e, many); steps >= fewest {
				return
			}
			if least = min(least, took); least-base < brief {
				return
			}
		}
		t.Errorf("%s takes %v and accounts for %d steps", form, least, steps)
	})
}

// timed is how many steps the application accounts for with arguments of n elements, and how long
// it takes. A call that does not end is named by a panic.
func (a application) timed(t *testing.T, e *lisp.Environment, n int) (steps int64, took time.Duration, form string) {
	t.Helper()
	e.Run(t.Context(), func(c *lisp.Call) {
		values := a.values(c, n)
		form = a.form(values)
		watch := time.AfterFunc(time.Minute, func() { panic(form + " does not end") })
		defer watch.Stop()
		before, began := c.StepsLeft(), time.Now()
		c.Apply(a.function, values...)
		took = time.Since(began)
		steps = before - c.StepsLeft()
	})
	return steps, took, form
}
