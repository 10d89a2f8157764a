package route

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
	"sync"

	"org-agent/kernel/llm/transport"
	"org-agent/kernel/protocol"
)

// consent is a person's agreement that their words go to a host that was found rather than
// configured. It is asked for once for each host. The file path stores the hosts that the person
// agreed to, one on each line. The zero value needs no agreement.
type consent struct {
	path string

	mu   sync.Mutex
	host string // the host that needs agreement, or ""
}

// require makes a host need agreement, unless it is this machine or the person agreed to it before.
func (c *consent) require(host string) error {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	if transport.Loopback(strings.Trim(name, "[]")) {
		return nil
	}
	given, err := os.ReadFile(c.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look up what was agreed to: %w", err)
	}
	if slices.Contains(strings.Fields(string(given)), host) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.host = host
	return nil
}

// needed returns the host that needs agreement, or "".
func (c *consent) needed() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.host
}

// check fails while a host needs agreement. agreed is the host that the person agrees to now, or
// "".
func (c *consent) check(agreed string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.host == "" {
		return nil
	}
	if agreed != c.host {
		return protocol.Errorf(protocol.CodeConsent,
			"your words would go to %s, which was found and not chosen: agree to that, or name a model in config.org", c.host)
	}
	f, err := os.OpenFile(c.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(f, c.host)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return protocol.Errorf(protocol.CodeStorage, "keep what you agreed to: %w", err)
	}
	c.host = ""
	return nil
}
