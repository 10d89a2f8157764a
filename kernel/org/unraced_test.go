// The tests of this package run without the race detector: it starts no goroutine, and its tests
// are long. The race detector covers it in the tests of the packages that import it.

package org_test
