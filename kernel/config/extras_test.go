package config_test

import (
	"strings"
	"testing"

	"org-agent/kernel/config"
)

// What a server wants beside a key: headers, also with secrets, a query, fields.
func TestExtrasOfServers(t *testing.T) {
	heading := func(rows string) config.Settings {
		return config.Parse("config.org", "* Models\n** a\n:PROPERTIES:\n:BASE_URL: http://localhost:1/v1\n"+rows+":END:\n")
	}
	s := heading(":HEADERS: x-title: my: notes\n:HEADERS+: api-key: env:AZURE_KEY\n:QUERY: ?api-version=2024-10-21&x=1\n:BODY: {\"top_p\": 0.9, \"reasoning\": {\"effort\": \"high\"}}\n:EFFORT: xhigh\n")
	if len(s.Diagnostics) > 0 {
		t.Fatal(s.Diagnostics)
	}
	m, extras := s.Models[0], s.Models[0].Extras
	if len(extras.Headers) != 2 || extras.Headers[0] != (config.Header{Name: "X-Title", Text: "my: notes"}) || extras.Headers[1] != (config.Header{Name: "Api-Key", Source: config.KeySource{Env: "AZURE_KEY"}}) ||
		extras.Query != "api-version=2024-10-21&x=1" || extras.Body["top_p"] != 0.9 || m.Effort != "xhigh" {
		t.Errorf("it is %+v", m)
	}
	for rows, want := range map[string]string{
		":HEADERS: secret-without-name\n":            "NAME: VALUE",
		":HEADERS: a b: c\n":                         "NAME: VALUE",
		":HEADERS: x: a\x01b\n":                      "NAME: VALUE",
		":HEADERS: host: elsewhere\n":                "the program's own",
		":HEADERS: x: env:$A\n":                      "without $",
		":QUERY: ?\n":                                "NAME=VALUE",
		":QUERY: a=%zz\n":                            "NAME=VALUE",
		":BODY: [1]\n":                               "JSON object",
		":BODY: null\n":                              "JSON object",
		":BODY: {\"messages\": []}\n":                "the program's own",
		":EFFORT: " + strings.Repeat("x", 41) + "\n": "no effort",
	} {
		if s := heading(rows); len(s.Models) > 0 || len(s.Diagnostics) != 1 || !strings.Contains(s.Diagnostics[0].Message, want) || strings.Contains(s.Diagnostics[0].String(), "secret") {
			t.Errorf("%q: %v", rows, s.Diagnostics)
		}
	}
}
