package mcp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"org-agent/kernel/sandbox"
)

// grace is how long a program may take to end after its input was closed, and again after it was
// asked to end. outputTimeout is how long to wait for the output of a program that seems to have
// ended.
const (
	grace         = time.Second
	outputTimeout = 5 * time.Second
)

// connection is a connection to a server that answers.
type connection struct {
	session    *sdk.ClientSession
	process    *sandbox.Process // nil for a web server
	input      *os.File         // written by the kernel, read by the program
	output     *os.File         // written by the program, read by the kernel
	web        *http.Client     // nil for a program
	end        context.CancelFunc
	done       chan struct{} // closed when the connection is lost
	work       sync.WaitGroup
	complains  tail
	complained chan struct{} // closed after the program's last output on stderr

	mu    sync.Mutex
	fault error // the reason of the loss, if it is known before the end
}

// note records why the connection is about to be lost. The first reason counts.
func (c *connection) note(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fault == nil {
		c.fault = err
	}
}

// connect starts the program, or contacts the web server, and negotiates the protocol. It calls
// changed when the server says that its tools have changed.
func (s *server) connect(ctx context.Context, changed func()) (*connection, error) {
	life, end := context.WithCancel(ctx) // the connection's lifetime
	c := &connection{end: end, done: make(chan struct{})}
	transport, err := s.transport(ctx, c)
	if err != nil {
		end()
		return nil, err
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "org-agent", Version: s.servers.config.Version}, &sdk.ClientOptions{
		Capabilities:           &sdk.ClientCapabilities{}, // no sampling, no elicitation and no roots
		Logger:                 slog.New(slog.DiscardHandler),
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { changed() },
		MultiRoundTrip:         &sdk.MultiRoundTripOptions{Disabled: true},
	})
	late := time.AfterFunc(s.servers.config.startTimeout(), end)
	session, err := client.Connect(life, transport, s.version())
	inTime := late.Stop()
	if err == nil && !inTime {
		c.session, err = session, context.DeadlineExceeded
	}
	if err != nil {
		why := c.why(err)
		c.close()
		if ctx.Err() == nil && !inTime {
			return nil, fmt.Errorf("it did not answer within %s", s.servers.config.startTimeout())
		}
		return nil, why
	}
	c.session = session
	c.work.Go(func() {
		c.note(session.Wait())
		close(c.done)
	})
	return c, nil
}

// version returns the protocol version to begin with: the newest, or the one before after a
// failure, because some servers do not answer at all to an unknown version.
func (s *server) version() *sdk.ClientSessionOptions {
	if s.failures%2 == 0 {
		return nil
	}
	return &sdk.ClientSessionOptions{ProtocolVersion: "2025-06-18"}
}

// transport returns how messages reach the server.
func (s *server) transport(ctx context.Context, c *connection) (sdk.Transport, error) {
	if s.config.URL == "" {
		return s.program(ctx, c)
	}
	client, err := s.client(ctx)
	if err != nil {
		return nil, err
	}
	c.web = client
	if s.config.Old {
		return &sdk.SSEClientTransport{Endpoint: s.config.URL, HTTPClient: client, MaxEventSize: messageLimit}, nil
	}
	return &sdk.StreamableClientTransport{Endpoint: s.config.URL, HTTPClient: client, MaxEventSize: messageLimit, MaxRetries: 2}, nil
}

// program starts the server's program.
func (s *server) program(ctx context.Context, c *connection) (sdk.Transport, error) {
	variables, err := s.named(ctx, s.config.Secrets, "=")
	if err != nil {
		return nil, err
	}
	var files [6]*os.File // both ends of three pipes
	for i := 0; i < len(files) && err == nil; i += 2 {
		files[i], files[i+1], err = os.Pipe()
	}
	defer func() {
		for _, file := range files {
			if file != nil {
				file.Close() // the program's ends, or all of them if it was not started
			}
		}
	}()
	if err != nil {
		return nil, fmt.Errorf("connect the program: %w", err)
	}
	c.process, err = sandbox.StartProgram(context.WithoutCancel(ctx), sandbox.Program{
		Arguments: s.config.Command, Directory: s.config.Directory, Environment: s.servers.config.Environment,
		Variables: append(variables, s.config.Variables...),
	}, files[0], files[3], files[5])
	if err != nil {
		return nil, err
	}
	complaints := files[4]
	c.input, c.output = files[1], files[2]
	files[1], files[2], files[4] = nil, nil, nil
	c.complained = make(chan struct{})
	c.work.Go(func() { // ends when no process of the program runs any more
		defer close(c.complained)
		defer complaints.Close()
		_, _ = io.Copy(&c.complains, complaints)
	})
	from := &messages{from: bufio.NewReaderSize(c.output, 64<<10), close: c.output.Close, fault: c.note, noise: func(line string) {
		s.log.Debug("an MCP server wrote a line that is not a message", "line", s.hide(line))
	}}
	return &sdk.IOTransport{Reader: from, Writer: c.input, MaxLineLength: messageLimit + 1}, nil
}

