package config

import (
	"context"
	"fmt"
	"strings"

	"org-agent/kernel/org"
	"org-agent/kernel/secret"
)

// Alone is a config.org in which a model stands alone, and the environment with its secrets.
type Alone struct {
	// TakesSchema is set if the model's protocol itself has a field for a JSON Schema. The dialect constrained then
	// needs no :GRAMMAR:.
	TakesSchema bool

	text    string // up to the dialect
	rest    string
	secrets map[string]secret.Text
}

// ModelAlone returns a config.org in which only this model stands, as the text of another config.org has it
// or, for a model without a heading there, as its choice says. The person's time limits and their table of
// known models stand there too. The secrets are read now, once, and stand in variables of the environment.
func ModelAlone(ctx context.Context, text string, choice Choice, env func(string) string) (Alone, error) {
	a := Alone{secrets: map[string]secret.Text{}}
	m := choice.Model
	var lines []string
	if m.Model != "" {
		lines = append(lines, ":MODEL: "+m.Model)
	}
	properties := m.properties()
	if strings.HasPrefix(choice.Source, "config.org:") {
		heading, err := modelHeading(text, m.Name)
		if err != nil {
			return a, err
		}
		properties = heading.Properties
	}
	for _, p := range properties {
		key := strings.ToUpper(p.Key)
		if key == "DIALECT" || key == "MODEL" {
			continue
		}
		value, err := a.value(ctx, key, strings.TrimSpace(p.Value), env)
		if err != nil {
			return a, err
		}
		lines = append(lines, ":"+key+": "+value)
	}
	a.text = "* Models\n** " + m.Name + "\n:PROPERTIES:\n" + strings.Join(lines, "\n") + "\n"
	a.rest = ":END:\n* Settings\n:PROPERTIES:\n:LLM: " + m.Name + "\n"
	settings := Parse("config.org", text)
	if settings.IdleTimeout > 0 {
		a.rest += fmt.Sprintf(":IDLE_TIMEOUT: %s\n", settings.IdleTimeout)
	}
	if settings.TurnTimeout > 0 {
		a.rest += fmt.Sprintf(":TURN_TIMEOUT: %s\n", settings.TurnTimeout)
	}
	a.rest += ":PROPOSE_AFTER: off\n:NOTES: none\n:END:\n"
	for _, h := range org.Parse(text).Headings {
		if h.Level == 1 && strings.EqualFold(h.Title, "Known models") && !h.Hidden() {
			a.rest += "\n" + text[h.Start:h.End]
		}
	}
	return a, nil
}

// properties returns the properties of a model that has no heading.
func (m Model) properties() (all []org.Property) {
	window := ""
	if m.Window > 0 {
		window = fmt.Sprint(m.Window)
	}
	for _, p := range []org.Property{{Key: "BASE_URL", Value: m.BaseURL}, {Key: "DRIVER", Value: m.Driver}, {Key: "API_KEY", Value: m.Key.Written()}, {Key: "WINDOW", Value: window}} {
		if p.Value != "" {
			all = append(all, p)
		}
	}
	return all
}

// value returns the value of a property. One that says where a secret is names the variable of the secret.
func (a *Alone) value(ctx context.Context, key, value string, env func(string) string) (string, error) {
	switch strings.TrimSuffix(key, "+") {
	case "API_KEY":
		source, err := parseKeySource(value)
		if err != nil {
			return "", err
		}
		return a.keep(ctx, source, env)
	case "HEADERS":
		var headers []Header
		if err := setHeader(&headers, value); err != nil {
			return "", err
		}
		h := headers[0]
		if h.Source == (KeySource{}) {
			return value, nil
		}
		kept, err := a.keep(ctx, h.Source, env)
		return h.Name + ": " + kept, err
	}
	return value, nil
}

// keep reads a secret and returns where config.org finds it.
func (a *Alone) keep(ctx context.Context, source KeySource, env func(string) string) (string, error) {
	value, err := source.Resolve(ctx, env)
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("ORG_AGENT_TESTED_SECRET_%d", len(a.secrets)+1)
	a.secrets[name] = value
	return "env:" + name, nil
}

// Text returns the text with that dialect, "" for none. For "constrained" the field of the grammar is that of
// the settings, or else the one that the server tells, as for every model whose dialect is auto, unless the protocol
// takes a schema.
func (a Alone) Text(dialect string) string {
	if dialect == "" {
		return a.text + a.rest
	}
	if dialect == "constrained" && !a.TakesSchema && !strings.Contains(a.text, "\n:GRAMMAR: ") {
		dialect = "auto"
	}
	return a.text + ":DIALECT: " + dialect + "\n" + a.rest
}

// Secret returns the secret in a variable, "" if there is none.
func (a Alone) Secret(variable string) string { return a.secrets[variable].Reveal() }
