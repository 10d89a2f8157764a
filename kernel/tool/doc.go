// Package tool holds what a model can have done: each [Tool] is a file of Go and a file of
// Markdown, and stands in the one list of [BuiltIn]. Tools do; whether one may is the
// policy's to say, and nothing here is called before it has.
//
// The arguments of a tool are a Go struct. Its fields give the schema, the line in the
// prompt and the check of what a model sends: what is wrong is said so that the next call
// is right.
//
// A [Registry] is immutable and safe for many goroutines. A call blocks until it is done or
// its context ends, and starts nothing that outlives it. What one turn may have of a tool is
// counted in its [Caller], which the turn's owner makes and gives to [Registry.For].
package tool
