package fetch

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"golang.org/x/net/publicsuffix"
)

// Server is a server, or all servers below a domain, that somebody may ask. The zero value is none.
type Server struct {
	scheme string // https or http
	host   string // in lower case and ASCII, without a dot at the end
	port   string // with its colon, or "" for the scheme's own
	below  bool   // the servers below the host, and not the host
}

// ParseServer reads HOST, HOST:PORT, *.HOST or *.HOST:PORT, which is asked by https. What begins with
// http:// is asked without encryption. A host is a name in the internet: an address in any spelling is
// refused, and so is a name of a network around this machine. *.HOST is refused if anybody can have a name
// below HOST.
func ParseServer(text string) (Server, error) {
	scheme, rest := "https", text
	if before, after, found := strings.Cut(text, "://"); found {
		scheme, rest = strings.ToLower(before), after
	}
	if scheme != "https" && scheme != "http" {
		return Server{}, fmt.Errorf("only servers of the web are asked, by https:// or http://, and not by %.20q", scheme)
	}
	if strings.ContainsAny(rest, "/?#@\\%[] \t") {
		return Server{}, errors.New("a server is named as HOST or HOST:PORT, without a path, a user or anything else")
	}
	host, below := strings.CutPrefix(rest, "*.")
	if strings.Contains(host, "*") {
		return Server{}, errors.New("a * stands only at the beginning, as in *.example.org")
	}
	u, err := canonical(scheme + "://" + host)
	if err != nil {
		return Server{}, err
	}
	s := Server{scheme: scheme, host: u.Hostname(), below: below}
	if _, err := netip.ParseAddr(s.host); err == nil {
		return Server{}, errors.New("a server is named by its name, and not by an address")
	}
	if port := u.Port(); port != "" {
		s.port = ":" + port
	}
	if suffix, _ := publicsuffix.PublicSuffix(s.host); below && suffix == s.host {
		return Server{}, fmt.Errorf("anybody can have a server below %s: name the servers", s.host)
	}
	return s, nil
}

// String returns the canonical spelling, which [ParseServer] reads.
func (s Server) String() string {
	text := s.host + s.port
	if s.below {
		text = "*." + text
	}
	if s.scheme == "http" {
		text = "http://" + text
	}
	return text
}

// Encrypted reports whether nobody between here and the server reads what is sent.
func (s Server) Encrypted() bool { return s.scheme == "https" }

// Covers reports whether an address in its canonical spelling is of the server.
func (s Server) Covers(address *url.URL) bool {
	if s.host == "" || address.Scheme != s.scheme {
		return false
	}
	port := address.Port()
	if port != "" {
		port = ":" + port
	}
	host := address.Hostname()
	return port == s.port && (!s.below && host == s.host || s.below && strings.HasSuffix(host, "."+s.host))
}
