// Package lisp is the Common Lisp that skill notes are written in.
//
// A note gets one [Environment]: its own package of symbols, functions, macros and
// variables on top of the shared, frozen COMMON-LISP. Source is read by kernel/plist
// in Lisp mode, compiled form by form to Go closures with lexical addressing, and run
// under the limits of a [Call]. What the language has behaves as SBCL does, with one
// deliberate difference: \n, \t and \r inside a string are newline, tab and return.
//
// Ordering: at most one call of an environment runs at a time. A call takes the
// environment's guard, in no promised order among waiters, and gives it up only while
// it is inside a [KernelFunction] that declares Waits; other calls may then run, so global
// variables may have changed when it returns. Everything dynamic (special bindings,
// handlers, restarts, catch tags, multiple values) belongs to the call.
//
// Blocking: every method that takes a context waits for the guard and returns when the
// context is done. Evaluation polls the context and the limits; exceeding either ends
// the call with an [*Error] that no Lisp code can intercept, and runs no cleanup forms.
// An environment whose variables hold more than Limits.Retained answers no more calls.
//
// Ownership: a [Value] belongs to the environment it was made in and may be read or
// changed only inside one of its calls. Data from outside comes in by
// [Environment.FromSexp] or [Environment.FromData] and leaves by [ToSexp], which copy. Nothing a note does is
// visible to another environment: standard symbols are shared but immutable, and their
// values live in the environment.
//
// The language has no network, processes, threads or clock of its own; files and
// environment variables it has where Config.Access grants them. What else a note may
// touch is what the embedding package passes as Config.Functions.
package lisp
