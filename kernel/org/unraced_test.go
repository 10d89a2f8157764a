// The tests of this package run without the race detector: it starts no goroutine, and its tests are
// long. The detector sees it at work in the tests of those that import it.

package org
