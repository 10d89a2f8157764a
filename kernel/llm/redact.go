package llm

import (
	"net/url"

	"org-agent/kernel/secret"
)

// RedactURL returns an address fit for showing: without user, password, query
// and fragment, any of which may hold a key. What is no address is not shown.
func RedactURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return secret.Redacted
	}
	u.User, u.RawQuery, u.Fragment, u.RawFragment, u.ForceQuery = nil, "", "", "", false
	return u.String()
}
