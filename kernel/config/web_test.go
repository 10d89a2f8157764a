package config_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"org-agent/kernel/config"
)

// TestWeb checks that a search server with a fault is left out as a whole, and that a proxy is an
// address or that of the environment.
func TestWeb(t *testing.T) {
	const faulty = "?" // no page is fetched then
	for name, c := range map[string]struct{ drawer, fault string }{
		"whole":        {":KIND: Brave\n:BASE_URL: https://search.example/web\n:API_KEY: env:K", ""},
		"no address":   {":KIND: searxng", "needs a property BASE_URL"},
		"no kind":      {":BASE_URL: http://localhost:8888", "needs a property KIND"},
		"no key":       {":KIND: brave\n:BASE_URL: http://localhost:8888", "needs a property API_KEY"},
		"another kind": {":KIND: bing\n:BASE_URL: http://localhost:8888", `"bing" is not searxng or brave`},
		"the key":      {":KIND: brave\n:BASE_URL: http://localhost:8888\n:API_KEY: BSA-canary", "do not write a key into a file"},
		"misspelt":     {":KIND: searxng\n:URL: http://localhost:8888", "did you mean BASE_URL"},
	} {
		got := config.Parse("config.org", "* Web\n** Search\n:PROPERTIES:\n"+c.drawer+"\n:END:\n")
		faults := fmt.Sprint(got.Diagnostics)
		if (got.Search == nil) != (c.fault != "") || !strings.Contains(faults, c.fault) || strings.Contains(faults, "canary") {
			t.Errorf("%s: %+v %s", name, got.Search, faults)
		}
		if c.fault == "" && (*got.Search != config.SearchServer{Kind: "brave", BaseURL: "https://search.example/web", Key: config.KeySource{Env: "K"}} || !slices.Contains(got.KeyVariables(), "K")) {
			t.Errorf("%s: %+v", name, got.Search)
		}
	}
	if got := fmt.Sprint(config.Parse("config.org", "* Web\n** Serach\n").Diagnostics); !strings.Contains(got, "only Search is") {
		t.Errorf("a misspelt heading: %s", got)
	}
	if got := config.Parse("config.org", "* Web\n:PROPERTIES:\n:PROXI: environment\n:END:\n"); got.Proxy != faulty {
		t.Errorf("a misspelt property: %+v", got.Proxy)
	}
	for value, fault := range map[string]string{"environment": "", "http://proxy.example:3128": "", "proxy.example:3128": "it is not", "http://u:canary@p.example": "it is not"} {
		got := config.Parse("config.org", "* Web\n:PROPERTIES:\n:PROXY: "+value+"\n:END:\n")
		faults := fmt.Sprint(got.Diagnostics)
		want := value
		if fault != "" {
			want = faulty
		}
		if got.Proxy != want || !strings.Contains(faults, fault) || strings.Contains(faults, "canary") {
			t.Errorf("%s: %q %s", value, got.Proxy, faults)
		}
	}
}

func TestCommands(t *testing.T) {
	for value, want := range map[string]string{
		`~/.cargo /nix "/opt/my tools"`: "[~/.cargo /nix /opt/my tools] []",
		"cargo":                         `[] [config.org:3:1: error: PROGRAMS: "cargo" is not a directory that begins with / or ~/]`,
		"~someone/x":                    `[] [config.org:3:1: error: PROGRAMS: "~someone/x" is not a directory that begins with / or ~/]`,
	} {
		got := config.Parse("config.org", "* Commands\n:PROPERTIES:\n:PROGRAMS: "+value+"\n:END:\n")
		if found := fmt.Sprint(got.Programs, got.Diagnostics); found != want {
			t.Errorf("%s: %s", value, found)
		}
	}
}
