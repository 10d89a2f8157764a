// Package composer makes requests to models: the system prompt, the earlier turns, the question with the
// items that were sent along with it, and the steps of the running turn.
//
// It reads and composes. It sends nothing, writes nothing and notifies nobody. The [Composition] has
// the data that the caller has to record for a request. So live turns and dry runs call the same code.
//
// A [Composer] is safe for many turns at once. A [Turn] belongs to one goroutine.
package composer
