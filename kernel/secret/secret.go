// Package secret defines the type of keys and tokens, which must not be shown.
package secret

import (
	"encoding/base64"
	"encoding/hex"
	"log/slog"
	"net/url"
	"strings"
)

// Redacted is shown in place of a secret.
const Redacted = "REDACTED"

// Text is a secret. Printing, encoding and logging it gives [Redacted]. Only Reveal returns it.
type Text string

// Reveal returns the secret itself, for code that sends or compares it.
func (s Text) Reveal() string { return string(s) }

// String returns [Redacted], or "" if there is no secret.
func (s Text) String() string {
	if s == "" {
		return ""
	}
	return Redacted
}

// GoString returns the same as String, so that %#v shows no more.
func (s Text) GoString() string { return s.String() }

// LogValue returns what slog prints.
func (s Text) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText returns the same as String, for encoders, including those of JSON.
func (s Text) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// shortest is the minimum length of a secret for which Hide also looks for other spellings. The
// spellings of a shorter secret could occur in any text.
const shortest = 8

// Hide replaces the secret by [Redacted] in a text by somebody who knew the secret. It finds the
// secret as it is, in an address, in hexadecimal digits and in base64, whatever is around it.
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
		for before := range 3 { // how many bytes before it are in its group of three
			coded := encoding.EncodeToString([]byte(strings.Repeat("x", before) + plain))
			// The first and last characters can contain bits of the text around it.
			all = append(all, coded[(before*8+5)/6:(before+len(plain))*8/6])
		}
	}
	return all
}
