package config_test

import (
	"strings"
	"testing"

	"org-agent/kernel/config"
)

// A model that is added is the first one, and every other byte of the file stays.
func TestAddModel(t *testing.T) {
	starter := starterText(t)
	for name, text := range map[string]string{
		"nothing":         "",
		"the starter":     starter,
		"no section":      "Prose without an end",
		"an empty one":    "* Settings\n* Models\n",
		"its end":         "* Models\nProse",
		"another one":     "* Models\nProse\n\n** other\n:PROPERTIES:\n:BASE_URL: http://h/v1\n:END:\n* Settings\n",
		"the same name":   "* Models\n** mine\n:PROPERTIES:\n:BASE_URL: http://h/v1\n:END:\n",
		"lines of DOS":    "* Models\r\n** other\r\n:PROPERTIES:\r\n:BASE_URL: http://h/v1\r\n:END:\r\n",
		"switched off":    "* COMMENT Models\n** mine\n:PROPERTIES:\n:BASE_URL: http://h/v1\n:END:\n",
		"in another case": "* MODELS\n",
	} {
		m, err := config.NewModel("mine", "https://api.invalid/v1", "large", "command: pass show api")
		if err != nil {
			t.Fatal(err)
		}
		added, changed := config.AddModel(text, m)
		settings := config.Parse("config.org", changed)
		if len(settings.Diagnostics) > 0 || len(settings.Models) == 0 {
			t.Errorf("%s: %v in\n%s", name, settings.Diagnostics, changed)
			continue
		}
		first := settings.Models[0]
		if first.Line != added.Line || first.Name != added.Name || first.BaseURL != m.BaseURL || first.Model != "large" || first.Key != m.Key {
			t.Errorf("%s: the first is %+v, added was %+v in\n%s", name, first, added, changed)
		}
		if want := name == "the same name"; (added.Name == "mine-2") != want {
			t.Errorf("%s: it is called %q", name, added.Name)
		}
		if kept := without(changed, text); !kept {
			t.Errorf("%s: other bytes have changed:\n%q\n%q", name, text, changed)
		}
		if again, twice := config.AddModel(changed, m); twice != changed || again.Line != added.Line {
			t.Errorf("%s: it was added twice:\n%s", name, twice)
		}
	}
}

// without reports whether text is changed without one part.
func without(changed, text string) bool {
	for i := range len(text) + 1 {
		if strings.HasPrefix(changed, text[:i]) && strings.HasSuffix(changed, text[i:]) {
			return true
		}
	}
	return false
}

// What is no address and no place of a key is refused, and not repeated.
// A maker's address chooses the protocol, which is written beside it.
func TestNewModelKnowsProtocols(t *testing.T) {
	for address, want := range map[string]string{
		"https://api.anthropic.com": "anthropic", "https://API.anthropic.com/v1": "anthropic", "https://api.openai.com/v1": "",
		"http://localhost:11434/v1": "", "https://api.anthropic.com.example/v1": "", "https://api.anthropic.com:8080": "",
	} {
		m, err := config.NewModel("mine", address, "large", "env:KEY")
		if err != nil {
			t.Fatal(err)
		}
		_, text := config.AddModel("", m)
		if first := config.Parse("config.org", text).Models[0]; m.Driver != want || first.Driver != want {
			t.Errorf("%s has the protocol %q, and in the file %q", address, m.Driver, first.Driver)
		}
	}
}

func TestNewModelRefuses(t *testing.T) {
	for _, c := range []struct{ address, key string }{
		{"localhost:1", ""}, {"https://user:hunter2@h/v1", ""}, {"https://h/v1", "hunter2"}, {"https://h/v1", "env:A\n:X: hunter2"},
	} {
		if _, err := config.NewModel("mine", c.address, "", c.key); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q, %q: %v", c.address, c.key, err)
		}
	}
}
