// Package composer makes what a model is sent: the system prompt, the earlier turns, the question
// with what goes along with it, and what the turn has come to so far.
//
// It reads and composes. It sends nothing, writes nothing and notifies nobody. What a request
// has made necessary, such as a row for the journal, stands in the [Composition] for the caller.
// So a turn that is answered and a prompt that is only shown call the same code.
//
// A [Composer] is safe for many turns at once. A [Turn] belongs to one goroutine.
package composer
