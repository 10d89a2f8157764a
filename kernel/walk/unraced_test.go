// The tests of this package run without the race detector: they wait for Emacs and the kernel, which are
// other programs, and start no goroutine.

package walk
