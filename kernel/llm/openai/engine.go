package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"org-agent/kernel/llm"
)

// The names by which servers say in their lists of models what they are.
const (
	ownerLlamaCpp = "llamacpp"
	ownerVLLM     = "vllm"
)

// aboutLimit is how much of what a server says about itself is read, in bytes. The template of a chat is
// the largest part of it.
const aboutLimit = 1 << 20

// GrammarField asks the server whether it holds replies of a model to a grammar, and returns the field of a
// request that takes one. It returns "" for a server that says nothing of the kind. llama.cpp and vLLM say in
// the list of their models what they are. A model that thinks first is not to be held: a grammar would forbid
// its thoughts, or count them as the reply. An empty name means the configured model.
func (p *Provider) GrammarField(ctx context.Context, model string) (string, error) {
	list, err := p.list(ctx)
	if err != nil {
		return "", err
	}
	if model == "" {
		model = p.config.Model
	}
	i := slices.IndexFunc(list, func(l listing) bool { return l.ID == model })
	if i < 0 && len(list) == 1 { // llama.cpp serves its only model under any name
		i = 0
	}
	if i < 0 {
		return "", nil
	}
	switch list[i].OwnedBy {
	case ownerLlamaCpp:
		return p.grammarOfLlamaCpp(ctx, list[i].ID)
	case ownerVLLM:
		return p.grammarOfVLLM(ctx)
	}
	return "", nil
}

// grammarOfLlamaCpp returns the field of llama.cpp, or "" if the template of the model's chat speaks of thoughts.
func (p *Provider) grammarOfLlamaCpp(ctx context.Context, model string) (string, error) {
	var props struct {
		Template string `json:"chat_template"`
	}
	if err := p.about(ctx, "props", url.Values{"model": {model}}, &props); err != nil {
		return "", err
	}
	for _, word := range []string{"<think", "enable_thinking", "thinking_", "reasoning", "<|channel|>", "[THINK]"} {
		if strings.Contains(props.Template, word) {
			return "", nil
		}
	}
	return llm.GrammarFieldPlain, nil
}

// grammarOfVLLM returns the field of vLLM, which has another name since its version 0.12.
func (p *Provider) grammarOfVLLM(ctx context.Context) (string, error) {
	var about struct{ Version string }
	if err := p.about(ctx, "version", nil, &about); err != nil {
		return "", err
	}
	numbers := append(strings.SplitN(about.Version, ".", 3), "", "")
	major, err := strconv.Atoi(numbers[0])
	minor, _ := strconv.Atoi(numbers[1]) // a release candidate counts as the version before
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: the version %.40q of vLLM cannot be read", p.config.Name, about.Version)
	case major == 0 && minor < 12:
		return llm.GrammarFieldGuided, nil
	}
	return llm.GrammarFieldStructured, nil
}

// about asks the server for what it says of itself, which is beside the version of its protocol.
func (p *Provider) about(ctx context.Context, what string, query url.Values, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.beside(what), nil)
	if err != nil {
		return fmt.Errorf("ask for /%s: %w", what, err)
	}
	return p.readAbout(ctx, request, query, what, into)
}

// beside returns an address that is beside the version of the protocol.
func (p *Provider) beside(what string) string {
	address := *p.base
	address.Path = strings.TrimSuffix(strings.TrimSuffix(address.Path, "/"), "/v1")
	return address.JoinPath(what).String()
}

// readAbout sends a request for what the server says of itself, and reads the answer.
func (p *Provider) readAbout(ctx context.Context, request *http.Request, query url.Values, what string, into any) error {
	body, err := p.answerWith(ctx, request, query, aboutLimit)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return p.complete(&llm.Error{Class: llm.ClassProtocol, Message: "the answer to /" + what + " cannot be read", Err: err})
	}
	return nil
}
