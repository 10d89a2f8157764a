// Package history decides what a model is shown of the earlier turns of a conversation.
//
// It shows all of them as long as there is room in the model's window. Each request then begins with the
// bytes of the one before it, which servers cache. When four fifths of the room are taken, it shortens
// results of earlier calls and the items that were sent along with earlier messages, and has a summary of
// the beginning made, so that about half of the room is free again. That is rare, and in between nothing
// changes. If there is no summary in time, it leaves the first turns out without one. A
// [journal.Compaction] records what is shown instead; the turns themselves stay in the journal.
//
// The running turn is not shortened here, except by [Fit].
//
// [Past.Show] reads and returns; it may be called from many goroutines, and starts none. A
// [Compactor] has one goroutine, its Run.
package history
