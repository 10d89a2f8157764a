// The tests of this package run without the race detector: none but those in parallel_test.go have a
// second goroutine, and with it they take ten times as long.

package lisp_test
