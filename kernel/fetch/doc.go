// Package fetch asks addresses of the web for pages, and cannot be led inside: whatever an
// address, a name server or a redirect says, a connection is only made to an address that
// [Public] has nothing against, and to exactly the one that was judged. Whether an address may
// be asked at all is not decided here.
//
// A [Fetcher] is safe for many goroutines. [Fetcher.Get] blocks until it has a page, its context
// ends or its patience does; nothing outlives the call. What a server sends is bounded before it
// is kept: headers, body (also one that grows when it is unpacked), elements and text.
//
// What a page says is data. It is text without control characters when it comes from here, and
// is made harmless for the place in which it stands by whoever puts it there.
//
// Errors say in words for a model what is in the way and what to do.
package fetch
