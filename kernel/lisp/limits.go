package lisp

import (
	"context"
	"fmt"
	"runtime"
	"runtime/metrics"
	"time"
)

// Limits bound one call. A zero field means its default.
type Limits struct {
	// Steps is the number of function calls, loop rounds and elements a builtin
	// touches. Default 200 million.
	Steps int64
	// Bytes is the sum of all allocations, freed or not, and of what deep recursion takes.
	// Default 256 MiB.
	Bytes int64
	// Depth is the number of nested forms being evaluated, the bodies of active
	// functions included. Default and most 300,000, for which the Go stack stays
	// within 64 MiB.
	Depth int
	// Output is the number of characters written to streams and printed into
	// strings. Default 8 Mi.
	Output int64
	// Duration is wall time, without the time spent in functions that wait.
	// Default 10 s.
	Duration time.Duration
	// Retained is the number of bytes that a note's variables may hold between calls.
	// It is looked at now and then only. Default 256 MiB.
	Retained int64
	// Requests is the number of requests to servers of the network. Default 32.
	Requests int
	// Waiting is how long the call may wait for servers altogether. Default one minute.
	Waiting time.Duration
}

const maximumDepth = 300_000

func (l Limits) withDefaults() Limits {
	if l.Steps <= 0 {
		l.Steps = 200_000_000
	}
	if l.Bytes <= 0 {
		l.Bytes = 256 << 20
	}
	if l.Depth <= 0 || l.Depth > maximumDepth {
		l.Depth = maximumDepth
	}
	if l.Output <= 0 {
		l.Output = 8 << 20
	}
	if l.Duration <= 0 {
		l.Duration = 10 * time.Second
	}
	if l.Retained <= 0 {
		l.Retained = 256 << 20
	}
	if l.Requests <= 0 {
		l.Requests = 32
	}
	if l.Waiting <= 0 {
		l.Waiting = time.Minute
	}
	return l
}

// What objects cost, in bytes, roughly as Go allocates them.
const (
	ConsBytes   = 48
	ValueBytes  = 16
	RuneBytes   = 4
	ObjectBytes = 128
	EntryBytes  = 96
	ratioBytes  = 64
	// symbolBytes is what a symbol takes with its place in a package, beside its name.
	symbolBytes = 224
	// numberBytes is what a number takes that does not fit a Value.
	numberBytes = 8
)

// budget is what is left of a call's limits.
type budget struct {
	limits Limits
	steps  int64
	// fuel is the number of steps until the context is polled, polls that of polls until the heap is
	// looked at.
	fuel, polls int32
	output      int64
	deadline    time.Time
	// requests and waiting are what is left of what the call may ask of servers.
	requests int
	waiting  time.Duration
	// bytes are granted and not used yet, ungranted is what can still be granted.
	bytes, ungranted int64
	// depth is how deep the call is nested, deepest how deep it may be until it asks for more.
	depth, deepest int
	// loan is what was taken of the shared memory, nil where the call shares none.
	loan *loan
}

// pollEvery is the number of steps between two looks at the context and the clock.
const pollEvery = 1024

// newBudget is what a call has. All its bytes are granted at once where it shares no memory.
func newBudget(limits Limits, l *loan) budget {
	limits = limits.withDefaults()
	b := budget{
		limits: limits, steps: limits.Steps, fuel: pollEvery, polls: collectEvery, bytes: limits.Bytes, output: limits.Output,
		deadline: time.Now().Add(limits.Duration), deepest: min(freeLevels, limits.Depth), loan: l,
		requests: limits.Requests, waiting: limits.Waiting,
	}
	if l != nil {
		b.bytes, b.ungranted = 0, limits.Bytes
	}
	return b
}

// Step accounts for one unit of work.
func (c *Call) Step() {
	c.fuel--
	if c.fuel < 0 {
		c.poll()
	}
}

// Work accounts for n units of work before they are done.
func (c *Call) Work(n int) {
	if n < 0 {
		n = 0
	}
	if n > int(c.fuel) {
		c.steps -= int64(n)
		if c.steps < 0 {
			c.abort(stepsCondition, fmt.Sprintf("the limit of %d steps is exceeded", c.limits.Steps))
		}
		c.poll()
		return
	}
	c.fuel -= int32(n)
}

