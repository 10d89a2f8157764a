package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ChoiceKind says how a choice answers.
type ChoiceKind string

const (
	ChoiceServer   ChoiceKind = "server"   // a server; its driver knows the protocol
	ChoiceDiscover ChoiceKind = "discover" // a server on this machine, if one listens
	ChoiceBuiltin  ChoiceKind = "builtin"  // the built-in guide
	ChoiceNone     ChoiceKind = "none"     // no model: only skills that need none answer
)

// These names do not stand for a configured model.
const (
	nameBuiltin = "builtin"
	nameNone    = "none"
)

// Choice is one model that requests can go to.
type Choice struct {
	Model  // describes a server; for ChoiceDiscover only Model.Model is used
	Kind   ChoiceKind
	Found  bool   // found, not configured: the person is told, and is asked once if the server is remote
	Source string // where the choice comes from: a variable, or FILE:LINE
}

// makers are the makers of models whose own variables name a server: NAME_BASE_URL and NAME_API_KEY. The
// key alone names the maker's server. The driver is named as in the settings.
var makers = []struct{ prefix, name, driver, address string }{
	{"OPENAI", "openai", "", "https://api.openai.com/v1"},
	{"ANTHROPIC", "anthropic", "anthropic", "https://api.anthropic.com"},
}

// Choices returns the models to try, in order. These sources are asked one after another, and the
// first that names a model decides alone, so that words meant for one server never go to another:
//
//   - ORG_AGENT_LLM
//   - the setting LLM of config.org
//   - all models of config.org, in their order
//   - ORG_AGENT_LLM_BASE_URL, with ORG_AGENT_LLM_API_KEY and ORG_AGENT_LLM_MODEL
//   - OPENAI_BASE_URL and OPENAI_API_KEY, with ORG_AGENT_LLM_MODEL
//   - ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY, with ORG_AGENT_LLM_MODEL
//   - a server on this machine (its model is ORG_AGENT_LLM_MODEL), then the built-in guide
//
// The error says what is wrong with the deciding source, or that no model of config.org can be
// used.
func Choices(settings Settings, env func(string) string) ([]Choice, error) {
	configured := configuredChoices(settings)
	name := strings.TrimSpace(env("ORG_AGENT_LLM"))
	switch {
	case name == nameBuiltin || name == nameNone:
		return choiceNamed(nil, name, "ORG_AGENT_LLM")
	case name == "" && settings.LLM != "":
		return choiceNamed(configured, settings.LLM, "config.org")
	case name == "" && len(configured) > 0:
		return configured, nil
	case name == "" && settings.refused != nil:
		return nil, fmt.Errorf("config.org has models, and none can be used: %s", settings.refused)
	}
	environment, err := environmentChoices(env)
	if err != nil {
		return nil, err
	}
	if name != "" {
		return choiceNamed(append(configured, environment...), name, "ORG_AGENT_LLM")
	}
	if len(environment) > 0 {
		return environment[:1], nil
	}
	discover := Choice{Kind: ChoiceDiscover, Found: true, Source: "localhost", Model: Model{Name: "localhost", Model: env("ORG_AGENT_LLM_MODEL")}}
	return []Choice{discover, builtin("nothing else was found")}, nil
}

// ModelVariables returns the environment variables that decide which model answers, and those that
// hold keys.
func ModelVariables(settings Settings) []string {
	names := []string{"ORG_AGENT_LLM"}
	if settings.LLM == "" && len(settings.Models) == 0 {
		names = append(names, "ORG_AGENT_LLM_BASE_URL", "ORG_AGENT_LLM_API_KEY", "ORG_AGENT_LLM_MODEL")
		for _, m := range makers {
			names = append(names, m.prefix+"_BASE_URL", m.prefix+"_API_KEY")
		}
	}
	for _, name := range settings.KeyVariables() {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func builtin(source string) Choice {
	return Choice{Model: Model{Name: nameBuiltin}, Kind: ChoiceBuiltin, Source: source}
}

// choiceNamed returns the choice with that name, alone in a list.
func choiceNamed(choices []Choice, name, source string) ([]Choice, error) {
	switch name {
	case nameBuiltin:
		return []Choice{builtin(source)}, nil
	case nameNone:
		return []Choice{{Model: Model{Name: nameNone}, Kind: ChoiceNone, Source: source}}, nil
	}
	var names []string
	for _, choice := range choices {
		if choice.Name == name {
			choice.Found = false // the person chose it by its name
			return []Choice{choice}, nil
		}
		names = append(names, choice.Name)
	}
	return nil, fmt.Errorf("%s names the model %q, and there is none: %s", source, name, knownModels(names))
}

// knownModels lists the valid names, for the end of an error.
func knownModels(names []string) string {
	return "use " + strings.Join(append(names, nameBuiltin), ", ") + " or " + nameNone
}

func modelNames(models []Model) []string {
	var names []string
	for _, m := range models {
		names = append(names, m.Name)
	}
	return names
}

// Configured returns every model of config.org, also when something else decides what is asked by
// default.
func Configured(settings Settings) []Choice { return configuredChoices(settings) }

func configuredChoices(settings Settings) []Choice {
	var choices []Choice
	for _, m := range settings.Models {
		choices = append(choices, Choice{Model: m, Kind: ChoiceServer, Source: fmt.Sprintf("config.org:%d", m.Line)})
	}
	return choices
}

// environmentChoices returns the servers that environment variables name: first
// ORG_AGENT_LLM_BASE_URL, then those of the makers.
func environmentChoices(env func(string) string) ([]Choice, error) {
	var choices []Choice
	variable := func(name string) string { return strings.TrimSpace(env(name)) }
	window := 0
	if value := variable("ORG_AGENT_LLM_WINDOW"); value != "" {
		if err := setCount(&window, value); err != nil {
			return nil, fmt.Errorf("ORG_AGENT_LLM_WINDOW: %w", err)
		}
	}
	add := func(name, baseVariable, base, keyVariable string, found bool) error {
		if err := checkBaseURL(base); err != nil {
			return fmt.Errorf("%s: %w", baseVariable, err)
		}
		model := Model{Name: name, BaseURL: base, Model: variable("ORG_AGENT_LLM_MODEL"), Window: window}
		source := baseVariable
		if variable(keyVariable) != "" {
			model.Key = KeySource{Env: keyVariable}
		}
		if variable(baseVariable) == "" {
			source = keyVariable
		}
		choices = append(choices, Choice{Model: model, Kind: ChoiceServer, Found: found, Source: source})
		return nil
	}
	if base := variable("ORG_AGENT_LLM_BASE_URL"); base != "" {
		if err := add("environment", "ORG_AGENT_LLM_BASE_URL", base, "ORG_AGENT_LLM_API_KEY", false); err != nil {
			return nil, err
		}
	} else if variable("ORG_AGENT_LLM_API_KEY") != "" {
		return nil, errors.New("ORG_AGENT_LLM_API_KEY is set and ORG_AGENT_LLM_BASE_URL is not: say which server the key is for")
	}
	for _, m := range makers {
		base := variable(m.prefix + "_BASE_URL")
		if base == "" && variable(m.prefix+"_API_KEY") != "" {
			base = m.address
		}
		if base == "" {
			continue
		}
		if err := add(m.name, m.prefix+"_BASE_URL", base, m.prefix+"_API_KEY", true); err != nil {
			return nil, err
		}
		choices[len(choices)-1].Driver = m.driver
	}
	return choices, nil
}
