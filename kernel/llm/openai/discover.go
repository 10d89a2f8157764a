package openai

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"time"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/transport"
)

// discoverTime is the maximum time that Discover takes.
const discoverTime = 300 * time.Millisecond

// Endpoint is an address at which a model server may listen.
type Endpoint struct {
	Name, BaseURL string
}

// LocalEndpoints returns the endpoints at which the usual servers listen by default.
func LocalEndpoints() []Endpoint {
	return []Endpoint{
		{Name: "ollama", BaseURL: "http://127.0.0.1:11434/v1"},
		{Name: "llama.cpp", BaseURL: "http://127.0.0.1:8080/v1"},
		{Name: "LM Studio", BaseURL: "http://127.0.0.1:1234/v1"},
		{Name: "vLLM", BaseURL: "http://127.0.0.1:8000/v1"},
	}
}

// Discover asks the endpoints at once and returns those whose server lists at least one model, in
// the order of the endpoints. It takes 300 ms at most. It asks this machine only and skips
// endpoints elsewhere. It uses no proxy.
func Discover(ctx context.Context, endpoints []Endpoint) []llm.FoundServer {
	ctx, cancel := context.WithTimeout(ctx, discoverTime)
	defer cancel()
	client := transport.NewClient()
	client.Transport = &http.Transport{DisableKeepAlives: true}
	answers := make([][]string, len(endpoints))
	var asking sync.WaitGroup
	for i, endpoint := range endpoints {
		address, err := url.Parse(endpoint.BaseURL)
		if err != nil || !transport.Loopback(address.Hostname()) {
			continue
		}
		provider, err := NewWith(llm.ServerConfig{Name: endpoint.Name, BaseURL: endpoint.BaseURL}, client)
		if err != nil {
			continue
		}
		asking.Go(func() {
			// Usually no server runs there, which is no error.
			answers[i], _ = provider.Models(ctx)
		})
	}
	asking.Wait()
	var found []llm.FoundServer
	for i, models := range answers {
		if len(models) > 0 {
			found = append(found, llm.FoundServer{Name: endpoints[i].Name, BaseURL: endpoints[i].BaseURL, Models: models})
		}
	}
	return found
}
