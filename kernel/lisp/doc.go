// Package lisp is a Common Lisp to embed in Go programs: compiled to closures, bounded in
// everything it takes, and without access to anything that it was not granted. What it has
// behaves as SBCL does; testdata records what SBCL says.
//
// # Values
//
// A [Value] is a Go value: *[Symbol], *[Cons], int64 and *big.Int, *big.Rat, float32 and float64,
// *[Complex], [Character], *[String], *[Vector], *[HashTable], *[Function], *[Instance], *[Class],
// *[Package], *[Stream], *[Pathname], or an [Object] of a library. A Go nil is never a Value: the
// empty list is [Nil]. A value belongs to the environment it was made in, and may be read or
// changed only inside one of its calls. Data from outside comes in by [Environment.FromSexp] or
// [Environment.FromData] and leaves by [ToSexp]; both copy.
//
// # Languages, environments and calls
//
// A [Language] is what many environments have in common: the standard, and the libraries that
// [NewLanguage] is given. It does not change, so that environments share it unlocked. An
// [Interface] is what the embedding program adds: [KernelFunction] and [KernelMacro] values.
//
// An [Environment] is one program: its packages, global functions, variables, macros and classes.
// [Environment.Load] reads source form by form and compiles each to Go closures with lexical
// addressing; [Environment.Call] calls a function of it. Nothing that one environment does is seen
// by another. The one deliberate difference to the standard: \n, \t and \r inside a string are
// newline, tab and return.
//
// A [Call] is one evaluation: what is left of its limits, and everything dynamic, which are special
// bindings, handlers, restarts, catch tags and multiple values. It is used by one goroutine and is
// dead when the function that it was given to returns.
//
// # Concurrency
//
// An environment may be used by many goroutines. At most one call of it runs at a time: a call
// takes the environment's guard, in no promised order among those that wait, and gives it up only
// while it is inside a [KernelFunction] that declares Waits. Other calls may run then, so global
// variables may have changed when it returns. Every method that takes a context waits for the
// guard, and returns when the context is done.
//
// # Limits
//
// [Limits] bound each call: steps, bytes, depth, characters of output and wall time. Exceeding one,
// or the end of the context, ends the call with an [*Error] that no Lisp code can intercept and
// that runs no cleanup forms. Bytes are all that a call allocates, freed or not, and are counted
// where slices grow and objects are made; the frames of function calls, which are garbage at once,
// are bounded by Depth. A test keeps the memory that is really in use within one and a half
// times the limit. An environment whose variables hold more than Limits.Retained
// after a call answers no more calls.
//
// Environments may share a [Memory], which bounds what their calls have in use together. A call
// that finds too little of it waits for others to end, with its clock standing. So the most that a
// program of many environments takes for their calls is known: about as much as the Memory has.
// Another test measures what the system gives to a process in which three calls fill what they may.
//
// # Errors
//
// A condition that nothing handles ends the call with an [*Error], which tells the place in the
// source, the function, the form, and what may have been meant. The error of a [KernelFunction]
// becomes a condition; what [Call.Apply] returned goes on as it was.
//
// # Libraries
//
// A [Library] is a table: functions by their lambda lists, macros, variables, condition classes.
// A [Builtin] with optional or keyword parameters gets them bound by the names in its lambda
// list, as [Args]. What it collects it collects by [Append], [MakeSlice] and [ListBuilder], which
// charge the call. Those of this repository are in the packages below lib.
//
// The language has no network, processes or threads; files and environment variables it has where
// Config.Access grants them, and the time from Config.Now.
package lisp
