package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"
)

// Extras is what a server wants beside a key and the name of a model.
type Extras struct {
	Headers []Header
	Query   string         // behind the ? of every address
	Body    map[string]any // fields of every request
}

// Header is a header that is sent with every request to a server. Its value is Text, or what Source has.
type Header struct {
	Name   string
	Text   string
	Source KeySource
}

// headersLimit is how many headers one server may have.
const headersLimit = 32

// setHeader adds a header that is written as "NAME: VALUE". The value is a text, or where a secret is, in
// the form of an API_KEY. The error does not repeat the value.
func setHeader(to *[]Header, written string) error {
	name, value, found := strings.Cut(written, ":")
	h := Header{Name: http.CanonicalHeaderKey(strings.TrimSpace(name)), Text: strings.TrimSpace(value)}
	switch {
	case !found || h.Text == "" || !token(h.Name) || strings.ContainsFunc(h.Text, unicode.IsControl):
		return errors.New("a header is written as NAME: VALUE")
	case h.Name == "Host" || h.Name == "Content-Length" || h.Name == "Content-Type" || h.Name == "Transfer-Encoding":
		return fmt.Errorf("the header %s is the program's own", h.Name)
	case len(*to) == headersLimit:
		return fmt.Errorf("a server has at most %d headers", headersLimit)
	}
	for _, kind := range []string{"env:", "command:", "auth-source:"} {
		if !strings.HasPrefix(h.Text, kind) {
			continue
		}
		source, err := parseKeySource(h.Text)
		if err != nil {
			return err
		}
		h.Text, h.Source = "", source
	}
	*to = append(*to, h)
	return nil
}

// token reports whether a text can be the name of a header: see RFC 9110, section 5.6.2.
func token(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || strings.ContainsRune("\"(),/:;<=>?@[\\]{}", c)
	})
}

// setQuery reads what stands behind the ? of every address of a server, such as "api-version=2024-10-21".
func setQuery(to *string, written string) error {
	written = strings.TrimPrefix(written, "?")
	if values, err := url.ParseQuery(written); err != nil || len(values) == 0 {
		return errors.New("a query is written as NAME=VALUE, with & between several")
	}
	*to = written
	return nil
}

// ownFields are the fields of a request that are not the person's to set here.
var ownFields = []string{"messages", "tools", "stream", "model"}

// setBody reads fields of the body of every request, as a JSON object.
func setBody(to *map[string]any, written string) error {
	var fields map[string]any
	if err := json.Unmarshal([]byte(written), &fields); err != nil || fields == nil {
		return errors.New(`the fields are a JSON object, such as {"top_p": 0.9}`)
	}
	for _, own := range ownFields {
		if _, there := fields[own]; there {
			return fmt.Errorf("the field %q is the program's own", own)
		}
	}
	*to = fields
	return nil
}

// checkEffort accepts any word. Servers have words of their own, and models take only some of them.
func checkEffort(value string) error {
	if value == "" || len(value) > 40 || strings.ContainsFunc(value, func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' }) {
		return fmt.Errorf("%q is no effort: it is a word that the server knows, such as none, low, medium, high or max", value)
	}
	return nil
}
