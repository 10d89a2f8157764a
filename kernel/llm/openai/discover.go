package openai

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"time"

	"org-agent/kernel/llm"
)

// discoverTime is how long Discover takes at most.
const discoverTime = 300 * time.Millisecond

// Place is where a model server may be listening.
type Place struct {
	Name, BaseURL string
}

// LocalPlaces are where Ollama and llama.cpp listen when nobody said otherwise.
func LocalPlaces() []Place {
	return []Place{
		{Name: "ollama", BaseURL: "http://127.0.0.1:11434/v1"},
		{Name: "llama.cpp", BaseURL: "http://127.0.0.1:8080/v1"},
	}
}

// Discover asks the places at once and returns those where a server lists at
// least one model, in the order of the places. It takes 300 ms at most, asks
// this machine only (a place elsewhere is left out), and uses no proxy.
func Discover(ctx context.Context, places []Place) []llm.FoundServer {
	ctx, cancel := context.WithTimeout(ctx, discoverTime)
	defer cancel()
	client := newClient()
	client.Transport = &http.Transport{DisableKeepAlives: true}
	answers := make([][]string, len(places))
	var asking sync.WaitGroup
	for i, place := range places {
		address, err := url.Parse(place.BaseURL)
		if err != nil || !loopback(address.Hostname()) {
			continue
		}
		provider, err := New(Config{Name: place.Name, BaseURL: place.BaseURL, HTTPClient: client})
		if err != nil {
			continue
		}
		asking.Go(func() {
			// Nobody there is the usual case, and no error.
			answers[i], _ = provider.Models(ctx)
		})
	}
	asking.Wait()
	var found []llm.FoundServer
	for i, models := range answers {
		if len(models) > 0 {
			found = append(found, llm.FoundServer{Name: places[i].Name, BaseURL: places[i].BaseURL, Models: models})
		}
	}
	return found
}
