package lisp

import (
	"fmt"
	"hash/crc64"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// The tests in this file call every function of the language and its libraries with arguments made
// from its lambda list. So a function that is added to a table is tested without a line here.

// argument makes an argument of about n elements. A circular one has no end if n is 0.
type argument func(c *Call, n int) Value

// lists are the arguments that can be circular.
var lists = []argument{
	listing(func(c *Call, i int) Value { return Integer(int64(i)) }),
	listing(func(c *Call, i int) Value { return Character('a' + rune(i%26)) }),
	listing(func(c *Call, i int) Value { return c.Text("text") }),
	listing(func(c *Call, i int) Value { return c.Cons(Integer(int64(i)), Integer(int64(i))) }),
	listing(func(c *Call, i int) Value { return c.Keyword([]string{"A", "B"}[i%2]) }),
}

// listing makes lists whose elements are made one by one.
func listing(element func(c *Call, i int) Value) argument {
	return func(c *Call, n int) Value {
		circle := n == 0
		if circle {
			n = 4
		}
		first := c.Cons(element(c, 0), Nil)
		last := first
		for i := 1; i < n; i++ {
			cell := c.Cons(element(c, i), Nil)
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
	return func(c *Call, n int) Value {
		return c.Text(strings.Repeat(sample, n/len(sample)+1)[:max(n, 4)])
	}
}

// evaluating is what a form gives in which N stands for the number of elements.
func evaluating(form string) argument {
	return func(c *Call, n int) Value {
		return Single(c.Standard("EVAL", must(c.ReadForm(c.Standard("MAKE-STRING-INPUT-STREAM", c.Text(strings.ReplaceAll(form, "N", fmt.Sprint(max(n, 4))))).(*Stream)))))
	}
}

func must(v Value, _ bool) Value { return v }

var (
	sequencesOf = append([]argument{
		texts("a"), texts("abc def "), texts("1234567890"), texts("{\"a\":[1]} "), texts("/tmp/dir/"),
		evaluating(`(make-array N :initial-element 1)`), evaluating(`(make-array N :element-type 'bit)`),
		evaluating(`(make-array N :fill-pointer t :adjustable t :initial-element 1)`),
		evaluating(`(make-array N :element-type 'character :fill-pointer t :adjustable t :initial-element #\a)`),
	}, lists...)
	functionsOf = []argument{
		evaluating(`#'identity`), evaluating(`#'list`), evaluating(`#'eql`), evaluating(`(constantly t)`), evaluating(`(constantly nil)`),
	}
	typesOf   = []argument{evaluating(`'list`), evaluating(`'vector`), evaluating(`'string`), evaluating(`'bit-vector`), evaluating(`'character`), evaluating(`'integer`)}
	numbersOf = []argument{
		func(_ *Call, n int) Value { return Integer(int64(n)) }, evaluating(`(expt 3 N)`), evaluating(`(/ (expt 3 N) (expt 2 N))`), evaluating(`0`), evaluating(`2`),
		evaluating(`1.5d0`), evaluating(`(complex (expt 3 N) 1)`), evaluating(`(- (expt 3 N))`),
	}
	streamsOf = []argument{
		evaluating(`(make-string-input-stream (format nil "~vD" N 1))`), evaluating(`(make-string-input-stream (make-string N :initial-element #\())`),
		evaluating(`(make-string-output-stream)`), evaluating(`(make-string-input-stream (make-string N :initial-element #\a))`),
	}
	othersOf = []argument{
		evaluating(`nil`), evaluating(`t`), evaluating(`'a`), evaluating(`:a`), evaluating(`#\a`), evaluating(`(pathname "/nowhere/a.b")`), evaluating(`(find-package "CL-USER")`),
		evaluating(`(let ((h (make-hash-table))) (dotimes (i N h) (setf (gethash i h) i)))`), evaluating(`(make-array '(2 2) :initial-element 1)`),
		evaluating(`(make-condition 'simple-error :format-control "a" :format-arguments (list 1))`), evaluating(`(find-class 'integer)`), evaluating(`*random-state*`), evaluating(`*readtable*`),
		evaluating(`(local-time:now)`), evaluating(`(ppcre:create-scanner "a+")`), evaluating(`(make-array N :displaced-to (make-array N :initial-element 1))`),
	}
	everyArgument = slices.Concat(sequencesOf, functionsOf, typesOf, numbersOf, streamsOf, othersOf)
	// byName are the arguments for parameters whose names contain a word.
	byName = []struct {
		word      string
		arguments []argument
	}{
		{"function", functionsOf}, {"predicate", functionsOf}, {"test", functionsOf}, {"key", functionsOf}, {"type", typesOf}, {"stream", streamsOf},
		{"sequence", sequencesOf}, {"list", lists}, {"string", sequencesOf}, {"text", sequencesOf}, {"number", numbersOf}, {"integer", numbersOf}, {"count", numbersOf}, {"n", numbersOf},
	}
)

// argumentFor chooses an argument for a parameter.
func argumentFor(choice *rand.Rand, name string) argument {
	if choice.IntN(4) > 0 {
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
	function  *Function
	arguments []argument
	// keys are the keywords that the last arguments belong to.
	keys []*Symbol
}

// choose makes up an application of a function from its lambda list.
func choose(choice *rand.Rand, f *Function) application {
	a := application{function: f}
	p := f.parameters
	positional := p.required + choice.IntN(p.positional-p.required+1)
	for i := range positional {
		a.arguments = append(a.arguments, argumentFor(choice, p.names[i]))
	}
	if positional < p.positional {
		return a
	}
	if p.rest && len(p.keys) == 0 {
		for range choice.IntN(3) {
			a.arguments = append(a.arguments, argumentFor(choice, "rest"))
		}
	}
	for i, key := range p.keys {
		if choice.IntN(4) == 0 {
			a.keys = append(a.keys, key)
			a.arguments = append(a.arguments, argumentFor(choice, p.names[p.positional+i]))
		}
	}
	return a
}

// values makes the arguments.
func (a application) values(c *Call, n int) []Value {
	var values []Value
	for i, argument := range a.arguments {
		if at := i - (len(a.arguments) - len(a.keys)); at >= 0 {
			values = append(values, a.keys[at])
		}
		values = append(values, argument(c, n))
	}
	return values
}

// form is the application as a form, for messages.
func (a application) form(values []Value) string {
	text := "(" + strings.ToLower(a.function.name)
	for _, v := range values {
		text += " " + Sketch(v, 40)
	}
	return text + ")"
}

// applications are those of a function that end with a value when their arguments are small.
func applications(t *testing.T, e *Environment, f *Function, tries, most int) []application {
	t.Helper()
	seed := crc64.Checksum([]byte(f.name), crc64.MakeTable(crc64.ISO))
	choice := rand.New(rand.NewPCG(seed, 1))
	var good []application
	if err := e.run(t.Context(), func(c *Call) {
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
		t.Logf("%s: %v", f.name, err)
	}
	return good
}

// idle are functions that do nothing but wait, or end what runs.
var idle = []string{"SLEEP"}

// eachApplication calls body with every function of the language, for most applications of each.
func eachApplication(t *testing.T, most int, limits Limits, body func(e *Environment, a application)) {
	t.Helper()
	tries := 150
	if testing.Short() {
		tries, most = 40, 1
	}
	functions := slices.Collect(func(yield func(*Function) bool) {
		for _, f := range testLanguage.functions {
			if !yield(f) {
				return
			}
		}
	})
	slices.SortFunc(functions, func(a, b *Function) int { return strings.Compare(a.name, b.name) })
	var never []string
	for _, f := range functions {
		if slices.Contains(idle, f.name) {
			continue
		}
		e := newEnvironment(t, Config{Limits: limits})
		good := applications(t, e, f, tries, most)
		if len(good) == 0 {
			never = append(never, f.name)
		}
		for _, a := range good {
			body(e, a)
		}
	}
	t.Logf("%d of %d functions are called with no value: %s", len(never), len(functions), strings.Join(never, " "))
}

// TestAllocationsAreCharged calls every function with arguments of thousands of elements, and
// compares what the call is charged with what Go allocates meanwhile.
func TestAllocationsAreCharged(t *testing.T) {
	const (
		elements = 4096
		// A function may allocate a little that it is not charged for, such as the words of a message,
		// and be charged for the memory that a slice had before it grew.
		slack, factor = 24 << 10, 2
	)
	eachApplication(t, 6, Limits{Steps: 2_000_000, Bytes: 16 << 20, Duration: 10 * time.Second}, func(e *Environment, a application) {
		var before, after runtime.MemStats
		e.run(t.Context(), func(c *Call) {
			values := a.values(c, elements)
			left := c.left()
			runtime.ReadMemStats(&before)
			_, err := c.Apply(a.function, values...)
			runtime.ReadMemStats(&after)
			charged, allocated := left-c.left(), int64(after.TotalAlloc-before.TotalAlloc)
			if allocated > factor*charged+slack {
				t.Errorf("%s allocates %d bytes and is charged for %d (%v)", a.form(values), allocated, charged, err)
			}
		})
	})
}

// TestLoopsStep calls every function with circular lists, where it must end, and with long
// arguments, where it must account for the time that it takes.
func TestLoopsStep(t *testing.T) {
	const (
		elements, many = 1 << 12, 1 << 17
		// A function that accounts for fewer steps than these may not take longer than brief. It is
		// given several tries, because a machine under load may stop it at any time.
		fewest, brief, tries = elements / 256, 3 * time.Millisecond, 5
	)
	eachApplication(t, 3, Limits{Steps: 200_000, Bytes: 8 << 20, Output: 1 << 20, Duration: 2 * time.Second}, func(e *Environment, a application) {
		steps, took, form := a.timed(t, e, 0)
		if took > 20*time.Second {
			t.Errorf("%s takes %v and accounts for %d steps", form, took, steps)
		}
		if steps, _, _ := a.timed(t, e, elements); steps >= fewest {
			return
		}
		least := time.Hour
		for range tries {
			if steps, took, form = a.timed(t, e, many); steps >= fewest || took < brief {
				return
			}
			least = min(least, took)
		}
		t.Errorf("%s takes %v and accounts for %d steps", form, least, steps)
	})
}

// timed is how many steps the application accounts for with arguments of n elements, and how long
// it takes. A call that does not end is named by a panic.
func (a application) timed(t *testing.T, e *Environment, n int) (steps int64, took time.Duration, form string) {
	t.Helper()
	e.run(t.Context(), func(c *Call) {
		values := a.values(c, n)
		form = a.form(values)
		watch := time.AfterFunc(time.Minute, func() { panic(form + " does not end") })
		defer watch.Stop()
		before, began := c.steps+int64(c.fuel), time.Now()
		c.Apply(a.function, values...)
		took = time.Since(began)
		steps = before - (c.steps + int64(c.fuel))
	})
	return steps, took, form
}
