// Package fetch gets pages of the web, and cannot be led into the networks around this machine.
// Whatever an address, a name server or a redirect says, it connects only to an address that
// [Public] allows, and exactly to the one that was judged. Whether an address may be asked at all
// is decided elsewhere.
//
// A [Fetcher] is safe for many goroutines. [Fetcher.Get] blocks until it has a page, its context
// ends or its time is over. Nothing outlives the call. What a server sends is bounded before it is
// stored: headers, body (also an unpacked one), elements and text.
//
// A page is untrusted data. Its text is returned without control characters. Code that inserts it
// somewhere has to make it harmless for that place.
//
// Errors tell a model in words what is wrong and what to do.
package fetch
