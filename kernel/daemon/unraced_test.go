// The tests of this package run without the race detector: they start whole kernels, and with it they
// take twice as long. Those whose point is that things happen at once are in files named *_raced_test.go
// with the build tag race, and run only with it.

package daemon_test
