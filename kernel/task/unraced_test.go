// The tests of this package run without the race detector: it starts no goroutine and keeps nothing that two could
// share. The race detector covers it in the tests of the packages that import it.

package task_test
