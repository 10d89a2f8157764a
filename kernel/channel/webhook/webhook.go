// Package webhook is a channel for programs of the same machine. A program says what somebody wrote by POST /messages,
// and fetches what the agent says by GET /messages?chat=…&after=…, which waits. With a URL, what the agent says is sent
// there instead. Everything is JSON, and every request has the header "Authorization: Bearer TOKEN".
//
// It listens on the loopback interface only. A browser never gets in: a request with an Origin, of another Host, or whose
// body is not application/json, is refused. Whoever has the token says who writes.
//
// Ordering: the messages of one chat are delivered one after the other, as they come. Blocking: a POST is answered when
// the kernel has the message; if it is answered with 503, the program keeps the message and says it again with the same
// id. Ownership: [Driver.Run] has the server, and waits for what it serves.
//
// What the agent says is stored before Send returns, and survives a restart. It is kept until the program that fetches
// has asked for what comes after it. 256 messages and 16 MB are kept; then Send fails until some are fetched, so that
// none is lost unseen.
package webhook

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"org-agent/kernel/channel"
	"org-agent/kernel/secret"
)

// Name is what the driver is called.
const Name = "webhook"

// Bounds of what is taken.
const (
	longestText = 64 << 10 // of a message of the agent, in UTF-16 units
	largestFile = 1 << 20  // that the agent sends, in bytes
	largestBody = 16 << 20 // of a request, in bytes: a file of 10 MB fits
	mostAtOnce  = 32       // requests
	longestWait = 30 * time.Second
)

// Config configures a channel.
type Config struct {
	Name   string      // of the channel, "webhook" if it is empty
	Token  secret.Text // of the requests, at least 16 characters
	Listen string      // HOST:PORT of the loopback interface
	// URL is where messages of the agent are sent, of the loopback interface; "" if they are fetched.
	URL    string
	State  channel.State // what was not fetched; not used with a URL
	Logger *slog.Logger
}

// Driver is the channel.
type Driver struct {
	config Config
	token  [sha256.Size]byte
	client *http.Client
	kept   kept
	slots  chan struct{} // one for each request that is served

	mutex sync.Mutex
	chats map[string]*sync.Mutex // one message of a chat at a time
}

// New returns a driver. Nothing is opened before Run.
func New(c Config) *Driver {
	c.Name = cmp.Or(c.Name, Name)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return &Driver{
		config: c, token: sha256.Sum256([]byte(c.Token.Reveal())), slots: make(chan struct{}, mostAtOnce), chats: map[string]*sync.Mutex{}, kept: kept{state: c.State},
		client: &http.Client{Timeout: longestWait, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
}

// Name implements [channel.Driver].
func (d *Driver) Name() string { return d.config.Name }

// Capabilities implements [channel.Driver].
func (d *Driver) Capabilities() channel.Capabilities {
	return channel.Capabilities{TextLimit: longestText, FileLimit: largestFile, Idempotent: d.config.URL == "", Voice: true}
}

// GoString keeps what is in a driver out of what is printed.
func (d *Driver) GoString() string { return "webhook.Driver(" + d.config.Name + ")" }

// String is the same.
func (d *Driver) String() string { return d.GoString() }

// Run implements [channel.Driver].
func (d *Driver) Run(ctx context.Context, receive func(context.Context, channel.Message) error) error {
	if err := d.config.check(); err != nil {
		return fmt.Errorf("the channel %s: %w", d.config.Name, err)
	}
	listener, err := d.config.listen(ctx)
	if err != nil {
		return fmt.Errorf("the channel %s: %w: choose another address as LISTEN in config.org, or end what listens there", d.config.Name, err)
	}
	defer d.client.CloseIdleConnections()
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	served := serving{handler: d.handler(receive)}
	server := &http.Server{
		Handler: &served, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: time.Minute, WriteTimeout: 2 * time.Minute, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		BaseContext: func(net.Listener) context.Context { return within },
		ErrorLog:    slog.NewLogLogger(d.config.Logger.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		ending, stop := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer stop()
		_ = server.Shutdown(ending) // what is left then are connections that nobody uses
		_ = server.Close()
		<-ended
	}
	cancel()
	served.end()
	if err != nil {
		return fmt.Errorf("the channel %s: %w", d.config.Name, errors.Join(err, server.Close()))
	}
	return nil
}

// listen listens where the settings say. A name that is not of the loopback interface after all is refused.
func (c Config) listen(ctx context.Context) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return nil, err
	}
	if at, ok := listener.Addr().(*net.TCPAddr); !ok || !at.IP.IsLoopback() {
		return nil, errors.Join(fmt.Errorf("%s is not on the loopback interface", c.Listen), listener.Close())
	}
	return listener, nil
}

// serving is a handler that can be ended: it serves nothing any more, and waits for what it serves.
type serving struct {
	handler http.Handler

	mutex   sync.Mutex
	over    bool
	running sync.WaitGroup
}

// ServeHTTP implements [http.Handler].
func (s *serving) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	if s.over {
		s.mutex.Unlock()
		answer(w, http.StatusServiceUnavailable, failed{"the channel has ended"})
		return
	}
	s.running.Add(1)
	s.mutex.Unlock()
	defer s.running.Done()
	s.handler.ServeHTTP(w, r)
}

