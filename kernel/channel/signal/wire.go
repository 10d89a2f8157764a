package signal

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"org-agent/kernel/channel"
)

// A connection is one object of JSON a line, in both directions. The library of package rpc is not used for it: it has no
// bound on the length of an object, it decodes an attachment before it knows whose it is, and it cannot write a file of
// which only a part is in memory.

// params are the parameters of a call.
type params map[string]any

// request is a line to signal-cli.
type request struct {
	Version string `json:"jsonrpc"`
	ID      int64  `json:"id"`
	Method  string `json:"method"`
	Params  params `json:"params,omitempty"`
}

// response is a line of signal-cli: the answer to a call, or a notification, which has a method.
type response struct {
	ID     *int64          `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *callError      `json:"error"`
}

// notification is what signal-cli reports by itself.
type notification struct {
	method string
	params json.RawMessage
}

// connection is a connection to the daemon. It is safe for many goroutines.
type connection struct {
	socket  net.Conn
	limit   int           // of a line
	writing chan struct{} // holds a value while somebody writes a line
	ended   chan struct{} // closed when the connection has ended

	mutex   sync.Mutex
	account string // a parameter of all calls, "" where the daemon has one account
	number  int64  // of the last call
	calls   map[int64]call
	why     error

	subscription *int // that of subscribeReceive, nil without
}

// call waits for an answer.
type call struct {
	method string
	answer chan response // has room for the one answer
}

// writeLimit is how long the daemon may read nothing before the connection counts as dead.
const writeLimit = 30 * time.Second

// dial connects to the daemon.
func (d *Driver) dial(ctx context.Context) (*connection, error) {
	network, address, err := d.config.endpoint()
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: 10 * time.Second}
	socket, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, fmt.Errorf("connect to signal-cli; is its daemon running at %s? %w", address, err)
	}
	return &connection{socket: socket, limit: d.limits.line(), writing: make(chan struct{}, 1), ended: make(chan struct{}), calls: map[int64]call{}}, nil
}

var errEnded = errors.New("signal-cli ended the connection")

// close ends the connection for a reason; the first one counts.
func (c *connection) close(why error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.why == nil {
		c.why = why
		if why == nil {
			c.why = errEnded
		}
		close(c.ended)
		_ = c.socket.Close() // the reason of the end is known already
	}
}

// reason returns why the connection ended, nil if it has not.
func (c *connection) reason() error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.why
}

// fatal returns the reason of the end if no other connection will be better, and nil otherwise.
func (c *connection) fatal() error {
	var failure *channel.Failure
	if why := c.reason(); errors.As(why, &failure) && failure.Class == channel.Unauthorized {
		return why
	}
	return nil
}

// read hands over the notifications and answers the calls until the connection ends. Somebody who speaks another
// protocol is left; a line of signal-cli that cannot be read is not worth the messages that come behind it.
func (c *connection) read(report func(notification)) {
	lines := newLineReader(c.socket, c.limit)
	for known := false; ; {
		line, err := lines.next()
		switch {
		case errors.Is(err, errTooLong):
			c.tooLong()
			continue
		case err != nil:
			c.close(fmt.Errorf("%w: %w", errEnded, err))
			return
		}
		var r response
		if err := json.Unmarshal(line, &r); err != nil {
			if known {
				continue
			}
			c.close(fmt.Errorf("whoever answers is not signal-cli: %w", err))
			return
		}
		known = true
		if r.Method != "" {
			report(notification{r.Method, r.Params})
			continue
		}
		if r.ID != nil {
			c.resolve(*r.ID, r)
		}
	}
}

// resolve gives an answer to the call that waits for it. Nobody waits for that of a call that was given up.
func (c *connection) resolve(id int64, r response) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if one, ok := c.calls[id]; ok {
		delete(c.calls, id)
		one.answer <- r
	}
}

// tooLong fails the call whose answer was too long. Only attachments are so long, and one at a time is fetched.
func (c *connection) tooLong() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for id, one := range c.calls {
		if one.method == "getAttachment" {
			delete(c.calls, id)
			one.answer <- response{Error: &callError{Code: tooLongCode, Message: "the file is larger than it was said to be"}}
		}
	}
}

// call calls a method and decodes its result. The errors are those of [callError.failure]; one whose answer did not come
// is [channel.Unknown].
func (c *connection) call(ctx context.Context, method string, p params, result any) error {
	return c.callWith(ctx, method, p, nil, result)
}

// callWith is call with an attachment, nil for none.
func (c *connection) callWith(ctx context.Context, method string, p params, file *dataURI, result any) error {
	answer := make(chan response, 1)
	c.mutex.Lock()
	c.number++
	id := c.number
	c.calls[id] = call{method, answer}
	if c.account != "" {
		with := params{"account": c.account}
		for key, value := range p {
			with[key] = value
		}
		p = with
	}
	c.mutex.Unlock()
	forget := func() {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		delete(c.calls, id)
	}
	if err := c.write(ctx, request{"2.0", id, method, p}, file); err != nil {
		forget()
		return err
	}
	select {
	case r := <-answer:
		return r.decode(method, result)
	default:
	}
	select {
	case r := <-answer:
		return r.decode(method, result)
	case <-ctx.Done():
		forget()
		return unknown(fmt.Errorf("%s: signal-cli has not answered: %w", method, ctx.Err()))
	case <-c.ended:
		return unknown(fmt.Errorf("%s: the connection ended before the answer: %w", method, c.reason()))
	}
}

// decode reads the result of an answer.
func (r *response) decode(method string, result any) error {
	if r.Error != nil {
		return &callFailure{r.Error.failure(), method, r.Error.Code}
	}
	switch result := result.(type) {
	case nil:
		return nil
	case *json.RawMessage: // it may be large: it is read once, by the caller
		*result = r.Result
		return nil
	}
	if err := json.Unmarshal(r.Result, result); err != nil {
		return unknown(fmt.Errorf("%s: an answer in another form: %w", method, err))
	}
	return nil
}

// write writes one line. If the file cannot be read to its end, the line is ended so that it is no JSON: signal-cli
// refuses it and does nothing.
func (c *connection) write(ctx context.Context, r request, file *dataURI) error {
	line, err := json.Marshal(r)
	if err != nil {
		return refused(err)
	}
	select {
	case c.writing <- struct{}{}:
		defer func() { <-c.writing }()
	case <-ctx.Done():
		return temporary(ctx.Err())
	case <-c.ended:
		return temporary(c.reason())
	}
	w := bufio.NewWriterSize(deadlineWriter{c.socket}, 1<<16)
	var unread error
	if file == nil {
		w.Write(line) // the error is that of Flush
	} else {
		line = bytes.TrimSuffix(line, []byte("}}"))
		w.Write(line)
		w.WriteString(`,"attachments":["`)
		if unread = file.writeTo(ctx, w); unread == nil {
			w.WriteString(`"]}}`)
		}
	}
	w.WriteByte('\n')
	if err := w.Flush(); err != nil {
		c.close(fmt.Errorf("write to signal-cli: %w", err))
		return unknown(c.reason())
	}
	return unread
}

