package rpc

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"org-agent/kernel/protocol"
)

// wrongTokenPause is the delay before the reply to a wrong token.
const wrongTokenPause = time.Second

const sayWrongToken = "the token is wrong: connect again with the one in the file token in the state directory"

// A Token is the secret that a client shows in initialize. However it is
// printed, it prints as REDACTED.
type Token string

const redacted = "REDACTED"

// Format prints REDACTED for every verb.
func (Token) Format(f fmt.State, _ rune) {
	// A fmt.State keeps its own error; Format has none to return.
	_, _ = io.WriteString(f, redacted)
}

// LogValue is REDACTED.
func (Token) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText gives REDACTED.
func (Token) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// matches compares in constant time. An empty token matches nothing.
func (t Token) matches(shown string) bool {
	want, got := sha256.Sum256([]byte(t)), sha256.Sum256([]byte(shown))
	return t != "" && subtle.ConstantTimeCompare(want[:], got[:]) == 1
}

// handshake is the state of one connection before it is initialized.
type handshake struct {
	token      Token
	info       func() protocol.ServerInfo
	speak      func()                    // at each message before the client is introduced
	admit      func() bool               // whether there is a place for the client
	welcome    func(protocol.ClientInfo) // before the reply
	attend     func()                    // after the reply
	disconnect func(reason string)
	introduced atomic.Bool
	refused    atomic.Bool // a wrong token was shown: nothing else is answered
}

// guard passes only initialize and status until the client has sent the token.
func (h *handshake) guard(next handler) handler {
	return func(ctx context.Context, c *call) (any, error) {
		if !h.introduced.Load() {
			h.speak()
		}
		switch {
		case h.refused.Load():
			return nil, protocol.Errorf(protocol.CodeUnauthorized, sayWrongToken)
		case c.method == protocol.MethodInitialize && h.introduced.Load():
			return nil, protocol.Errorf(protocol.CodeInvalidRequest, "this connection is initialized already")
		case c.method == protocol.MethodInitialize && c.kind != request:
			return nil, protocol.Errorf(protocol.CodeInvalidRequest, "initialize is a request: give it an id")
		case c.method == protocol.MethodInitialize && c.fault == nil:
			return h.initialize(ctx, c)
		case h.introduced.Load() || c.method == protocol.MethodStatus || c.method == protocol.MethodInitialize:
			return next(ctx, c)
		}
		return nil, protocol.Errorf(protocol.CodeUnauthorized, "send initialize first, with the token from the file token in the state directory; without it only status answers")
	}
}

func (h *handshake) initialize(ctx context.Context, c *call) (any, error) {
	params := c.params.(*protocol.InitializeParams) // by the schema
	if params.Token == "" {
		return nil, protocol.Errorf(protocol.CodeUnauthorized, "initialize needs the token: read it from the file token in the state directory")
	}
	if !h.token.matches(params.Token) {
		h.refused.Store(true)
		select {
		case <-time.After(wrongTokenPause):
		case <-ctx.Done():
		}
		c.after = func() { h.disconnect("wrong token") }
		return nil, protocol.Errorf(protocol.CodeUnauthorized, sayWrongToken)
	}
	asked := params.Protocol
	if asked.Min > protocol.Version || asked.Max < protocol.Version {
		return nil, protocol.Errorf(protocol.CodeVersion, "no common protocol: the client speaks %d to %d, this kernel %d to %d; update the older one",
			asked.Min, asked.Max, protocol.Version, protocol.Version)
	}
	if !h.admit() {
		return nil, protocol.Errorf(protocol.CodeBusy, "too many clients are connected: close some, or connect later")
	}
	h.welcome(params.Client)
	h.introduced.Store(true)
	c.after = h.attend
	return protocol.InitializeResult{Protocol: protocol.Version, Server: h.info()}, nil
}
