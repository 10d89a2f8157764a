// The tests of this package run without the race detector: it has pure values and starts no goroutine.

package schedule_test
