// Package tool holds the tools that a model can call. Each [Tool] is a file of Go and a manual in
// Markdown, and stands in the one list of [BuiltIn]. A tool only does its work. The policy decides
// before each call whether it may be made.
//
// The arguments of a tool are a Go struct. Its fields give the schema, the line in the prompt and
// the check of a model's arguments. An error about them says what to change.
//
// A [Registry] is immutable and safe for many goroutines. A call blocks until it is done or its
// context ends, and starts nothing that outlives it. The limits of one turn are counted in its
// [Caller], which the owner of the turn makes and gives to [Registry.For].
package tool
