// The tests of this package run without the race detector: it starts no goroutine, and with it they take
// several times as long. What it shares is the journal, which is tested with it.

package undo_test