// deadlineWriter gives each write its own time.
type deadlineWriter struct{ socket net.Conn }

func (w deadlineWriter) Write(p []byte) (int, error) {
	if err := w.socket.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil {
		return 0, err
	}
	return w.socket.Write(p)
}

var errTooLong = errors.New("the line is too long")

// lineReader reads lines up to a length.
type lineReader struct {
	from  *bufio.Reader
	limit int
	line  []byte
}

func newLineReader(from io.Reader, limit int) *lineReader {
	return &lineReader{from: bufio.NewReaderSize(from, 1<<16), limit: limit}
}

// next returns the next line without its end. It is valid until the next call. Of a line that is too long nothing is
// kept; the error is errTooLong then, and the next call reads the next line.
func (r *lineReader) next() ([]byte, error) {
	if cap(r.line) > 1<<20 {
		r.line = nil // an attachment has passed
	}
	r.line = r.line[:0]
	long := false
	for {
		part, err := r.from.ReadSlice('\n')
		if long = long || len(r.line)+len(part) > r.limit; long {
			r.line = nil
		} else {
			r.line = append(r.line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == io.EOF && len(part)+len(r.line) > 0:
			return nil, io.ErrUnexpectedEOF
		case err != nil:
			return nil, err
		case long:
			return nil, errTooLong
		}
		return bytes.TrimRight(r.line, "\r\n"), nil
	}
}
