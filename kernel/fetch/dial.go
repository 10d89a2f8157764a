package fetch

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"org-agent/kernel/protocol"
)

// Resolver resolves names, as [net.Resolver] does.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// dialTimeout is how long connecting to one of a host's addresses may take.
const dialTimeout = 10 * time.Second

// addresses returns the addresses of a host. If any of them is refused, the host is refused: a
// public server has no address inside a private network.
func (f *Fetcher) addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if literal, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{literal}, f.judge(literal)
	}
	// The dot keeps the resolver from trying the name below the domains of this network.
	found, err := f.resolver.LookupNetIP(ctx, "ip", host+".")
	if err == nil && len(found) == 0 {
		err = errors.New("it has no address")
	}
	if err != nil {
		var unknown *net.DNSError
		if errors.As(err, &unknown) && unknown.IsNotFound {
			return nil, &unresolved{protocol.ToolErrorf(protocol.ToolNotFound, "there is no host %s: look whether it is spelt right", host)}
		}
		return nil, &unresolved{fmt.Errorf("ask for the address of %s: %w", host, err)}
	}
	for _, address := range found {
		if err := f.judge(address); err != nil {
			return nil, fmt.Errorf("the host %s is not asked: %w", host, err)
		}
	}
	return found, nil
}

// unresolved is the error for a name without a known address.
type unresolved struct{ error }

func (u *unresolved) Unwrap() error { return u.error }

// dial connects to one of a host's judged addresses. It resolves the name itself, so that exactly
// the judged address is used.
func (f *Fetcher) dial(ctx context.Context, network, hostPort string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, err
	}
	all, err := f.addresses(ctx, host)
	if err != nil {
		return nil, err
	}
	var failed error
	for _, address := range all {
		dialer := net.Dialer{Timeout: dialTimeout, KeepAlive: -1}
		connection, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(address.Unmap().String(), port))
		if err == nil {
			return connection, nil
		}
		failed = err
	}
	return nil, failed
}

// Dial connects to a port of a host for a program that speaks for itself. The addresses that are not
// fetched are not connected to either. If the person's proxy is used, it is asked to connect.
func (f *Fetcher) Dial(ctx context.Context, _, hostPort string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, protocol.ToolErrorf(protocol.ToolArguments, "%q names no host and port", hostPort)
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	u := &url.URL{Scheme: "https", Host: net.JoinHostPort(host, port), Path: "/"}
	if port == "80" {
		u.Scheme = "http"
	}
	if _, refused := f.redirect(u.String()); refused {
		return nil, protocol.ToolErrorf(protocol.ToolRefused, "the rules refuse %s", host)
	}
	proxy, err := f.proxy(u)
	if err != nil {
		return nil, fmt.Errorf("ask for the proxy for %s: %w", host, err)
	}
	limited, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	if proxy == nil {
		return f.dial(limited, "tcp", net.JoinHostPort(host, port))
	}
	if err := f.judgeName(limited, host); err != nil {
		return nil, err
	}
	return through(limited, proxy, net.JoinHostPort(host, port))
}

// through has a proxy for HTTP connect to a host.
func through(ctx context.Context, proxy *url.URL, hostPort string) (net.Conn, error) {
	if proxy.Scheme != "http" && proxy.Scheme != "https" {
		return nil, protocol.ToolErrorf(protocol.ToolUnfit, "the proxy %s is none for HTTP, through which programs connect", proxy.Redacted())
	}
	port := proxy.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[proxy.Scheme]
	}
	dialer := net.Dialer{Timeout: dialTimeout}
	connection, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(proxy.Hostname(), port))
	if err != nil {
		return nil, fmt.Errorf("connect to the proxy: %w", err)
	}
	if proxy.Scheme == "https" {
		connection = tls.Client(connection, &tls.Config{ServerName: proxy.Hostname()})
	}
	if deadline, ok := ctx.Deadline(); ok {
		_ = connection.SetDeadline(deadline) // without one the context still closes it
	}
	stop := context.AfterFunc(ctx, func() { connection.Close() })
	defer stop()
	request := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: hostPort}, Host: hostPort, Header: http.Header{}}
	if user := proxy.User; user != nil {
		password, _ := user.Password()
		request.SetBasicAuth(user.Username(), password)
		request.Header.Set("Proxy-Authorization", request.Header.Get("Authorization"))
		request.Header.Del("Authorization")
	}
	reader := bufio.NewReaderSize(connection, 1)
	err = request.Write(connection)
	var response *http.Response
	if err == nil {
		response, err = http.ReadResponse(reader, request)
	}
	if err == nil && response.StatusCode != http.StatusOK {
		err = protocol.ToolErrorf(protocol.ToolFailed, "the proxy answers %d %s", response.StatusCode, http.StatusText(response.StatusCode))
	}
	if err == nil {
		err = connection.SetDeadline(time.Time{})
	}
	if err != nil {
		connection.Close()
		return nil, fmt.Errorf("connect through the proxy: %w", err)
	}
	return &ahead{Conn: connection, reader: reader}, nil
}

// ahead is a connection of which something was read ahead.
type ahead struct {
	net.Conn
	reader *bufio.Reader
}

func (a *ahead) Read(b []byte) (int, error) { return a.reader.Read(b) }