func (c *Call) poll() {
	c.steps -= int64(pollEvery - max(c.fuel, 0))
	c.fuel = pollEvery
	if c.steps < 0 {
		c.abort(stepsCondition, fmt.Sprintf("the limit of %d steps is exceeded", c.limits.Steps))
	}
	if err := c.ctx.Err(); err != nil {
		c.cancelled(err)
	}
	if time.Now().After(c.deadline) {
		c.abort(timeCondition, fmt.Sprintf("the limit of %v is exceeded", c.limits.Duration))
	}
	if c.polls--; c.polls <= 0 {
		c.polls = collectEvery
		c.collectGarbage()
	}
}

const (
	// collectEvery is the number of polls between two looks at the heap.
	collectEvery = 32
	// garbageShare is the part of Limits.Bytes, or of a shared Memory, that may be garbage beside what
	// is in use.
	garbageShare = 8
)

// The metrics of package runtime that say what the heap has, what of it was in use when the collector
// ran last, and what the stacks have.
const (
	heapObjects = "/memory/classes/heap/objects:bytes"
	heapLive    = "/gc/heap/live:bytes"
	heapStacks  = "/memory/classes/heap/stacks:bytes"
)

// collectGarbage runs the collector when much has gathered since it last ran. A call is not charged
// for what is garbage at once, such as the frames of functions. By itself Go would let as much of
// that gather as there is in use, so that a call which holds all it may would take twice as much.
func (c *Call) collectGarbage() {
	allowed := c.limits.Bytes / garbageShare
	if c.loan != nil {
		allowed = min(allowed, c.loan.memory.total/garbageShare)
	}
	if c.limits.Bytes-c.left() < allowed {
		return
	}
	samples := [...]metrics.Sample{{Name: heapObjects}, {Name: heapLive}}
	metrics.Read(samples[:])
	if heap, live := samples[0].Value.Uint64(), samples[1].Value.Uint64(); heap > live+uint64(allowed) {
		runtime.GC()
	}
}

func (c *Call) cancelled(err error) {
	if err == context.DeadlineExceeded {
		c.abortWith(timeCondition, "the time the caller allowed is over", err)
	}
	c.abortWith(cancelCondition, "cancelled", err)
}

// Charge accounts for n bytes before they are allocated.
func (c *Call) Charge(n int) {
	if uint64(n) > uint64(c.bytes) { // or n is negative
		c.chargeMore(int64(n))
	}
	c.bytes -= int64(n)
}

// chargeMore gets the bytes that are wanted, or ends the call.
func (c *Call) chargeMore(n int64) {
	if failed := c.grant(n); failed != nil {
		c.end(failed)
	}
}

// chargeAll ends the call: what it wants is more than it has left.
func (c *Call) chargeAll() { c.chargeMore(c.left() + 1) }

// ChargeMany accounts for n objects of the given size; it is safe for absurd n.
func (c *Call) ChargeMany(n, size int) {
	if n < 0 || int64(n) > c.left()/int64(size) {
		c.chargeAll()
	}
	c.Work(n / 8)
	c.Charge(n * size)
}

// ChargeOutput accounts for n characters before they are written. Where they are collected
// charges their bytes.
func (c *Call) ChargeOutput(n int) {
	if n < 0 || int64(n) > c.output {
		c.abort(outputCondition, fmt.Sprintf("the limit of %d characters of output is exceeded", c.limits.Output))
	}
	c.output -= int64(n)
	c.Work(n / 8)
}

// Descend enters n levels of nesting, which is a step; the caller leaves them by Ascend.
func (c *Call) Descend(n int) {
	c.Step()
	c.nest(n)
}

// nest is Descend where the step is counted otherwise.
func (c *Call) nest(n int) {
	c.depth += n
	if c.depth > c.deepest {
		c.deepen()
	}
}

const (
	// levelBytes is what a level of nesting takes of the Go stack and in frames.
	levelBytes = 256
	// freeLevels is the number of levels that are charged at once. The first so many are free.
	freeLevels = 8192
)

// deepen lets the call nest deeper, by some thousand levels, or ends it. Levels are charged the
// first time that the call is as deep.
func (c *Call) deepen() {
	for c.depth > c.deepest {
		if c.depth > c.limits.Depth {
			c.abort(storageCondition, "the recursion is too deep (control stack exhausted)")
		}
		c.Charge(freeLevels * levelBytes)
		c.deepest = min(c.deepest+freeLevels, c.limits.Depth)
	}
}

// Ascend leaves n levels of nesting.
func (c *Call) Ascend(n int) { c.depth -= n }