func (s *serving) end() {
	s.mutex.Lock()
	s.over = true
	s.mutex.Unlock()
	s.running.Wait()
}

// check says what is wrong with the settings.
func (c Config) check() error {
	if len(c.Token) < 16 {
		return errors.New("its token has fewer than 16 characters: make a longer one, such as by: openssl rand -hex 32")
	}
	if err := loopback(c.Listen); err != nil {
		return fmt.Errorf("listen on %s: %w", c.Listen, err)
	}
	if c.URL == "" && c.State == nil {
		return errors.New("it has no state to keep what is not fetched")
	}
	if c.URL == "" {
		return nil
	}
	u, err := url.Parse(c.URL)
	if err != nil || u.Scheme != "http" || u.User != nil {
		return errors.New("its URL is not one such as http://127.0.0.1:4712/agent")
	}
	if err := loopback(net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "80"))); err != nil {
		return fmt.Errorf("send to %s: %w", u.Host, err)
	}
	return nil
}

// loopback says that an address is of another machine, or that others could reach it.
func loopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return errors.New("it is no HOST:PORT, such as 127.0.0.1:4712")
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return errors.New("only a loopback address is allowed, such as 127.0.0.1:4712")
}

// handler returns what answers requests.
func (d *Driver) handler(receive func(context.Context, channel.Message) error) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /messages", func(w http.ResponseWriter, r *http.Request) { d.post(w, r, receive) })
	if d.config.URL == "" {
		mux.HandleFunc("GET /messages", d.get)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status, why := d.admit(r); status != 0 {
			answer(w, status, failed{why})
			return
		}
		select {
		case d.slots <- struct{}{}:
			defer func() { <-d.slots }()
			mux.ServeHTTP(w, r)
		default:
			w.Header().Set("Retry-After", "1")
			answer(w, http.StatusServiceUnavailable, failed{"too many requests at once"})
		}
	})
}

// admit says why a request is refused, before anything of its body is read. The status is 0 if it is not.
func (d *Driver) admit(r *http.Request) (status int, why string) {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	host = strings.Trim(host, "[]")
	token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	given := sha256.Sum256([]byte(token))
	switch {
	case loopback(net.JoinHostPort(host, "1")) != nil:
		return http.StatusForbidden, "the Host is not of this machine"
	case r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != "":
		return http.StatusForbidden, "pages of a browser are not answered"
	case !bearer || subtle.ConstantTimeCompare(given[:], d.token[:]) != 1:
		return http.StatusUnauthorized, "the token is missing or wrong"
	}
	return 0, ""
}
