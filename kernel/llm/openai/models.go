package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/transport"
)

// modelsLimit is how much of a list of models is read, in bytes. The longest known list, a router's
// with all details, is below one MiB.
const modelsLimit = 8 << 20

// Models returns the names of the models that the server lists, sorted.
func (p *Provider) Models(ctx context.Context) ([]string, error) {
	list, err := p.list(ctx)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(list))
	for i, model := range list {
		names[i] = model.ID
	}
	return transport.ModelNames(names), nil
}

// list asks the server for its models.
func (p *Provider) list(ctx context.Context) ([]listing, error) {
	address := p.base.JoinPath("models")
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("ask for the models: %w", err)
	}
	body, err := p.answerTo(ctx, request, modelsLimit)
	if err != nil {
		return nil, err
	}
	var list struct {
		Data []listing `json:"data"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, p.complete(&llm.Error{Class: llm.ClassProtocol, Message: "the list of models cannot be read", Err: err})
	}
	return list.Data, nil
}

// Model returns the model for requests that name none: the configured one, or else the only one
// that the server lists. If there are several, the error lists them. The server is asked once.
func (p *Provider) Model(ctx context.Context) (string, error) {
	return p.modelFor(ctx, "")
}

// modelFor returns the model that a request names, or else the result of Model.
func (p *Provider) modelFor(ctx context.Context, requested string) (string, error) {
	return p.only.Of(ctx, p.config.Name, p.Models, requested, p.config.Model)
}

// ForgetModel makes the next request ask for the model again. It is called when the server has no
// model with that name.
func (p *Provider) ForgetModel() { p.only.Forget() }
