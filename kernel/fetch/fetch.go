package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"org-agent/kernel/protocol"
)

// The limits for a server.
const (
	defaultTimeout = 30 * time.Second
	bodyLimit      = 5 << 20
	headerLimit    = 64 << 10
	redirectMost   = 5
	parallelLimit  = 4 // pages at the same time
)

// Config configures a [Fetcher]. By default it asks directly, without a proxy.
type Config struct {
	// Agent is the User-Agent header. "" means the program's name.
	Agent string
	// Proxy returns the proxy for an address, or nil. A proxy resolves names itself. If this
	// machine can resolve the name, its addresses are judged; otherwise the proxy decides.
	Proxy func(*url.URL) (*url.URL, error)
	// Judge returns why an address must not be connected to, or nil. Default: [Public].
	Judge func(netip.Addr) error
	// Redirect judges an address to which a page redirects. allowed means that it may be asked
	// without a person's approval, refused that it must not be asked at all. Default: neither.
	Redirect func(address string) (allowed, refused bool)
	// Resolver resolves names. Default: the system's resolver.
	Resolver Resolver
	// Timeout is how long a page with all its redirects may take. 0 means half a minute.
	Timeout time.Duration
	// BodyLimit is the maximum size of an unpacked page in bytes. 0 means 5 MiB.
	BodyLimit int64
	// Now is the clock. Default: [time.Now].
	Now func() time.Time
}

// Page is a page that was fetched.
type Page struct {
	URL  string // its address, after redirects
	Type string // its media type
	// Title, Author, Site and Published describe an article. "" means unknown.
	Title, Author, Site, Published string
	Text                           string // HTML as Markdown, other text as it is
	Cut                            bool   // the page is longer than what was read
}

// Fetcher fetches pages and caches them for a quarter of an hour. It holds nothing that must be
// closed.
type Fetcher struct {
	agent     string
	judge     func(netip.Addr) error
	resolver  Resolver
	timeout   time.Duration
	bodyLimit int64
	proxy     func(*url.URL) (*url.URL, error)
	redirect  func(address string) (allowed, refused bool)
	now       func() time.Time
	turn      chan struct{}
	cache     cache
}

// New returns a fetcher.
func New(c Config) *Fetcher {
	f := &Fetcher{
		agent: c.Agent, judge: c.Judge, resolver: c.Resolver, timeout: c.Timeout, bodyLimit: c.BodyLimit,
		proxy: c.Proxy, redirect: c.Redirect, now: c.Now, turn: make(chan struct{}, parallelLimit),
	}
	if f.agent == "" {
		f.agent = "Mozilla/5.0 (compatible; org-agent)"
	}
	if f.judge == nil {
		f.judge = Public
	}
	if f.resolver == nil {
		f.resolver = net.DefaultResolver
	}
	if f.timeout == 0 {
		f.timeout = defaultTimeout
	}
	if f.bodyLimit == 0 {
		f.bodyLimit = bodyLimit
	}
	if f.proxy == nil {
		f.proxy = func(*url.URL) (*url.URL, error) { return nil, nil }
	}
	if f.redirect == nil {
		f.redirect = func(string) (allowed, refused bool) { return false, false }
	}
	if f.now == nil {
		f.now = time.Now
	}
	return f
}

// Address returns an address in its canonical spelling, in which it is judged, shown and asked. It
// refuses a text that is not an address, and an address that visibly leads into a private network.
func (f *Fetcher) Address(text string) (string, error) {
	u, err := f.read(text)
	if err != nil {
		return "", err
	}
	return u.String(), nil
}

func (f *Fetcher) read(text string) (*url.URL, error) {
	u, err := canonical(text)
	if err != nil {
		return nil, err
	}
	if literal, err := netip.ParseAddr(u.Hostname()); err == nil {
		if err := f.judge(literal); err != nil {
			return nil, err
		}
	}
	return u, nil
}

