// Package composer makes requests to models: the system prompt, the earlier turns, the question with the
// items that were sent along with it, and the steps of the running turn.
//
// It reads and composes. It sends nothing, writes nothing and notifies nobody. The [Composition] has what
// the caller has to do for a request, such as write a row of the journal. So a turn that is answered and a
// prompt that is only shown call the same code.
//
// A [Composer] is safe for many turns at once. A [Turn] belongs to one goroutine.
package composer
