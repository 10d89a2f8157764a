package config_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"org-agent/kernel/config"
)

const twoModels = `* Models
** local
:PROPERTIES:
:BASE_URL: http://localhost:11434/v1
:END:
** far
:PROPERTIES:
:BASE_URL: https://far.example/v1
:API_KEY: env:FAR_KEY
:END:
`

// show returns a choice in one line: kind, name, address, model, key, driver, found, source.
func show(choices []config.Choice) string {
	var lines []string
	for _, c := range choices {
		line := fmt.Sprintf("%s %s %s %s %s", c.Kind, c.Name, c.BaseURL, c.Model.Model, c.Key)
		if c.Driver != "" {
			line += " driver " + c.Driver
		}
		if c.Found {
			line += " found"
		}
		lines = append(lines, strings.Join(strings.Fields(line), " ")+" by "+c.Source)
	}
	return strings.Join(lines, "; ")
}

func TestChoices(t *testing.T) {
	const (
		local  = "server local http://localhost:11434/v1 by config.org:2"
		far    = "server far https://far.example/v1 env:FAR_KEY by config.org:6"
		oneLLM = "\n* Settings\n:PROPERTIES:\n:LLM: far\n:END:\n"
	)
	for _, test := range []struct{ config, env, want, err string }{
		{want: "discover localhost found by localhost; builtin builtin by nothing else was found"},
		{env: "ORG_AGENT_LLM_MODEL=m", want: "discover localhost m found by localhost; builtin builtin by nothing else was found"},
		{env: "OPENAI_API_KEY=k", want: "server openai https://api.openai.com/v1 env:OPENAI_API_KEY found by OPENAI_API_KEY"},
		{env: "OPENAI_BASE_URL=http://h/v1", want: "server openai http://h/v1 found by OPENAI_BASE_URL"},
		{env: "OPENAI_BASE_URL=http://h/v1 OPENAI_API_KEY=k ORG_AGENT_LLM_MODEL=m",
			want: "server openai http://h/v1 m env:OPENAI_API_KEY found by OPENAI_BASE_URL"},
		{env: "ANTHROPIC_API_KEY=k ORG_AGENT_LLM_MODEL=m", want: "server anthropic https://api.anthropic.com m env:ANTHROPIC_API_KEY driver anthropic found by ANTHROPIC_API_KEY"},
		{env: "ANTHROPIC_BASE_URL=http://h", want: "server anthropic http://h driver anthropic found by ANTHROPIC_BASE_URL"},
		{env: "ANTHROPIC_API_KEY=k OPENAI_API_KEY=k", want: "server openai https://api.openai.com/v1 env:OPENAI_API_KEY found by OPENAI_API_KEY"},
		{env: "ORG_AGENT_LLM=anthropic ANTHROPIC_API_KEY=k OPENAI_API_KEY=k", want: "server anthropic https://api.anthropic.com env:ANTHROPIC_API_KEY driver anthropic by ANTHROPIC_API_KEY"},
		{env: "ANTHROPIC_BASE_URL=nonsense", err: "ANTHROPIC_BASE_URL: this is not an address"},
		{env: "OPENAI_API_KEY=k ORG_AGENT_LLM_BASE_URL=http://h/v1 ORG_AGENT_LLM_MODEL=m",
			want: "server environment http://h/v1 m by ORG_AGENT_LLM_BASE_URL"},
		{env: "ORG_AGENT_LLM_BASE_URL=http://h/v1 ORG_AGENT_LLM_API_KEY=k",
			want: "server environment http://h/v1 env:ORG_AGENT_LLM_API_KEY by ORG_AGENT_LLM_BASE_URL"},
		{env: "ORG_AGENT_LLM_API_KEY=k", err: "which server the key is for"},
		{env: "ORG_AGENT_LLM_BASE_URL=nonsense", err: "ORG_AGENT_LLM_BASE_URL: this is not an address"},
		{env: "ORG_AGENT_LLM_API_KEY=k ORG_AGENT_LLM=builtin", want: "builtin builtin by ORG_AGENT_LLM"},
		{config: twoModels, want: local + "; " + far},
		{config: twoModels, env: "OPENAI_API_KEY=k ORG_AGENT_LLM_API_KEY=k", want: local + "; " + far},
		{config: twoModels, env: "ORG_AGENT_LLM=none", want: "none none by ORG_AGENT_LLM"},
		{config: twoModels, env: "ORG_AGENT_LLM=far", want: far},
		{config: twoModels, env: "ORG_AGENT_LLM=openai OPENAI_API_KEY=k", want: "server openai https://api.openai.com/v1 env:OPENAI_API_KEY by OPENAI_API_KEY"},
		{config: twoModels, env: "ORG_AGENT_LLM=fra", err: "use local, far, builtin or none"},
		{config: twoModels + oneLLM, want: far},
		{config: twoModels + oneLLM, env: "ORG_AGENT_LLM=local", want: local},
		{config: oneLLM, env: "OPENAI_API_KEY=k", err: `config.org names the model "far", and there is none: use builtin or none`},
		{config: "* Settings\n:PROPERTIES:\n:LLM: builtin\n:END:\n", env: "OPENAI_API_KEY=k", want: "builtin builtin by config.org"},
		// A person who meant a server at home is not sent elsewhere by a misspelling.
		{config: "* Models\n** local\n:PROPERTIES:\n:BASE_URI: http://localhost/v1\n:END:\n", env: "OPENAI_API_KEY=k",
			err: "none can be used: c.org:4:1: error: there is no setting BASE_URI here: did you mean BASE_URL?"},
	} {
		variables := map[string]string{}
		for assignment := range strings.FieldsSeq(test.env) {
			name, value, _ := strings.Cut(assignment, "=")
			variables[name] = value
		}
		choices, err := config.Choices(config.Parse("c.org", test.config), environment(variables))
		if test.err != "" {
			wantError(t, err, test.err)
			continue
		}
		if got := show(choices); err != nil || got != test.want {
			t.Errorf("%s\n%s\n got %s, %v\nwant %s", test.env, test.config, got, err, test.want)
		}
	}
}

// TestOneServerAlone checks that messages go only to the servers of one source, whatever is set,
// and never to a remote server that another source named.
func TestOneServerAlone(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		variables := map[string]string{}
		for name, value := range map[string]string{
			"ORG_AGENT_LLM": "far", "ORG_AGENT_LLM_BASE_URL": "http://ours/v1", "ORG_AGENT_LLM_MODEL": "m",
			"OPENAI_BASE_URL": "http://theirs/v1", "OPENAI_API_KEY": "k",
			"ANTHROPIC_API_KEY": "k",
		} {
			if rapid.Bool().Draw(r, name) {
				variables[name] = value
			}
		}
		source := rapid.SampledFrom([]string{"", twoModels}).Draw(r, "config")
		choices, err := config.Choices(config.Parse("config.org", source), environment(variables))
		if (err != nil) != (source == "" && variables["ORG_AGENT_LLM"] != "") {
			r.Fatalf("%v %q: %v", variables, source, err)
		}
		hosts := map[string]bool{}
		for _, c := range choices {
			hosts[strings.SplitN(c.Source, ":", 2)[0]] = true
		}
		if c := show(choices); strings.Contains(c, "server ") && len(hosts) != 1 {
			r.Fatalf("several sources: %s", c)
		}
	})
}