// Get returns the page of an address, possibly from the cache. It follows a redirect to the same
// host unless Config.Redirect refuses it. A redirect to another host that is not allowed is the
// error [Moved]. A page behind redirects is not cached, because redirects are judged each time.
func (f *Fetcher) Get(ctx context.Context, address string) (Page, error) {
	u, err := f.read(address)
	if err != nil {
		return Page{}, err
	}
	if page, ok := f.cache.get(u.String(), f.now()); ok {
		return page, nil
	}
	limited, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	select {
	case f.turn <- struct{}{}:
		defer func() { <-f.turn }()
	case <-limited.Done():
		return Page{}, f.failure(ctx, u, limited.Err())
	}
	page, err := f.follow(limited, u)
	if err != nil {
		return Page{}, f.failure(ctx, u, err)
	}
	if page.URL == u.String() {
		f.cache.put(page.URL, page, f.now())
	}
	return page, nil
}

// failure describes an error in words for a model.
func (f *Fetcher) failure(ctx context.Context, u *url.URL, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("fetch %s: %w", u.Hostname(), ctx.Err())
	}
	var timeout net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() {
		slow := protocol.ToolErrorf(protocol.ToolTimeout, "%s did not answer whole within %v: try it once more later, or another source", u.Hostname(), f.timeout)
		slow.Retryable = true
		return slow
	}
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err // the error without the address, which the reader knows
	}
	if Transient(err) {
		broken := protocol.ToolErrorf(protocol.ToolFailed, "%s broke off before it had answered whole: try it once more later, or another source: %w", u.Hostname(), err)
		broken.Retryable = true
		return broken
	}
	return err
}

// Moved is the error of a page that redirects to another host.
type Moved struct{ From, To string }

// Unwrap returns the error of a tool.
func (m *Moved) Unwrap() error { return protocol.ToolErrorf(protocol.ToolChanged, "%s", m.Error()) }

func (m *Moved) Error() string {
	return fmt.Sprintf("%s is at another address now: fetch %s if it is that which is wanted", m.From, m.To)
}

// follow asks an address and follows its redirects.
func (f *Fetcher) follow(ctx context.Context, u *url.URL) (Page, error) {
	first := u
	visited := []string{u.String()}
	for {
		page, next, err := f.ask(ctx, u)
		if err != nil || next == "" {
			return page, err
		}
		to, err := u.Parse(next)
		if err == nil {
			to, err = f.read(to.String())
		}
		allowed, refused := false, false
		if err == nil {
			allowed, refused = f.redirect(to.String())
		}
		switch {
		case refused:
			return Page{}, protocol.ToolErrorf(protocol.ToolRefused, "%s leads to %s, which the rules refuse: try another source", first, to)
		case err != nil:
			return Page{}, fmt.Errorf("%s leads to an address that is not asked: %w", u, err)
		case slices.Contains(visited, to.String()):
			return Page{}, protocol.ToolErrorf(protocol.ToolUnfit, "%s leads in a circle, back to %s: try another source", first, to)
		case !sameHost(u, to) && !allowed:
			return Page{}, &Moved{From: first.String(), To: to.String()}
		case len(visited) > redirectMost:
			return Page{}, protocol.ToolErrorf(protocol.ToolUnfit, "%s leads on and on, more than %d times: try another source", first, redirectMost)
		}
		visited = append(visited, to.String())
		u = to
	}
}

// sameHost reports whether permission to ask one address covers the other: the server is the same,
// and the connection is at least as secure.
func sameHost(from, to *url.URL) bool {
	return from.Hostname() == to.Hostname() && (from.Scheme == to.Scheme && from.Port() == to.Port() ||
		from.Scheme == "http" && to.Scheme == "https" && from.Port() == "" && to.Port() == "")
}

