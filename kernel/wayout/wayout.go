// Package wayout is the way out of the network of a command: a proxy for HTTP that connects by a function
// of its caller. That function decides which servers are reached. Whoever speaks with the proxy chooses
// names and ports, and nothing else.
package wayout

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Dial connects to a server. The address is a name or a number with a port.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// The limits of one proxy.
const (
	connections = 256
	headerBytes = 256 << 10
	headerTime  = 30 * time.Second
)

// Serve answers at a listener until it is closed or ctx ends, and closes it. It returns when nothing of what it
// began is left.
func Serve(ctx context.Context, listener net.Listener, dial Dial) error {
	ctx, cancel := context.WithCancel(ctx)
	defer context.AfterFunc(ctx, func() { _ = listener.Close() })() // what waits at it ends with ctx
	p := &proxy{ctx: ctx, dial: dial, places: make(chan struct{}, connections)}
	p.transport = &http.Transport{DialContext: p.connect, DisableCompression: true, MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute, ResponseHeaderTimeout: 5 * time.Minute}
	server := &http.Server{Handler: p, MaxHeaderBytes: headerBytes, ReadHeaderTimeout: headerTime, BaseContext: func(net.Listener) context.Context { return ctx }}
	err := server.Serve(listener)
	cancel()
	err = errors.Join(err, server.Close())
	p.work.Wait()
	p.transport.CloseIdleConnections()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

type proxy struct {
	ctx       context.Context
	dial      Dial
	transport *http.Transport
	places    chan struct{}
	work      sync.WaitGroup
}

// connect connects by the caller's function, for at most as long as the proxy is there.
func (p *proxy) connect(ctx context.Context, network, address string) (net.Conn, error) {
	return p.dial(ctx, network, address)
}

// ServeHTTP implements [http.Handler].
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.work.Add(1)
	defer p.work.Done()
	select {
	case p.places <- struct{}{}:
		defer func() { <-p.places }()
	case <-r.Context().Done():
		return
	}
	switch {
	case r.Method == http.MethodConnect:
		p.tunnel(w, r)
	case r.URL.Scheme == "http" && r.URL.Host != "":
		p.forward(w, r)
	default:
		http.Error(w, "this is the way out of a sandbox: a proxy for HTTP, which is asked with CONNECT or with a whole http address", http.StatusBadRequest)
	}
}

// hopHeaders are for the next program alone.
var hopHeaders = [...]string{"Connection", "Proxy-Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

func removeHopHeaders(h http.Header) {
	for name := range strings.SplitSeq(h.Get("Connection"), ",") {
		h.Del(strings.TrimSpace(name))
	}
	for _, name := range hopHeaders {
		h.Del(name)
	}
}

// forward makes a request for the command.
func (p *proxy) forward(w http.ResponseWriter, r *http.Request) {
	out := r.Clone(r.Context())
	out.RequestURI = ""
	removeHopHeaders(out.Header)
	response, err := p.transport.RoundTrip(out)
	if err != nil {
		refuse(w, err)
		return
	}
	defer response.Body.Close()
	removeHopHeaders(response.Header)
	for name, values := range response.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(response.StatusCode)
	controller := http.NewResponseController(w)
	buffer := make([]byte, 32<<10)
	for {
		n, err := response.Body.Read(buffer)
		if _, failed := w.Write(buffer[:n]); failed != nil || err != nil {
			return // one of the two is gone, which the other sees
		}
		_ = controller.Flush() // the next write tells
	}
}

// tunnel connects the command with a server.
func (p *proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	server, err := p.connect(r.Context(), "tcp", r.Host)
	if err != nil {
		refuse(w, err)
		return
	}
	defer server.Close()
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		refuse(w, err)
		return
	}
	defer client.Close()
	_ = client.SetDeadline(time.Time{}) // the server's own was for the header
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	stop := context.AfterFunc(p.ctx, func() {
		client.Close()
		server.Close()
	})
	defer stop()
	var both sync.WaitGroup
	both.Go(func() { pass(server, buffered) })
	both.Go(func() { pass(client, server) })
	both.Wait()
}

// pass copies until one side ends, and ends the other's input.
func pass(to net.Conn, from io.Reader) {
	_, _ = io.Copy(to, from) // the end of either side is the end of the tunnel
	if half, ok := to.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
		return
	}
	to.Close()
}

// refuse tells the command why a server is not reached.
func refuse(w http.ResponseWriter, err error) {
	http.Error(w, fmt.Sprintf("the sandbox does not connect: %v", err), http.StatusForbidden)
}
