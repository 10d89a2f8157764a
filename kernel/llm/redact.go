package llm

import (
	"net/url"

	"org-agent/kernel/secret"
)

// RedactURL returns an address that may be shown: without user, password, query and fragment, any
// of which may contain a key. For a text that is not an address it returns REDACTED.
func RedactURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return secret.Redacted
	}
	u.User, u.RawQuery, u.Fragment, u.RawFragment, u.ForceQuery = nil, "", "", "", false
	return u.String()
}
