package llm

import (
	"encoding/json"
	"log/slog"
	"net/url"
)

// redacted stands wherever a secret would have been printed.
const redacted = "REDACTED"

// Secret is text that must not be shown: a key, a token. Whatever prints it,
// encodes it or logs it gets REDACTED; only Reveal gives it away.
type Secret string

// Reveal returns the secret itself, for the one place that sends it.
func (s Secret) Reveal() string { return string(s) }

// String returns REDACTED, or nothing when there is no secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return redacted
}

// GoString is String, so that %#v keeps the secret too.
func (s Secret) GoString() string { return s.String() }

// LogValue is what slog prints.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText is what encoders of text write.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// MarshalJSON is what encoding/json writes.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// RedactURL returns an address fit for showing: without user, password, query
// and fragment, any of which may hold a key. What is no address is not shown.
func RedactURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return redacted
	}
	u.User, u.RawQuery, u.Fragment, u.RawFragment, u.ForceQuery = nil, "", "", "", false
	return u.String()
}
