package route

import (
	"context"

	"org-agent/kernel/config"
	"org-agent/kernel/llm"
)

// Try asks a model that no settings have, and no other: of the environment it has only the variable of
// the model's key. c needs no Settings, Consent and Builtin.
func Try(ctx context.Context, c Config, model config.Model, request llm.Request) (llm.Reply, error) {
	env := c.Env
	c.Settings = config.Settings{Models: []config.Model{model}}
	c.Env = func(name string) string {
		if name == model.Key.Env {
			return env(name)
		}
		return ""
	}
	router, err := New(ctx, c)
	if err != nil {
		return llm.Reply{}, err
	}
	return llm.Collect(router.Stream(ctx, request))
}
