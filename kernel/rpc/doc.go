// Package rpc carries the wire: JSON-RPC 2.0 over a local socket, in one of two
// spellings that the first two bytes of a connection decide. "Co" or "co" begins
// Content-Length framed JSON, two lower-case hex digits begin frames of six hex
// digits (the length in bytes) and a plist. What the messages mean is the
// business of the room above, which is known here only as a [Handler].
//
// The layers, lowest first: framing finds messages in bytes, a codec turns them
// into Go values by the schema of package protocol, a stream reads and queues
// them, a dispatcher runs handlers, [Server] and [Dial] own connections.
//
// # Order
//
// The requests of one connection are handled one after the other in the order
// they came, until a handler calls [Release]; connections do not wait for each
// other. What is sent to one connection arrives in the order it was sent, except
// that a turn/delta may be merged into a queued delta of the same act when no
// other kind of message stands between them. Every request is answered exactly
// once, a notification never. Answers to what is no message at all do not wait
// for those to requests before it. $/cancelRequest overtakes everything: it cancels
// the context of the request it names.
//
// # Blocking
//
// [Client.Notify] never blocks. [Client.Act] and [Conn.Call] wait for the
// answer, the end of their context or the end of the connection, and never for a
// slow reader: everything sent goes through a queue that one goroutine empties.
// A client that takes nothing for five seconds, or lets 64 MiB pile up, is
// dropped; nobody else notices.
//
// # Ownership
//
// [Server.Serve] returns when every connection is closed and every handler has
// returned. Values given to Notify, Act and Call are read before they return and
// not kept. Params given to a handler are its own.
//
// # The library
//
// jsonrpc2.Conn of sourcegraph/jsonrpc2 runs the read loop and matches responses
// with calls, on a stream of ours. Requests pass through it as a bare envelope,
// because it would lose the order of an object's keys, refuse ids that are not
// 63-bit integers and answer none of the malformed messages; their decoded
// params wait in the stream, and replies go to the queue directly. Two
// goroutines belong to a Conn that nobody can wait for: they end with the stream,
// at once, and hold nothing.
package rpc
