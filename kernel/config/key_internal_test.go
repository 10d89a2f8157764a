package config

import (
	"strings"
	"testing"
)

// TestParseKeySource is inside, for every setting that takes a key reads it so.
func TestParseKeySource(t *testing.T) {
	for text, want := range map[string]KeySource{
		"env:KEY":                    {Env: "KEY"},
		" command:  pass show a:b ":  {Command: "pass show a:b"},
		"auth-source:api.openai.com": {AuthSource: "api.openai.com"},
		"auth-source: host:8080":     {AuthSource: "host:8080"},
	} {
		if got, err := parseKeySource(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "verysecret", "sk:verysecret", "verysecret:", "ENV:verysecret", "env:", "command: "} {
		_, err := parseKeySource(text)
		if err == nil || !strings.Contains(err.Error(), `use "env:NAME"`) || strings.Contains(err.Error(), "verysecret") {
			t.Errorf("%q: the error is %v", text, err)
		}
	}
}
