package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// presence counts clients.
type presence struct {
	mu     sync.Mutex
	here   map[string]*rpc.Client
	ever   int
	change chan struct{}
}

func newPresence() *presence {
	return &presence{here: map[string]*rpc.Client{}, change: make(chan struct{}, 10_000)}
}

func (p *presence) Connected(c *rpc.Client) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.here[c.ID()] = c
	p.ever++
	p.change <- struct{}{}
}

func (p *presence) Disconnected(c *rpc.Client) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.here, c.ID())
	p.change <- struct{}{}
}

func (p *presence) all() []*rpc.Client {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []*rpc.Client
	for _, c := range p.here {
		all = append(all, c)
	}
	return all
}

// await waits for n clients.
func (p *presence) await(t testing.TB, n int) {
	t.Helper()
	late := time.After(time.Minute)
	for len(p.all()) != n {
		select {
		case <-p.change:
		case <-late:
			t.Fatalf("%d clients are connected, not %d", len(p.all()), n)
		}
	}
}

func nothing(context.Context, *rpc.Request) (any, error) { return nil, nil }

// A client that reads nothing is dropped after five seconds, and what another is
// sent meanwhile arrives at once.
func TestSlowClientIsDroppedAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		who := newPresence()
		server := &rpc.Server{Handler: handlerFunc(nothing), Presence: who, Token: testToken}
		ctx, cancel := context.WithCancel(t.Context())
		var served sync.WaitGroup
		connect := func() net.Conn {
			near, far := net.Pipe()
			served.Go(func() { server.ServeConn(ctx, far) })
			return near
		}
		var heard atomic.Int64
		fast, err := rpc.Dial(ctx, rpc.DialConfig{Over: connect(), Token: testToken, Client: protocol.ClientInfo{Name: "Emacs 28"}, Handler: func(context.Context, *rpc.Request) (any, error) {
			heard.Add(1)
			return nil, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		slow := connect()
		hello := protocol.InitializeParams{Protocol: protocol.ProtocolRange{Min: 1, Max: 1}, Token: string(testToken)}
		if _, err := slow.Write(rpc.AppendRequest(t, rpc.NewWire(rpc.Plist), nil, 1, protocol.MethodInitialize, hello)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(slow, make([]byte, 10)); err != nil { // and it reads no more
			t.Fatal(err)
		}
		synctest.Wait()
		begin := time.Now()
		for range 100 {
			for _, c := range who.all() {
				c.Notify(protocol.MethodNotice, protocol.Notice{Text: "x"})
			}
		}
		synctest.Wait()
		if n := heard.Load(); n != 100 || time.Since(begin) != 0 {
			t.Errorf("the fast client heard %d after %v", n, time.Since(begin))
		}
		for len(who.all()) == 2 {
			<-who.change
		}
		if took := time.Since(begin); took != 5*time.Second {
			t.Errorf("dropped after %v", took)
		}
		if all := who.all(); len(all) != 1 || all[0].Info().Name != "Emacs 28" {
			t.Errorf("the wrong client was dropped")
		}
		slow.Close()
		fast.Close()
		cancel()
		served.Wait()
	})
}

// What a client that reads nothing is owed is bounded.
func TestHopelessClientCostsBoundedMemory(t *testing.T) {
	who := newPresence()
	path := serve(t, &rpc.Server{Handler: handlerFunc(nothing), Presence: who})
	near, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	fmt.Fprintf(near, "%s", rpc.NewWire(rpc.JSON).AppendFrame(nil, []byte(`{"id":1,"method":"initialize","params":{"protocol":{"min":1,"max":1},"client":{"name":"x"},"token":"`+string(testToken)+`"}}`)))
	who.await(t, 1)
	client := who.all()[0]
	text := strings.Repeat("x", 1<<20)
	for range 96 { // half as much again as it may be owed
		client.Notify(protocol.MethodNotice, protocol.Notice{Text: text})
	}
	<-client.Done()
	if _, err := client.Act(t.Context(), protocol.Act{ID: "a"}); !errors.Is(err, rpc.ErrNotConnected) {
		t.Errorf("an act afterwards: %v", err)
	}
	who.await(t, 0)
}

func TestTwoHundredClients(t *testing.T) {
	const clients, events = 200, 20
	who := newPresence()
	path := serve(t, &rpc.Server{Presence: who, Handler: handlerFunc(func(_ context.Context, r *rpc.Request) (any, error) {
		return protocol.EventResult{Event: r.Params.(*protocol.Object).Text("id")}, nil
	})})
	var wg sync.WaitGroup
	for i := range clients {
		wg.Go(func() {
			c, err := rpc.Dial(t.Context(), rpc.DialConfig{Socket: path, Token: testToken, Client: protocol.ClientInfo{Name: "n"}, Codec: rpc.Codec(i % 2)})
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			for j := range events {
				id := fmt.Sprintf("%d-%d", i, j)
				var result protocol.EventResult
				if err := c.Call(t.Context(), protocol.MethodEvent, protocol.Object{{Key: "id", Value: id}}, &result); err != nil || result.Event != id {
					t.Errorf("%s: %+v %v", id, result, err)
					return
				}
			}
		})
	}
	wg.Wait()
	who.await(t, 0)
	if who.ever != clients {
		t.Errorf("%d were connected", who.ever)
	}
}

// 200 requests at once are answered in their order, none is lost.
func TestBurstKeepsOrder(t *testing.T) {
	var got []string
	path := serve(t, &rpc.Server{Handler: handlerFunc(func(_ context.Context, r *rpc.Request) (any, error) {
		got = append(got, r.Params.(*protocol.Object).Text("id"))
		return nil, nil
	})})
	for _, spelling := range spellings() {
		got = nil
		c, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		frames := rpc.AppendRequest(t, spelling.wire, nil, 1, protocol.MethodInitialize, protocol.InitializeParams{
			Protocol: protocol.ProtocolRange{Min: 1, Max: 1}, Token: string(testToken)})
		var want []string
		for i := range 200 {
			id := fmt.Sprint(i + 2)
			want = append(want, id)
			frames = rpc.AppendRequest(t, spelling.wire, frames, uint64(i+2), protocol.MethodEvent, protocol.Object{{Key: "id", Value: id}})
		}
		if _, err := c.Write(frames); err != nil {
			t.Fatal(err)
		}
		// Half a close, as of `printf | nc`: the answers come all the same.
		if err := c.(*net.UnixConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		answers := rpc.ReadAll(t, spelling.wire, c)
		c.Close()
		if len(answers) != 201 || strings.Join(got, " ") != strings.Join(want, " ") {
			t.Fatalf("%s: %d answers, handled %v", spelling.name, len(answers), got)
		}
		for i, m := range answers {
			if m.ID() != fmt.Sprint(i+1) || m.Err != nil {
				t.Fatalf("%s: answer %d is for %s: %v", spelling.name, i, m.ID(), m.Err)
			}
		}
	}
}

func TestLostConnectionLeavesActsUnknown(t *testing.T) {
	who := newPresence()
	path := serve(t, &rpc.Server{Handler: handlerFunc(nothing), Presence: who})
	acting := make(chan struct{})
	c := dial(t, rpc.DialConfig{Socket: path, Handler: func(ctx context.Context, _ *rpc.Request) (any, error) {
		close(acting)
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	who.await(t, 1)
	client := who.all()[0]
	ended := make(chan error, 1)
	go func() {
		_, err := client.Act(context.Background(), protocol.Act{ID: "a"})
		ended <- err
	}()
	<-acting
	go c.Close()
	if err := <-ended; !errors.Is(err, rpc.ErrConnectionLost) && protocol.ErrorCode(err) != protocol.CodeCancelled {
		t.Errorf("the act ended with %v", err)
	}
	<-client.Done()
	if _, err := client.Act(t.Context(), protocol.Act{ID: "b"}); !errors.Is(err, rpc.ErrNotConnected) {
		t.Errorf("an act afterwards ended with %v", err)
	}
	client.Notify(protocol.MethodNotice, protocol.Notice{}) // and this is nothing
	client.Close("twice")
	client.Close("is fine")
}

func TestCallIsCancelledAtTheKernel(t *testing.T) {
	cancelled := make(chan error, 1)
	begun := make(chan struct{})
	path := serve(t, &rpc.Server{Handler: handlerFunc(func(ctx context.Context, _ *rpc.Request) (any, error) {
		close(begun)
		<-ctx.Done()
		cancelled <- ctx.Err()
		return nil, ctx.Err()
	})})
	for _, codec := range codecs {
		begun = make(chan struct{})
		c := dial(t, rpc.DialConfig{Socket: path, Codec: codec.codec})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-begun
			cancel()
		}()
		if err := c.Call(ctx, protocol.MethodShutdown, nil, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("the call ended with %v", err)
		}
		if err := <-cancelled; !errors.Is(err, context.Canceled) {
			t.Errorf("the handler's context ended with %v", err)
		}
	}
}

// The end of Serve's context ends handlers, and their last words go out.
func TestServeWaitsAndFlushes(t *testing.T) {
	path := t.TempDir() + "/kernel.sock"
	listener, err := rpc.ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	server := &rpc.Server{Token: testToken, Handler: handlerFunc(func(ctx context.Context, r *rpc.Request) (any, error) {
		if r.Method == protocol.MethodShutdown {
			cancel()
			<-ctx.Done()
			r.Client.Notify(protocol.MethodNotice, protocol.Notice{Text: "bye"})
		}
		return nil, nil
	})}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, listener) }()
	heard := make(chan string, 1)
	c := dial(t, rpc.DialConfig{Socket: path, Handler: func(_ context.Context, r *rpc.Request) (any, error) {
		heard <- r.Params.(*protocol.Notice).Text
		return nil, nil
	}})
	if err := c.Call(t.Context(), protocol.MethodShutdown, nil, nil); err != nil {
		t.Errorf("shutdown: %v", err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := <-heard; got != "bye" {
		t.Errorf("heard %q", got)
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
	if _, err := rpc.Dial(t.Context(), rpc.DialConfig{Socket: path}); err == nil {
		t.Error("somebody answers")
	}
}

func TestClientsAreBounded(t *testing.T) {
	path := serve(t, &rpc.Server{Handler: handlerFunc(nothing), Connections: 2})
	dial(t, rpc.DialConfig{Socket: path})
	second := dial(t, rpc.DialConfig{Socket: path})
	if _, err := rpc.Dial(t.Context(), rpc.DialConfig{Socket: path, Token: testToken}); protocol.ErrorCode(err) != protocol.CodeBusy {
		t.Errorf("a third: %v", err)
	}
	second.Close()
	for { // it makes room, soon
		c, err := rpc.Dial(t.Context(), rpc.DialConfig{Socket: path, Token: testToken})
		if err == nil {
			c.Close()
			return
		}
	}
}

// TestStrangersKeepNobodyOut: connections that say nothing, or half of a frame, or a wrong token, keep out
// neither a client of their own listener nor one of another, and they are not kept themselves.
func TestStrangersKeepNobodyOut(t *testing.T) {
	server := &rpc.Server{Handler: handlerFunc(nothing), Connections: 4, Silence: 2 * time.Second}
	path := serve(t, server)
	tcp, err := rpc.ListenTCP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	serveOn(t, server, tcp)
	address := tcp.Addr().String()
	first := dial(t, rpc.DialConfig{Socket: path})
	var strangers []net.Conn
	for i := range 1100 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		strangers = append(strangers, c)
		switch i % 3 {
		case 1:
			_, _ = io.WriteString(c, "0000") // the server may have closed it
		case 2:
			_, _ = io.WriteString(c, "Content-Length: 200\r\n\r\n{\"jsonrpc\"")
		}
	}
	for name, config := range map[string]rpc.DialConfig{"the socket": {Socket: path}, "the same listener": {Addr: address}} {
		config.Token = testToken
		c, err := rpc.Dial(t.Context(), config)
		if err != nil {
			t.Errorf("a client of %s: %v", name, err)
			continue
		}
		if err := c.Call(t.Context(), protocol.MethodStatus, nil, nil); err != nil {
			t.Errorf("a client of %s: %v", name, err)
		}
		c.Close()
	}
	for i, c := range strangers {
		_ = c.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("stranger %d is kept", i)
		}
	}
	if err := first.Call(t.Context(), protocol.MethodStatus, nil, nil); err != nil {
		t.Errorf("the client that was there first: %v", err)
	}
}

// Dialling waits for a kernel that is starting.
func TestDialIsPatient(t *testing.T) {
	path := t.TempDir() + "/kernel.sock"
	if _, err := rpc.Dial(t.Context(), rpc.DialConfig{Socket: path}); err == nil {
		t.Fatal("nobody is there")
	}
	connected := make(chan error, 1)
	go func() {
		c, err := rpc.Dial(context.Background(), rpc.DialConfig{Socket: path, Token: testToken, Timeout: time.Minute})
		if err == nil {
			c.Close()
		}
		connected <- err
	}()
	time.Sleep(100 * time.Millisecond) // it has tried a few times
	listener, err := rpc.ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- (&rpc.Server{Handler: handlerFunc(nothing), Token: testToken}).Serve(ctx, listener)
	}()
	if err := <-connected; err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestTokenIsNeverPrinted(t *testing.T) {
	for _, verb := range []string{"%v", "%s", "%q", "%x", "%+v", "%#v", "%d"} {
		if got := fmt.Sprintf(verb, testToken) + fmt.Sprintf(verb, rpc.DialConfig{Token: testToken}); strings.Contains(got, "0123456789") || strings.Contains(got, "30313233") {
			t.Errorf("%s printed %s", verb, got)
		}
	}
}
