package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
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
