// The tests of this package run without the race detector, for which its maker's library takes minutes to compile. What
// requests share is in package transport, which is tested with it.

package responses_test
