// Package secret has the type of what must not be shown: a key, a token.
package secret

import (
	"encoding/base64"
	"encoding/hex"
	"log/slog"
	"net/url"
	"strings"
)

// Redacted stands wherever a secret would have been shown.
const Redacted = "REDACTED"

// Text is a secret. Whatever prints it, encodes it or logs it gets Redacted; only Reveal
// gives it away.
type Text string

// Reveal returns the secret itself, for the one place that sends or compares it.
func (s Text) Reveal() string { return string(s) }

// String returns Redacted, or nothing when there is no secret.
func (s Text) String() string {
	if s == "" {
		return ""
	}
	return Redacted
}

// GoString is String, so that %#v shows no more.
func (s Text) GoString() string { return s.String() }

// LogValue is what slog prints.
func (s Text) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText is what encoders write, that of JSON too.
func (s Text) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// shortest is how long a secret is at least that is looked for in other spellings: of a shorter
// one these could stand in any text.
const shortest = 8

// Hide is a text, of whoever was told the secret, with [Redacted] wherever the secret stands in
// it: as it is, as part of an address, in hexadecimal digits or in base64, whatever stands
// around it.
func (s Text) Hide(text string) string {
	for _, spelling := range s.spellings() {
		text = strings.ReplaceAll(text, spelling, Redacted)
	}
	return text
}

func (s Text) spellings() []string {
	if s == "" {
		return nil
	}
	plain := string(s)
	all := []string{plain}
	if len(plain) < shortest {
		return all
	}
	digits := hex.EncodeToString([]byte(plain))
	all = append(all, url.QueryEscape(plain), url.PathEscape(plain), strings.ReplaceAll(plain, "/", `\/`), digits, strings.ToUpper(digits))
	for _, encoding := range [...]*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 { // bytes that a group of three begins with
			coded := encoding.EncodeToString([]byte(strings.Repeat("x", before) + plain))
			// Its first and last characters may have bits of what stands around it.
			all = append(all, coded[(before*8+5)/6:(before+len(plain))*8/6])
		}
	}
	return all
}
