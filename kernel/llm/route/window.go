package route

import (
	"context"

	"org-agent/kernel/llm"
)

func (r *routes) window(ctx context.Context, name string, ask bool) llm.Window {
	if name != "" {
		endpoint, model, err := r.find(name)
		if err != nil {
			return llm.Window{}
		}
		return r.windowOf(ctx, endpoint, model, ask)
	}
	var least llm.Window
	for _, e := range r.endpoints {
		if !e.standard {
			continue
		}
		if w := r.windowOf(ctx, e, "", ask); least.Tokens == 0 || w.Tokens > 0 && w.Tokens < least.Tokens {
			least = w
		}
	}
	return least
}

func (r *routes) windowOf(ctx context.Context, e endpoint, model string, ask bool) llm.Window {
	if e.server == nil {
		return llm.Window{Tokens: llm.AssumedWindow, Source: "the built-in guide", NoModel: true}
	}
	return e.server.window(ctx, model, ask && r.mayAsk(e.server))
}
