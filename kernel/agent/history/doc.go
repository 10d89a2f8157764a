// Package history decides what a model is shown of the earlier turns of a conversation.
//
// All of it, as long as there is room in the model's window: then each request begins with
// the bytes of the one before it, which servers remember. When four fifths of the room are
// taken, results of earlier calls and what went along with earlier messages are shortened,
// and a summary of the beginning is made, so that about half of the room is free again; this
// is seldom, and in between nothing moves. Only if there is no summary in time are the
// earliest turns left out without one. What is shown instead is a [journal.Compaction]; the turns
// themselves stay in the journal.
//
// The present turn is none of its business: what is said now is never cut here.
//
// [Past.Show] reads and returns; it may be called from many goroutines, and starts none. A
// [Compaction] has one goroutine, its Run.
package history
