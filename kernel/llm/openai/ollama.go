package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"org-agent/kernel/llm"
)

// latestTag is the tag of a model of Ollama that is named without one.
const latestTag = "latest"

// isOllama reports whether the list of models is Ollama's. Ollama names each model with a tag, and gives as
// its owner what stands before the name, or "library".
func (l listing) isOllama() bool {
	path, _, tagged := cutTag(l.ID)
	parts := strings.Split(path, "/")
	namespace := "library"
	if len(parts) > 1 {
		namespace = parts[len(parts)-2]
	}
	return tagged && l.OwnedBy == namespace
}

// cutTag cuts the name of a model at its tag. A colon before a slash is that of a port.
func cutTag(model string) (path, tag string, tagged bool) {
	i := strings.LastIndexByte(model, ':')
	if i <= strings.LastIndexByte(model, '/') {
		return model, "", false
	}
	return model[:i], model[i+1:], true
}

// withTag returns the name of a model as Ollama lists it.
func withTag(model string) string {
	if _, _, tagged := cutTag(model); tagged || model == "" {
		return model
	}
	return model + ":" + latestTag
}

// windowOfOllama returns the window with which Ollama runs a model: that of the loaded model, or else the
// num_ctx with which it will be loaded. What the model was trained for is only the most that it can be, except
// for a model that Ollama runs elsewhere. It is 0 for an Ollama that does not tell the window of loaded models.
// The error has [llm.ClassLoading] while the model is not loaded and has no num_ctx: once it has answered, the
// window is known.
func (p *Provider) windowOfOllama(ctx context.Context, model string) (int, error) {
	var running struct {
		Models *[]struct {
			Model   string `json:"model"`
			Context count  `json:"context_length"`
		} `json:"models"`
	}
	if err := p.about(ctx, "api/ps", nil, &running); err != nil {
		return 0, err
	}
	if running.Models == nil {
		return 0, p.complete(&llm.Error{Class: llm.ClassProtocol, Message: "the answer to /api/ps has no models"})
	}
	loaded := false
	for _, m := range *running.Models {
		if strings.EqualFold(withTag(m.Model), model) {
			if m.Context > 0 {
				return int(m.Context), nil
			}
			loaded = true
		}
	}
	window, err := p.windowToLoad(ctx, model)
	if err == nil && window == 0 && !loaded {
		err = p.complete(&llm.Error{Class: llm.ClassLoading, Message: "the window of " + model + " is known when it is loaded"})
	}
	return window, err
}

// windowToLoad returns the window that a model of Ollama's will have, 0 if its settings do not say it.
func (p *Provider) windowToLoad(ctx context.Context, model string) (int, error) {
	var settings struct {
		Parameters string                     `json:"parameters"` // a line each, of a name and a value
		RemoteHost string                     `json:"remote_host"`
		Info       map[string]json.RawMessage `json:"model_info"`
	}
	if err := p.aboutModel(ctx, "api/show", model, &settings); err != nil {
		return 0, err
	}
	most := 0
	for name, value := range settings.Info {
		if strings.HasSuffix(name, ".context_length") {
			var tokens count
			_ = tokens.UnmarshalJSON(value) // anything else than a number of tokens is 0
			most = max(most, int(tokens))
		}
	}
	set := parameter(settings.Parameters, "num_ctx")
	switch {
	case settings.RemoteHost != "":
		return most, nil
	case most > 0: // Ollama gives no model more
		return min(set, most), nil
	}
	return set, nil
}

// parameter returns the number of tokens that a parameter of a model sets, 0 if none does. Ollama writes a million
// as 1e+06.
func parameter(parameters, name string) int {
	for line := range strings.Lines(parameters) {
		fields := strings.Fields(line)
		if len(fields) == 2 && fields[0] == name {
			if n, err := strconv.ParseFloat(fields[1], 64); err == nil && n > 0 && n <= mostTokens {
				return int(n)
			}
		}
	}
	return 0
}

// aboutModel is like about, for an answer that the server gives for a model which is posted to it.
func (p *Provider) aboutModel(ctx context.Context, what, model string, into any) error {
	body, err := json.Marshal(map[string]string{"model": model})
	if err != nil {
		return fmt.Errorf("ask for /%s: %w", what, err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.beside(what), bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("ask for /%s: %w", what, err)
	}
	request.Header.Set("Content-Type", "application/json")
	return p.readAbout(ctx, request, nil, what, into)
}
