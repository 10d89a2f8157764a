// Package rpc carries the wire: JSON-RPC 2.0 over a local socket, in one of two
// spellings that the first two bytes of a connection decide. "Co" or "co" begins
// Content-Length framed JSON, two lower-case hex digits begin frames of six hex
// digits (the length in bytes) and a plist. What the messages mean is decided
// above, by a [Handler].
//
// The layers, lowest first, each ignorant of the next: a framing finds messages
// in bytes (frame.go), a codec turns them into Go values by the schema of package
// protocol (codec_json.go, codec_plist.go), a stream reads and queues them
// (stream.go, queue.go), a dispatcher runs handlers (dispatch.go), a connection
// joins these with the requests of its own (connection.go). [Server] and [Dial]
// own connections; what they promise their users is made of handlers around
// handlers (handshake.go, schema.go).
//
// # Order
//
// The requests of one connection are handled one after the other in the order
// they came, until a handler calls [Request.Release]; connections do not wait for each
// other. What is sent to one connection arrives in the order it was sent, except
// that a turn/delta may be merged into a queued delta of the same act when no
// other kind of message stands between them. Every request is answered exactly
// once, a notification or a response never. Answers to malformed messages do not
// wait for those to the requests before them. $/cancelRequest overtakes everything:
// it cancels the context of the request it names.
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
// A connection has three goroutines, which read, dispatch and write, and one for
// each handler that runs. [Server.Serve], [Server.ServeConn] and [Conn.Close]
// return when all of theirs have ended. Values given to Notify, Act and Call are
// read before they return and not kept. Params given to a handler are its own.
//
// # The library
//
// Ids, error objects and the error of a closed connection are those of
// sourcegraph/jsonrpc2; its Conn is a client like any other (library_test.go).
// The kernel does not run that Conn: it takes messages only as JSON text, which
// a plist would have to become first, it answers no malformed message, it has no
// limits, and nobody can wait for its goroutines. Its Request and Response hold
// JSON text too, and reading a Request loses the order of its keys; a message
// here holds Go values.
package rpc