// ask asks one address once. next is the address to which it redirects, or "".
func (f *Fetcher) ask(ctx context.Context, u *url.URL) (page Page, next string, err error) {
	client, err := f.client(ctx, u)
	if err != nil {
		return Page{}, "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return Page{}, "", err
	}
	request.Header.Set("User-Agent", f.agent)
	request.Header.Set("Accept", "text/html,application/xhtml+xml,text/markdown,text/plain,application/json;q=0.9,*/*;q=0.5")
	response, err := client.Do(request)
	if err != nil {
		return Page{}, "", err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		next = response.Header.Get("Location")
		if next == "" {
			return Page{}, "", protocol.ToolErrorf(protocol.ToolUnfit, "%s leads elsewhere and does not say where: try another source", u)
		}
		return Page{}, next, nil
	case http.StatusOK, http.StatusNonAuthoritativeInfo:
	default:
		return Page{}, "", MarkRetryable(status(u, response), response, f.now())
	}
	page, err = f.page(ctx, u, response)
	return page, "", err
}

// status returns the error for an HTTP status without a page.
func status(u *url.URL, response *http.Response) *protocol.ToolError {
	advice, kind := "try another source", protocol.ToolFailed
	switch code := response.StatusCode; {
	case code == http.StatusNotFound || code == http.StatusGone:
		advice, kind = "look whether the address is right", protocol.ToolNotFound
	case code == http.StatusTooManyRequests || code >= 500:
		advice, kind = "try it once more later, or another source", protocol.ToolBusy
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		advice, kind = "it is not for everybody: try another source", protocol.ToolDenied
	}
	// The text is Go's, because the server's text could say anything.
	return protocol.ToolErrorf(kind, "%s answers %d %s: %s", u.Hostname(), response.StatusCode, http.StatusText(response.StatusCode), advice)
}

// client returns a client for one address. It connects to the judged addresses, or through the
// person's proxy.
func (f *Fetcher) client(ctx context.Context, u *url.URL) (*http.Client, error) {
	transport := &http.Transport{
		DialContext: f.dial, DisableKeepAlives: true, MaxResponseHeaderBytes: headerLimit,
		TLSHandshakeTimeout: dialTimeout, ResponseHeaderTimeout: f.timeout,
	}
	proxy, err := f.proxy(u)
	if err != nil {
		return nil, fmt.Errorf("it is not known through what to fetch pages: the user has to correct PROXY of the heading Web in config.org: %w", err)
	}
	if proxy != nil {
		if err := f.judgeName(ctx, u.Hostname()); err != nil {
			return nil, err
		}
		transport.DialContext, transport.Proxy = nil, http.ProxyURL(proxy)
	}
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, nil
}

// judgeName judges a host that is asked through a proxy. A name that only the proxy can resolve
// passes.
func (f *Fetcher) judgeName(ctx context.Context, host string) error {
	_, err := f.addresses(ctx, host)
	var unknown *unresolved
	if errors.As(err, &unknown) && ctx.Err() == nil {
		return nil
	}
	return err
}

// page reads a server's response.
func (f *Fetcher) page(ctx context.Context, u *url.URL, response *http.Response) (Page, error) {
	if encoding := response.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return Page{}, protocol.ToolErrorf(protocol.ToolUnfit, "%s sends what was not asked for, packed as %.40q: try another source", u.Hostname(), encoding)
	}
	mediaType, err := readable(response.Header.Get("Content-Type"))
	if err != nil {
		return Page{}, err
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, f.bodyLimit+1))
	if err != nil {
		return Page{}, fmt.Errorf("read %s: %w", u.Hostname(), err)
	}
	page := Page{URL: u.String(), Type: mediaType}
	if int64(len(body)) > f.bodyLimit {
		body, page.Cut = body[:f.bodyLimit], true
	}
	if page.Type == "" {
		if page.Type, err = readable(http.DetectContentType(body)); err != nil {
			return Page{}, err
		}
	}
	text, err := decode(body, page.Type, response.Header.Get("Content-Type"))
	if err != nil {
		return Page{}, err
	}
	if err := ctx.Err(); err != nil {
		return Page{}, err
	}
	if page.Type == "text/html" || page.Type == "application/xhtml+xml" {
		page.article(text, u)
	} else {
		page.Text = text
	}
	page.Text = clean(page.Text)
	if len(page.Text) > textLimit {
		page.Text, page.Cut = strings.ToValidUTF8(page.Text[:textLimit], ""), true
	}
	return page, nil
}
