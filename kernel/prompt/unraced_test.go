// The tests of this package run without the race detector: it starts no goroutine, and with the
// race detector they take ten times as long.

package prompt_test
