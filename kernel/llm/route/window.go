package route

import (
	"cmp"
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

// servedWindow returns the window that the server of the model with this name says, asked afresh; for "" the smallest
// of the standard models. It is 0 if no server tells.
func (r *routes) servedWindow(ctx context.Context, name string) int {
	if name != "" {
		endpoint, model, err := r.find(name)
		if err != nil {
			return 0
		}
		return r.servedWindowOf(ctx, endpoint, model)
	}
	least := 0
	for _, e := range r.endpoints {
		if !e.standard {
			continue
		}
		if tokens := r.servedWindowOf(ctx, e, ""); least == 0 || tokens > 0 && tokens < least {
			least = tokens
		}
	}
	return least
}

func (r *routes) servedWindowOf(ctx context.Context, e endpoint, model string) int {
	if e.server == nil || !r.mayAsk(e.server) {
		return 0
	}
	model = cmp.Or(model, e.server.choice.Model.Model)
	e.server.forgetWindow(model)
	return e.server.askWindow(ctx, model, true)
}

func (r *routes) windowOf(ctx context.Context, e endpoint, model string, ask bool) llm.Window {
	if e.server == nil {
		return llm.Window{Tokens: llm.AssumedWindow, Source: "the built-in guide", NoModel: true}
	}
	return e.server.window(ctx, model, ask && r.mayAsk(e.server))
}
