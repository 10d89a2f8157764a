// The tests of this package run without the race detector: they start some two hundred kernels, one after another,
// and with it they take five times as long. What runs at once in them is tested where it is.

package modeltest_test
