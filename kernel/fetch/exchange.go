package fetch

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"org-agent/kernel/protocol"
)

// The limits for what a request of an [Exchange] has.
const (
	requestLimit       = 1 << 20 // bytes of the body
	requestHeaderLimit = 16 << 10
	requestHeaderMost  = 64
)

// Exchange is a request whose response is returned as it comes. Whoever makes it says which servers may be
// asked.
type Exchange struct {
	// Method is GET, HEAD, POST, PUT, PATCH or DELETE. Only the first two are asked again at the address to
	// which a server redirects, and have no body.
	Method  string
	Address string
	// Header are the headers to send, by their names in any case. A server to which another one redirects
	// gets none of them.
	Header http.Header
	Body   []byte
	// Allowed returns an error for an address that may not be asked, whose host is in its canonical
	// spelling. It judges the first address and each redirect.
	Allowed func(address *url.URL) error
	// Redirects is how many redirects are followed.
	Redirects int
	// Timeout is how long all may take, if that is less than what the fetcher allows. 0: no less.
	Timeout time.Duration
}

// Response is what a server sent, whatever its status is.
type Response struct {
	Address string // of the server that sent it
	Status  int
	Header  http.Header
	Body    []byte // unpacked
	// Text is the decoded body if it is a text, and then IsText is true.
	Text   string
	IsText bool
}

// sentMethods are the methods that can be sent. Those that are true change nothing.
var sentMethods = map[string]bool{
	http.MethodGet: true, http.MethodHead: true,
	http.MethodPost: false, http.MethodPut: false, http.MethodPatch: false, http.MethodDelete: false,
}

// ownHeaders are the headers that belong to the connection, which only the fetcher writes. So do all that
// begin with Proxy-.
var ownHeaders = []string{
	"Accept-Encoding", "Connection", "Content-Length", "Expect", "Host", "Http2-Settings", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Via",
}

// Exchange sends a request and returns the response. It blocks until the response is whole, the context ends
// or the time is over. A response whose body is larger than Config.BodyLimit is an error.
func (f *Fetcher) Exchange(ctx context.Context, x Exchange) (Response, error) {
	if err := x.check(); err != nil {
		return Response{}, err
	}
	u, err := f.read(x.Address)
	if err != nil {
		return Response{}, err
	}
	if err := x.Allowed(u); err != nil {
		return Response{}, err
	}
	timeout := f.timeout
	if x.Timeout > 0 {
		timeout = min(timeout, x.Timeout)
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	select {
	case f.turn <- struct{}{}:
		defer func() { <-f.turn }()
	case <-limited.Done():
		return Response{}, f.failure(ctx, u, limited.Err())
	}
	response, at, err := f.exchange(limited, u, x)
	if err != nil {
		return Response{}, f.failure(ctx, at, err)
	}
	return response, nil
}

// check returns an error for a request that is not sent.
func (x *Exchange) check() error {
	reads, known := sentMethods[x.Method]
	switch {
	case !known:
		return protocol.ToolErrorf(protocol.ToolArguments, "there is no method %.20q here", x.Method)
	case reads && len(x.Body) > 0:
		return protocol.ToolErrorf(protocol.ToolArguments, "%s has no body", x.Method)
	case len(x.Body) > requestLimit:
		return protocol.ToolErrorf(protocol.ToolArguments, "the body has %d bytes, more than %d", len(x.Body), requestLimit)
	case x.Allowed == nil:
		return protocol.ToolErrorf(protocol.ToolRefused, "nobody says which servers may be asked")
	}
	count, size := 0, 0
	for name, values := range x.Header {
		canonicalName := http.CanonicalHeaderKey(name)
		if !httpguts.ValidHeaderFieldName(name) {
			return protocol.ToolErrorf(protocol.ToolArguments, "%.60q is no name of a header", name)
		}
		if slices.Contains(ownHeaders, canonicalName) || strings.HasPrefix(canonicalName, "Proxy-") {
			return protocol.ToolErrorf(protocol.ToolRefused, "the header %s belongs to the connection: leave it out", canonicalName)
		}
		for _, value := range values {
			if !httpguts.ValidHeaderFieldValue(value) {
				return protocol.ToolErrorf(protocol.ToolArguments, "the header %s has a line break, or another character that no header has", canonicalName)
			}
			count, size = count+1, size+len(name)+len(value)+4
		}
	}
	if count > requestHeaderMost || size > requestHeaderLimit {
		return protocol.ToolErrorf(protocol.ToolArguments, "the headers are too many: at most %d with %d bytes", requestHeaderMost, requestHeaderLimit)
	}
	return nil
}

// exchange sends the request and follows redirects. at is the address that was asked last.
func (f *Fetcher) exchange(ctx context.Context, u *url.URL, x Exchange) (response Response, at *url.URL, err error) {
	header := x.Header
	for followed := 0; ; followed++ {
		response, next, err := f.send(ctx, u, x, header)
		if err != nil || next == "" || !sentMethods[x.Method] || x.Redirects == 0 {
			return response, u, err
		}
		to, err := u.Parse(next)
		if err == nil {
			to, err = f.read(to.String())
		}
		if err == nil {
			err = x.Allowed(to)
		}
		if err != nil {
			return Response{}, u, fmt.Errorf("%s leads to an address that is not asked: %w", u.Hostname(), err)
		}
		if followed == x.Redirects {
			return Response{}, u, protocol.ToolErrorf(protocol.ToolUnfit, "%s leads on and on, more than %d times", u.Hostname(), x.Redirects)
		}
		if to.Scheme != u.Scheme || to.Host != u.Host {
			header = nil // another server does not get what was meant for the first
		}
		u = to
	}
}

// send sends the request to one address. next is the address to which it redirects, or "".
func (f *Fetcher) send(ctx context.Context, u *url.URL, x Exchange, header http.Header) (response Response, next string, err error) {
	client, err := f.client(ctx, u)
	if err != nil {
		return Response{}, "", err
	}
	request, err := http.NewRequestWithContext(ctx, x.Method, u.String(), bytes.NewReader(x.Body))
	if err != nil {
		return Response{}, "", err
	}
	request.GetBody = nil // nothing is sent twice
	request.Header.Set("User-Agent", f.agent)
	for name, values := range header {
		request.Header[http.CanonicalHeaderKey(name)] = slices.Clone(values)
	}
	answered, err := client.Do(request)
	if err != nil {
		return Response{}, "", err
	}
	defer answered.Body.Close()
	response = Response{Address: u.String(), Status: answered.StatusCode, Header: answered.Header}
	switch answered.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		next = answered.Header.Get("Location")
	}
	if encoding := answered.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return Response{}, "", protocol.ToolErrorf(protocol.ToolUnfit, "%s sends what was not asked for, packed as %.40q", u.Hostname(), encoding)
	}
	response.Body, err = io.ReadAll(io.LimitReader(answered.Body, f.bodyLimit+1))
	if err != nil {
		return Response{}, "", fmt.Errorf("read %s: %w", u.Hostname(), err)
	}
	if int64(len(response.Body)) > f.bodyLimit {
		return Response{}, "", protocol.ToolErrorf(protocol.ToolUnfit, "%s sends more than %d bytes: ask for less at once", u.Hostname(), f.bodyLimit)
	}
	contentType := answered.Header.Get("Content-Type")
	if mediaType, err := readable(contentType); err == nil {
		if text, err := decode(response.Body, mediaType, contentType); err == nil && mediaType != "" {
			response.Text, response.IsText = text, true
		}
	}
	return response, next, nil
}