// why returns why the connection was lost.
func (c *connection) why(err error) error {
	c.mu.Lock()
	fault := c.fault
	c.mu.Unlock()
	if fault != nil {
		err = fault
	}
	if c.process == nil {
		if err == nil {
			err = errors.New("it closed the connection")
		}
		return err
	}
	ends := fault == nil || silent(fault)
	late := time.After(grace)
	if ends {
		late = time.After(outputTimeout)
	}
	select {
	case <-c.process.Done():
		outcome, _ := c.process.Wait()
		if ends {
			err = fmt.Errorf("it ended: %s", outcome)
		}
		select { // the program's last output may still be on its way
		case <-c.complained:
		case <-late:
		}
	case <-late:
		if err == nil {
			err = errors.New("it closed its output")
		}
	}
	complaint := c.complains.last()
	if complaint != "" {
		complaint = "; its last words: " + complaint
	}
	return fmt.Errorf("%w%s", err, complaint)
}

// close ends the connection and the program, and returns when no process of it is left.
func (c *connection) close() {
	if c.process != nil {
		_ = c.input.Close() // the end of its input tells the program to end
		for _, end := range [...]func(){c.process.Terminate, c.process.Kill} {
			select {
			case <-c.process.Done():
			case <-time.After(grace):
			}
			end()
		}
		_, _ = c.process.Wait()
		_ = c.output.Close()
	}
	if c.session != nil {
		_ = c.session.Close()
	}
	c.end()
	c.work.Wait()
	if c.web != nil {
		c.web.CloseIdleConnections()
	}
}

// client returns an HTTP client that sends the keys to the web server and to no other.
func (s *server) client(ctx context.Context) (*http.Client, error) {
	base, err := url.Parse(s.config.URL)
	if err != nil {
		return nil, fmt.Errorf("read the address: %w", err)
	}
	headers, err := s.named(ctx, s.config.Headers, ":")
	if err != nil {
		return nil, err
	}
	keyed := &keyTransport{base: base, from: http.DefaultTransport.(*http.Transport).Clone(), headers: headers}
	return &http.Client{Transport: keyed, CheckRedirect: func(request *http.Request, _ []*http.Request) error {
		if request.URL.Host != base.Host || request.URL.Scheme != base.Scheme {
			return fmt.Errorf("it leads to %s, which is not the server of the settings", request.URL.Host)
		}
		return nil
	}}, nil
}

// keyTransport adds the headers of the settings to what is sent.
type keyTransport struct {
	base    *url.URL
	from    *http.Transport
	headers []string // NAME:VALUE
}

// RoundTrip implements [http.RoundTripper].
func (k *keyTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Host != k.base.Host || request.URL.Scheme != k.base.Scheme {
		return nil, fmt.Errorf("it leads to %s, which is not the server of the settings", request.URL.Host)
	}
	request = request.Clone(request.Context())
	for _, header := range k.headers {
		name, value, _ := strings.Cut(header, ":")
		request.Header.Set(name, value)
	}
	response, err := k.from.RoundTrip(request)
	if err == nil && !strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") { // an event stream limits each event instead
		response.Body = &bounded{ReadCloser: response.Body, left: messageLimit}
	}
	return response, err
}

// CloseIdleConnections is what [http.Client.CloseIdleConnections] calls.
func (k *keyTransport) CloseIdleConnections() { k.from.CloseIdleConnections() }

// bounded is a response body with a size limit.
type bounded struct {
	io.ReadCloser
	left int64
}

// Read implements [io.Reader].
func (b *bounded) Read(into []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("it answered with more than %d MB", messageLimit>>20)
	}
	n, err := b.ReadCloser.Read(into[:min(int64(len(into)), b.left)])
	b.left -= int64(n)
	return n, err
}
