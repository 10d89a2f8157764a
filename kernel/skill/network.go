package skill

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"org-agent/kernel/fetch"
	"org-agent/kernel/lisp"
	"org-agent/kernel/secret"
)

// Network asks servers for notes. What may be asked is in the exchange.
type Network interface {
	Exchange(ctx context.Context, x fetch.Exchange) (fetch.Response, error)
}

// mayAsk reports whether the note may ask servers in the call. What is asked has an effect outside, so that
// it is asked when the note is to do something, and not when it is only looked at.
func (p purpose) mayAsk() bool {
	return p == purposeNeuro || p == purposeAction || p == purposeTool || p == purposeTyped
}

// server interprets a capability net:WHAT.
func (g *Grants) server(what string) Capability {
	c := Capability{Word: "net:" + what, kind: "net", what: what}
	server, err := fetch.ParseServer(what)
	if err != nil {
		c.Refused = err.Error()
		return c
	}
	c.what, c.server = server.String(), server
	c.Meaning = "ask the server " + strings.TrimPrefix(c.what, "http://")
	if strings.Contains(c.what, "*.") {
		c.Meaning = "ask the servers " + strings.TrimPrefix(c.what, "http://")
	}
	c.Meaning += " over the network, and send it what the note reads and is told"
	if !server.Encrypted() {
		c.Meaning += ", without encryption: others on the way can read and change all of it"
	}
	c.Name = "net:" + c.what
	return c
}

// askServer asks a server for the note's Lisp. Each address, also of a redirect, must be of a server that is
// granted at that moment.
func (n *Note) askServer(ctx context.Context, reason any, request lisp.ServerRequest) (lisp.ServerAnswer, error) {
	g, o, c := n.options.Grants, invocationOf(reason), n.consent
	if o.answers != nil {
		return o.answers.next(request)
	}
	if g == nil {
		g = noGrants()
	}
	if why := g.withheldServers(&c); why != nil {
		o.withheld = true
		return lisp.ServerAnswer{}, why(n.File)
	}
	switch {
	case o.purpose == purposeTest:
		return lisp.ServerAnswer{}, fmt.Errorf("the test has no answer for %s %s: tests ask no servers, and (with-answers ((ADDRESS BODY)) …) says what one answers", request.Method, request.Address)
	case !o.purpose.mayAsk():
		return lisp.ServerAnswer{}, fmt.Errorf("a server was to be asked by %s; a note asks one in a skill's neuro function, in a tool or in an action", o.purpose)
	case o.dry || g.config.Network == nil:
		return lisp.ServerAnswer{}, errors.New("no server is asked here")
	}
	if name := g.secretIn(request); name != "" {
		return lisp.ServerAnswer{}, fmt.Errorf("this is not sent: %s is in it, and no note sends that", name)
	}
	header := http.Header{}
	for _, h := range request.Header {
		header[h[0]] = append(header[h[0]], h[1])
	}
	response, err := g.config.Network.Exchange(ctx, fetch.Exchange{
		Method: request.Method, Address: request.Address, Header: header, Body: request.Body,
		Redirects: request.Redirects, Timeout: request.Timeout,
		Allowed: func(address *url.URL) error { return g.allowServer(&c, n.File, address) },
	})
	if err != nil {
		return lisp.ServerAnswer{}, err
	}
	answer := lisp.ServerAnswer{Address: response.Address, Status: response.Status, Body: response.Body, Text: response.Text, IsText: response.IsText}
	for _, name := range slices.Sorted(maps.Keys(response.Header)) {
		answer.Header = append(answer.Header, [2]string{name, strings.Join(response.Header[name], ", ")})
	}
	return answer, nil
}

// withheldServers returns nil if servers are granted, or what makes the error for the note in a file.
func (g *Grants) withheldServers(c *consent) func(file string) error {
	var words, refused []string
	for _, capability := range c.capabilities {
		switch {
		case capability.kind != "net":
		case capability.Refused != "":
			refused = append(refused, encodeName(capability.Word, false)+" is not for notes: "+capability.Refused)
		default:
			words = append(words, encodeName(capability.Word, false))
		}
	}
	why := c.why
	if c.granted {
		why, _ = g.withheldReason(c)
	}
	switch {
	case len(words) == 0:
		return func(string) error { return &withheldError{strings.Join(refused, "; ")} }
	case why != "":
		return func(file string) error {
			return &withheldError{fmt.Sprintf("%s is not granted (%s); %s", strings.Join(words, " "), why, howToGrant(file))}
		}
	}
	return nil
}

// allowServer decides about one address.
func (g *Grants) allowServer(c *consent, file string, address *url.URL) error {
	if why := g.withheldServers(c); why != nil {
		return why(file)
	}
	for _, capability := range c.capabilities {
		if capability.kind == "net" && capability.Refused == "" && capability.server.Covers(address) {
			return nil
		}
	}
	asked := address.Host
	if address.Scheme == "http" {
		asked = "http://" + asked
	}
	return &withheldError{fmt.Sprintf("%s is not one of the servers that were granted: ask for net:%s in the note's #+CAPABILITIES line", asked, asked)}
}

// privateKey is the first line of a private key.
var privateKey = regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY( BLOCK)?-----`)

// shortestSecret is how long the value of a variable is at least to be a secret.
const shortestSecret = 12

// secretIn returns which secret a request has in its address, its headers or its body, in any usual
// spelling, or "" for none.
func (g *Grants) secretIn(request lisp.ServerRequest) string {
	var all strings.Builder
	all.WriteString(request.Address)
	for _, h := range request.Header {
		all.WriteString("\n" + h[0] + "\n" + h[1])
	}
	all.WriteByte('\n')
	all.Write(request.Body)
	text := all.String()
	if privateKey.MatchString(text) {
		return "a private key"
	}
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		if len(value) < shortestSecret || g.refuseVariable(name) == "" || !variableName.MatchString(name) {
			continue
		}
		if secret.Text(value).Hide(text) != text {
			return "the value of " + name
		}
	}
	return ""
}
