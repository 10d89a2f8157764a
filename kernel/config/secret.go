package config

import "log/slog"

// redacted stands wherever a secret would have been printed.
const redacted = "REDACTED"

// Secret is text that must not be shown. Whatever prints, logs or encodes it
// gets REDACTED; a conversion to string is the only way to it.
type Secret string

// String is REDACTED, or empty when there is no secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return redacted
}

// GoString is String, so that %#v shows no more.
func (s Secret) GoString() string { return s.String() }

// LogValue is what slog prints.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText is what encoders write.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
