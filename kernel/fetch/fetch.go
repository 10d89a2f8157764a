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

// Bounds of what a server may send, and for how long.
const (
	patience     = 30 * time.Second
	bodyLimit    = 5 << 20
	headerLimit  = 64 << 10
	redirectMost = 5
	atOnce       = 4 // pages that are asked for at a time
)

// Config says how a [Fetcher] asks. The zero value asks the internet without a proxy.
type Config struct {
	// Agent is what servers are told of who asks; "" for the program's name.
	Agent string
	// Proxy returns the proxy of an address, nil for none. It resolves names for itself: what
	// this machine's resolver says of them is judged, and what it does not know is left to it.
	Proxy func(*url.URL) (*url.URL, error)
	// Judge says what is against connecting to an address; nil for [Public].
	Judge func(netip.Addr) error
	// Redirect says of an address that a page leads to whether it may be asked without anybody
	// being asked about it, and whether it may not be asked at all; nil says neither.
	Redirect func(address string) (allowed, refused bool)
	// Resolver tells the addresses of names; nil for the system's.
	Resolver Resolver
	// Patience is how long a page may take with all its redirects; 0 for half a minute.
	Patience time.Duration
	// BodyLimit is how many bytes of a page are read, unpacked; 0 for 5 MiB.
	BodyLimit int64
	// Now is the clock; nil for [time.Now].
	Now func() time.Time
}

// Page is what an address gave.
type Page struct {
	URL  string // where it was, after redirects
	Type string // its media type
	// Title, Author, Site and Published are of an article, "" where they are not known.
	Title, Author, Site, Published string
	Text                           string // Markdown of HTML; else the text as it is
	Cut                            bool   // there is more than was read
}

// Fetcher asks addresses for pages, and remembers them for a quarter of an hour. It belongs to
// whoever made it, and holds nothing that must be closed.
type Fetcher struct {
	agent     string
	judge     func(netip.Addr) error
	resolver  Resolver
	patience  time.Duration
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
		agent: c.Agent, judge: c.Judge, resolver: c.Resolver, patience: c.Patience, bodyLimit: c.BodyLimit,
		proxy: c.Proxy, redirect: c.Redirect, now: c.Now, turn: make(chan struct{}, atOnce),
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
	if f.patience == 0 {
		f.patience = patience
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

// Address returns an address in the one spelling in which it is judged, shown and asked. The
// error refuses what is none, or can be told to lead inside without asking anybody.
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

// Get returns the page of an address, which may be remembered. A redirect is followed on the same
// host, unless it is refused; one to another that is not allowed is the error [Moved]. What was
// found through redirects is not remembered, as they are judged each time.
func (f *Fetcher) Get(ctx context.Context, address string) (Page, error) {
	u, err := f.read(address)
	if err != nil {
		return Page{}, err
	}
	if page, ok := f.cache.get(u.String(), f.now()); ok {
		return page, nil
	}
	limited, cancel := context.WithTimeout(ctx, f.patience)
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

// failure says what came in the way, without what only programmers read.
func (f *Fetcher) failure(ctx context.Context, u *url.URL, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("fetch %s: %w", u.Hostname(), ctx.Err())
	}
	var timeout net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() {
		slow := protocol.ToolErrorf(protocol.ToolTimeout, "%s did not answer whole within %v: try it once more later, or another source", u.Hostname(), f.patience)
		slow.Retryable = true
		return slow
	}
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err // without the address, which is known
	}
	if Passing(err) {
		broken := protocol.ToolErrorf(protocol.ToolFailed, "%s broke off before it had answered whole: try it once more later, or another source: %w", u.Hostname(), err)
		broken.Retryable = true
		return broken
	}
	return err
}

// Moved is the error of a page that is at another host now.
type Moved struct{ From, To string }

// Unwrap is the error as one of a tool.
func (m *Moved) Unwrap() error { return protocol.ToolErrorf(protocol.ToolChanged, "%s", m.Error()) }

func (m *Moved) Error() string {
	return fmt.Sprintf("%s is at another address now: fetch %s if it is that which is wanted", m.From, m.To)
}

// follow asks an address and those that it leads to.
func (f *Fetcher) follow(ctx context.Context, u *url.URL) (Page, error) {
	first := u
	asked := []string{u.String()}
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
		case slices.Contains(asked, to.String()):
			return Page{}, protocol.ToolErrorf(protocol.ToolUnfit, "%s leads in a circle, back to %s: try another source", first, to)
		case !sameHost(u, to) && !allowed:
			return Page{}, &Moved{From: first.String(), To: to.String()}
		case len(asked) > redirectMost:
			return Page{}, protocol.ToolErrorf(protocol.ToolUnfit, "%s leads on and on, more than %d times: try another source", first, redirectMost)
		}
		asked = append(asked, to.String())
		u = to
	}
}

// sameHost reports whether whoever may ask one may ask the other: it is the same server, and what
// is sent to it is not less hidden.
func sameHost(from, to *url.URL) bool {
	return from.Hostname() == to.Hostname() && (from.Scheme == to.Scheme && from.Port() == to.Port() ||
		from.Scheme == "http" && to.Scheme == "https" && from.Port() == "" && to.Port() == "")
}

// ask asks one address, once. next is where it leads to, "" for nowhere.
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
		return Page{}, "", Later(status(u, response), response, f.now())
	}
	page, err = f.page(ctx, u, response)
	return page, "", err
}

// status is the error of a server that gives no page.
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
	// Go's own words, as the server's are its own.
	return protocol.ToolErrorf(kind, "%s answers %d %s: %s", u.Hostname(), response.StatusCode, http.StatusText(response.StatusCode), advice)
}

// client makes what asks one address: by its judged addresses, or by the proxy that the person
// set for it.
func (f *Fetcher) client(ctx context.Context, u *url.URL) (*http.Client, error) {
	transport := &http.Transport{
		DialContext: f.dial, DisableKeepAlives: true, MaxResponseHeaderBytes: headerLimit,
		TLSHandshakeTimeout: dialPatience, ResponseHeaderTimeout: f.patience,
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

// judgeName judges a host that a proxy will be asked for; one that only the proxy knows passes.
func (f *Fetcher) judgeName(ctx context.Context, host string) error {
	_, err := f.addresses(ctx, host)
	var unknown *unresolved
	if errors.As(err, &unknown) && ctx.Err() == nil {
		return nil
	}
	return err
}

// page reads what a server sends.
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
