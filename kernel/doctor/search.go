package doctor

import (
	"context"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/secret"
	"org-agent/kernel/websearch"
)

// searchTime is how long the search server may take. Its key may take longer, because a person may
// have to type a passphrase; the limit of the whole check applies to that.
const searchTime = 10 * time.Second

// search checks whether the search server of config.org answers a question.
func search(ctx context.Context, c Config) []Finding {
	loaded, err := config.Load(c.Paths)
	if err != nil {
		return nil // the check settings reports it
	}
	if loaded.Search == nil {
		return []Finding{ok("no search server is named below \"Web\" in config.org: the web is not searched")}
	}
	s := &websearch.Server{Kind: websearch.Kind(loaded.Search.Kind), BaseURL: loaded.Search.BaseURL, Timeout: searchTime}
	if loaded.Search.Key != (config.KeySource{}) {
		s.Key = func(ctx context.Context, _ secret.Text) (secret.Text, error) {
			return loaded.Search.Key.Resolve(ctx, c.Env)
		}
	}
	results, err := s.Search(ctx, "Org mode", 1)
	switch {
	case err != nil:
		return []Finding{fail("check the heading Search in config.org, and the server", "the web cannot be searched: %v", err)}
	case len(results) == 0:
		return []Finding{warn("check whether any search engine is configured on it", "the search server %s answers, and finds nothing for \"Org mode\"", s.BaseURL)}
	}
	return []Finding{ok("the search server %s answers", s.BaseURL)}
}
