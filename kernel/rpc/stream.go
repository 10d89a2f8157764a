package rpc

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"org-agent/kernel/protocol"
)

const (
	frameTimeout  = 30 * time.Second // from a frame's first byte to its last
	writeTimeout  = 5 * time.Second  // for a peer to take writeSize bytes
	writeSize     = 256 << 10        // bytes
	lingerTimeout = time.Second      // for a peer to read why it was cut off
	strangerLimit = 1 << 20          // bytes of a frame before initialize
	keptBody      = 64 << 10         // bytes of the body buffer kept between frames
	readerSize    = 16 << 10         // bytes
)

// A stream is one connection's messages. It implements jsonrpc2.ObjectStream
// for the Conn that reads from it: one goroutine reads, any goroutine may write.
type stream struct {
	net    net.Conn
	logger *slog.Logger
	schema schema
	out    *queue
	wrote  chan struct{} // closed when the writer has ended

	// Of the reading goroutine.
	reader   *bufio.Reader
	body     []byte
	received message // the request that is being handed to the Conn's handler

	fatal atomic.Bool // the peer broke the framing

	mu       sync.Mutex
	codec    codec            // nil until the first bytes came
	limit    int              // bytes of a frame that is read
	stopped  bool             // no more is read
	calls    map[id]*outgoing // that the peer has not answered
	lastCall uint64
	writeErr error // why nothing more can be written
}

// newStream starts the writer of a connection; finish ends it. With a codec nil
// the peer chooses by what it sends first.
func newStream(c net.Conn, codec codec, schema schema, logger *slog.Logger) *stream {
	s := &stream{
		net: c, codec: codec, schema: schema, logger: logger,
		out: newQueue(), wrote: make(chan struct{}),
		reader: bufio.NewReaderSize(c, readerSize),
		limit:  strangerLimit,
		calls:  map[id]*outgoing{},
	}
	go s.writeLoop()
	return s
}

// ReadObject reads up to the next message that is for the Conn: malformed ones
// are answered here. v is the Conn's own message type.
func (s *stream) ReadObject(v any) error {
	for {
		m, err := s.next()
		if bad, ok := errors.AsType[*malformed](err); ok {
			s.logger.Info("malformed message", "err", bad)
			if err := s.send(message{kind: response, id: bad.id, err: bad.reply}); err != nil {
				return err
			}
			continue
		}
		if bad, ok := errors.AsType[*frameError](err); ok {
			s.logger.Info("connection cut off", "err", bad)
			s.fatal.Store(true)
			// A queue that takes nothing more has been closed: there is nobody to tell.
			_ = s.send(message{kind: response, id: id{kind: idNull}, err: bad.reply})
			return io.EOF
		}
		if err != nil {
			return err
		}
		envelope, ok := s.envelope(m)
		if !ok {
			continue
		}
		return json.Unmarshal(envelope, v)
	}
}

// envelope is what the Conn needs to see of a message; false: nothing of it.
func (s *stream) envelope(m message) ([]byte, bool) {
	if m.kind != response {
		s.received = m
		return []byte(`{"jsonrpc":"2.0","method":"-"}`), true
	}
	m.id.kind = idNumber // as ours are; the peer may have made it a string
	s.mu.Lock()
	waiting := s.calls[m.id]
	delete(s.calls, m.id)
	s.mu.Unlock()
	if waiting == nil {
		if m.err != nil {
			s.logger.Warn("the peer reports an error of ours", "err", m.err)
		}
		return nil, false
	}
	if m.fault != nil {
		m.err = protocol.Errorf(protocol.CodeInternal, "the answer cannot be read: %w", m.fault)
	}
	waiting.result = m.result
	m.result = nil
	b, err := jsonCodec{}.appendMessage(nil, m)
	if err != nil { // an id and an error always can
		s.logger.Error("response lost", "method", m.method, "err", err)
		return nil, false
	}
	return b, true
}

// next reads one frame and decodes it.
func (s *stream) next() (message, error) {
	body, err := s.frame()
	if errors.Is(err, os.ErrDeadlineExceeded) && !s.isStopped() {
		err = frameErrorf(protocol.CodeParse, "a frame was not finished within %v", frameTimeout)
	}
	if err != nil {
		return message{}, err
	}
	m, err := s.codec.decode(body, s.pending)
	m.size = len(body)
	return m, err
}

func (s *stream) frame() ([]byte, error) {
	if err := s.awaitFrame(); err != nil {
		return nil, err
	}
	if s.codec == nil {
		if err := s.sniff(); err != nil {
			return nil, err
		}
	}
	n, err := s.codec.readHeader(s.reader)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	limit := s.limit
	s.mu.Unlock()
	if n > limit {
		return nil, frameErrorf(protocol.CodeTooLarge, "a message of %d bytes is too large before initialize: the limit is %d", n, limit)
	}
	if cap(s.body) > keptBody {
		s.body = nil
	}
	s.body, err = readBody(s.reader, s.body, n)
	return s.body, err
}

// awaitFrame waits, for as long as it takes, for a frame to begin and then
// starts the clock. Blanks between frames are no part of one.
func (s *stream) awaitFrame() error {
	if err := s.setReadDeadline(time.Time{}); err != nil {
		return err
	}
	for {
		first, err := s.reader.Peek(1)
		if err != nil {
			return err
		}
		if s.codec == nil || !isBlank(first[0]) {
			return s.setReadDeadline(time.Now().Add(frameTimeout))
		}
		_, _ = s.reader.Discard(1) // it was peeked at
	}
}

// sniff chooses the codec by the first two bytes. Whoever sends something else
// is answered in JSON.
func (s *stream) sniff() error {
	first, err := s.reader.Peek(2)
	if err != nil {
		return unexpectedEnd(err)
	}
	var c codec = jsonCodec{schema: s.schema}
	known := true
	switch {
	case string(first) == "Co" || string(first) == "co":
	case isLowerHex(first[0]) && isLowerHex(first[1]):
		c = plistCodec{schema: s.schema}
	default:
		known = false
		err = frameErrorf(protocol.CodeParse, "this is neither Content-Length framed JSON nor a plist behind six hex digits: it begins with %q", first)
	}
	s.mu.Lock()
	s.codec = c
	s.mu.Unlock()
	if known {
		return nil
	}
	return err
}

// setReadDeadline is the connection's, unless reading has been stopped.
func (s *stream) setReadDeadline(t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return net.ErrClosed
	}
	return s.net.SetReadDeadline(t)
}

func (s *stream) isStopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped
}

// trust lets the peer send messages up to the protocol's limit.
func (s *stream) trust() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = protocol.FrameLimit
}

// Close stops the reading; what is queued still goes out until finish.
func (s *stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	return s.net.SetReadDeadline(time.Unix(1, 0))
}
