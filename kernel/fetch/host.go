package fetch

import (
	"errors"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/idna"

	"org-agent/kernel/protocol"
)

// addressLimit is the maximum length of an address in bytes.
const addressLimit = 4 << 10

// localDomains are top-level names that only networks around this machine use.
var localDomains = []string{"localhost", "localdomain", "local", "internal", "intranet", "private", "corp", "home", "lan", "arpa", "onion", "alt"}

// canonical reads an address as browsers do and returns its canonical spelling: the host in lower
// case and ASCII, a numeric host as an address, without a default port, and without the fragment,
// which servers do not get.
func canonical(text string) (*url.URL, error) {
	text = strings.TrimSpace(text)
	if len(text) > addressLimit {
		return nil, protocol.ToolErrorf(protocol.ToolArguments, "the address has %d bytes, more than %d", len(text), addressLimit)
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, protocol.ToolErrorf(protocol.ToolArguments, "this is no address as https://example.org/page: correct its spelling")
	}
	switch {
	case u.Scheme == "" || u.Opaque != "":
		return nil, protocol.ToolErrorf(protocol.ToolArguments, "an address begins with https:// or http://: write it whole")
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, protocol.ToolErrorf(protocol.ToolArguments, "only https:// and http:// are asked, no address of the kind %s", u.Scheme)
	case u.User != nil:
		return nil, protocol.ToolErrorf(protocol.ToolArguments, "an address has no name and no password in it: leave out what stands before the @")
	}
	name, err := hostName(u.Hostname())
	if err != nil {
		return nil, err
	}
	port, err := portOf(u)
	if err != nil {
		return nil, err
	}
	u.Host = name + port
	if strings.Contains(name, ":") {
		u.Host = "[" + name + "]" + port
	}
	if u.Path == "" {
		u.Path = "/"
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// portOf returns the port with its colon, or "" for the scheme's default. It refuses other ports
// below 1024: they belong to other services, which could take the request for something else.
func portOf(u *url.URL) (string, error) {
	port := u.Port()
	if port == "" || u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		return "", nil
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n < 1024 && n != 80 && n != 443 {
		return "", protocol.ToolErrorf(protocol.ToolRefused, "port %s is no port of the web: those are 80, 443 and what is above 1023", port)
	}
	return ":" + strconv.FormatUint(n, 10), nil
}

// hostName returns the canonical spelling of a host. It refuses names of networks around this
// machine.
func hostName(host string) (string, error) {
	if address, err := netip.ParseAddr(host); err == nil {
		return address.Unmap().String(), nil
	}
	if strings.Contains(host, ":") || host == "" {
		return "", protocol.ToolErrorf(protocol.ToolArguments, "the address has no host: write it as https://example.org/page")
	}
	name, err := idna.Lookup.ToASCII(host)
	if err != nil {
		// Names with an underscore are in use, although idna refuses them.
		if name = strings.ToLower(host); strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" {
			return "", protocol.ToolErrorf(protocol.ToolArguments, "%q is no name of a host", host)
		}
	}
	name = strings.TrimSuffix(name, ".")
	if address, is, err := number(name); err != nil {
		return "", err
	} else if is {
		return address.String(), nil
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	for _, part := range localDomains {
		if last == part {
			return "", protocol.ToolErrorf(protocol.ToolRefused, "%s is a name inside a network, not one in the internet: only servers in the internet are asked", name)
		}
	}
	if last == name || strings.Contains(name, "..") || strings.HasPrefix(name, ".") {
		return "", protocol.ToolErrorf(protocol.ToolArguments, "%q is no name in the internet: write it whole, as example.org", name)
	}
	return name, nil
}

// number reads the spellings of an IPv4 address that browsers and resolvers accept: one to four
// numbers, each decimal, octal or hexadecimal, of which the last fills the remaining bytes. is is
// false for a name. A name that ends in a number and is not an address is an error, because
// resolvers read such names differently.
func number(name string) (address netip.Addr, is bool, err error) {
	parts := strings.Split(name, ".")
	if _, ok := digits(parts[len(parts)-1]); !ok {
		return netip.Addr{}, false, nil
	}
	wrong := protocol.ToolErrorf(protocol.ToolArguments, "%q is neither a name nor an address", name)
	if len(parts) > 4 {
		return netip.Addr{}, true, wrong
	}
	var whole uint64
	for i, part := range parts {
		n, ok := digits(part)
		room := uint64(1) << 8
		if i == len(parts)-1 {
			room = 1 << (8 * (5 - len(parts)))
		}
		if !ok || n >= room {
			return netip.Addr{}, true, wrong
		}
		whole = whole*room + n
	}
	return netip.AddrFrom4([4]byte{byte(whole >> 24), byte(whole >> 16), byte(whole >> 8), byte(whole)}), true, nil
}

// digits reads one number of such an address. A number that is too large becomes one that is surely
// too large.
func digits(part string) (n uint64, ok bool) {
	base, rest := 10, part
	switch {
	case strings.HasPrefix(part, "0x"):
		base, rest = 16, part[2:]
	case len(part) > 1 && part[0] == '0':
		base, rest = 8, part[1:]
	case part == "":
		return 0, false
	}
	if rest == "" {
		return 0, true // 0x is 0
	}
	n, err := strconv.ParseUint(rest, base, 64)
	if errors.Is(err, strconv.ErrRange) || err != nil && strings.Trim(part, "0123456789") == "" {
		return 1 << 62, true // also for 09, which is not an octal number but consists of digits
	}
	return n, err == nil
}
