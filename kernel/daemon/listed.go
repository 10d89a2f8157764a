package daemon

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"org-agent/kernel/nearest"
	"org-agent/kernel/protocol"
)

// How long a message waits to learn which models a server has, and how long that is
// believed.
const (
	listedPatience = 2 * time.Second
	listedTime     = time.Minute
)

// listed is which models a server said it has, and when it was asked.
type listed struct {
	mu    sync.Mutex
	names []string
	asked time.Time
}

// known is the names of the server's models, none if it does not tell.
func (s *server) known(ctx context.Context) []string {
	s.listed.mu.Lock()
	defer s.listed.mu.Unlock()
	if s.listed.asked.IsZero() || time.Since(s.listed.asked) > listedTime {
		ctx, cancel := context.WithTimeout(ctx, listedPatience)
		defer cancel()
		s.listed.names, _ = s.models(ctx) // one that does not tell is asked by the message itself
		s.listed.asked = time.Now()
	}
	return s.listed.names
}

// checkModel says that there is no model of that name, and which was probably meant. Where
// the server that would be asked does not say what it has, any name may be one.
func (d *daemon) checkModel(ctx context.Context, name string) error {
	place, model, err := d.models.find(name)
	if err != nil || model == "" || place.server == nil {
		return err
	}
	if place.server.choice.Found && d.consent.needed() != "" || model == place.server.choice.Model.Model {
		return nil
	}
	has := place.server.known(ctx)
	base, _, _ := strings.Cut(model, ":") // a variant of one that is listed
	if len(has) == 0 || slices.ContainsFunc(has, func(h string) bool { return h == model || h == model+":latest" || h == base }) {
		return nil
	}
	names := d.models.names()
	for _, h := range has {
		if model != name { // it was asked for with the place's name
			h = place.name + ":" + h
		}
		names = append(names, h)
	}
	if near := nearest.Of(name, names); near != "" {
		return protocol.Errorf(protocol.CodeNotFound, "there is no model %q: did you mean %q?", name, near)
	}
	return protocol.Errorf(protocol.CodeNotFound, "there is no model %q: M-x org-agent-model lists those that there are", name)
}

// names are those of the places: of the models that are set there.
func (m *models) names() []string {
	var names []string
	for _, p := range m.places {
		names = append(names, p.name)
	}
	return names
}
