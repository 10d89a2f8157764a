package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/llm"
	"org-agent/kernel/llm/route"
	"org-agent/kernel/protocol"
	"org-agent/kernel/settings"
)

// setupTimeout is how long a model may take to answer when it is tried. A server on this machine
// may have to load it first. setupListTimeout is how long a server may take to list its models.
const (
	setupTimeout     = 2 * time.Minute
	setupListTimeout = 10 * time.Second
)

// Setup finds model servers on this machine, tries a model, and writes it into config.org. It sends a
// server nothing but its key and "Say ok.".
type Setup struct {
	Path string // of config.org
	// Route has the drivers, the dialects, the environment and the log of the models that are tried.
	Route    route.Config
	Settings *settings.Live
	// Changed is called after config.org was changed. When it returns, the change counts.
	Changed func(context.Context)
	Model   func() string // the model that answers
}

// Methods returns the methods of this service.
func (s Setup) Methods() []Method {
	return []Method{
		{protocol.MethodSetupFind, Concurrent(For(s.find))},
		{protocol.MethodSetupModels, Concurrent(For(s.models))},
		{protocol.MethodSetupAdd, Concurrent(For(s.add))},
	}
}

func (s Setup) find(ctx context.Context, _ protocol.Empty) (protocol.SetupFindResult, error) {
	result := protocol.SetupFindResult{Model: s.Model(), File: s.Path}
	servers, _ := s.Route.Drivers.Discover(ctx)
	for _, server := range servers {
		result.Servers = append(result.Servers, protocol.SetupServer{Name: server.Name, BaseURL: server.BaseURL, Models: server.Models})
	}
	return result, nil
}

// models returns no models and no error if the server can be asked and only does not list them.
func (s Setup) models(ctx context.Context, p protocol.SetupModelsParams) (result protocol.SetupModelsResult, err error) {
	m, err := config.NewModel("setup", p.BaseURL, "", p.Key)
	if err != nil {
		return result, protocol.Errorf(protocol.CodeInvalidParams, "%v", err)
	}
	ctx, cancel := context.WithTimeout(ctx, setupListTimeout)
	defer cancel()
	driver, err := s.Route.Drivers.Named(m.Driver)
	if err != nil {
		return result, err
	}
	result.Models, err = route.NewServer(driver, m, s.Route.Env).Models(ctx)
	switch llm.ClassOf(err) {
	case llm.ClassBadRequest, llm.ClassModel, llm.ClassProtocol:
		return result, nil
	}
	return result, setupError(err)
}

func (s Setup) add(ctx context.Context, p protocol.SetupAddParams) (result protocol.SetupAddResult, err error) {
	m, err := config.NewModel(p.Name, p.BaseURL, p.Model, p.Key)
	if err != nil || m.Name == "" {
		return result, protocol.Errorf(protocol.CodeInvalidParams, "nothing was written: %v", err)
	}
	ctx, cancel := context.WithTimeout(ctx, setupTimeout)
	defer cancel()
	begun := time.Now()
	request := llm.Request{Sections: llm.System("Answer with one word."), Messages: []llm.Message{{Role: llm.RoleUser, Text: "Say ok."}}, MaxTokens: 16, FirstOnly: true}
	if _, err := route.Try(ctx, s.Route, m, request); err != nil {
		return result, setupError(err)
	}
	result.Seconds = time.Since(begun).Seconds()
	added, err := config.WriteModel(s.Path, m)
	if errors.Is(err, config.ErrChanged) {
		return result, protocol.Errorf(protocol.CodeStale, "the model answers, and nothing was written: %v", err)
	}
	if err != nil {
		return result, protocol.Errorf(protocol.CodeStorage, "the model answers, and nothing was written: %v", err)
	}
	s.Changed(ctx)
	result.File, result.Line, result.Name, result.Answers = s.Path, added.Line, added.Name, s.Model()
	if name, otherwise := s.decides(); name != added.Name {
		result.Decides = otherwise
		if otherwise == "" {
			result.Decides = fmt.Sprintf("%s is asked first, because it is above it in config.org", name)
		}
	}
	return result, nil
}

// decides returns the name in config.org of the model that answers, or "" with what else decides.
func (s Setup) decides() (name, otherwise string) {
	choices, err := config.Choices(s.Settings.Now(), s.Route.Env)
	if err != nil {
		return "", err.Error()
	}
	variable, set := s.Route.Env("ORG_AGENT_LLM"), s.Settings.Last().LLM
	switch {
	case variable != "":
		otherwise = fmt.Sprintf("the variable ORG_AGENT_LLM is %s, and that decides", variable)
	case set != "":
		otherwise = fmt.Sprintf("LLM in config.org is %s, and that decides", set)
	}
	return choices[0].Name, otherwise
}

// setupError returns why a model or a server could not be asked, and what to do about it.
func setupError(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if hint := llm.HintOf(err); hint != "" {
		text += "; " + hint
	}
	return protocol.Errorf(protocol.CodeModel, "%s", text)
}
