package llmtest

import (
	"context"
	"net/http"
)

// wire is a protocol in which a [Server] is asked for completions. It is as strict as the servers that
// the protocol is from.
type wire struct {
	// path is the end of the address.
	path string
	// check returns an error for a request that the real servers refuse.
	check func(Received) error
	// stream sends the reply as events. It returns errCut where the script closes the connection.
	stream func(context.Context, *playback) error
	// whole returns the reply as one object.
	whole func(*playback) map[string]any
	// refuse answers with an error in the form of the protocol.
	refuse func(w http.ResponseWriter, status int, message string)
	// media is the type of the stream, "" for events.
	media string
	// list answers a request for the models, if it is one of the protocol; nil: they are listed as in OpenAI's.
	list func(s *Server, w http.ResponseWriter, r *http.Request) bool
	// prefixes returns the beginnings that the server is to cache, nil for a protocol that says none.
	prefixes func(Received) []prefix
}

// wires returns the protocols. A new one is a file, and a line here.
func wires() []wire {
	return []wire{
		{path: "/chat/completions", check: check, stream: streamChat, whole: wholeChat, refuse: refuse},
		{path: "/messages", check: checkMessages, stream: streamMessages, whole: wholeMessage, refuse: refuseMessage, list: listMessagesModels, prefixes: messagePrefixes},
		{path: "/responses", check: checkResponse, stream: streamResponse, whole: wholeResponse, refuse: refuseResponse},
	}
}
