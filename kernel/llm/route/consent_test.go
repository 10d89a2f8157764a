package route

import (
	"path/filepath"
	"testing"

	"org-agent/kernel/protocol"
)

func TestConsent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "consent")
	for _, here := range []string{"localhost:11434", "127.0.0.1:8080", "[::1]:80", "localhost"} {
		c := consent{path: path}
		if err := c.require(here); err != nil || c.needed() != "" {
			t.Errorf("%s: %v, needs %q", here, err, c.needed())
		}
	}
	c := consent{path: path}
	if err := c.require("api.openai.com"); err != nil || c.needed() != "api.openai.com" {
		t.Fatalf("%v, needs %q", err, c.needed())
	}
	for _, agreed := range []string{"", "other.example"} {
		if err := c.check(agreed); protocol.ErrorCode(err) != protocol.CodeConsent {
			t.Errorf("%q passed: %v", agreed, err)
		}
	}
	if err := c.check("api.openai.com"); err != nil {
		t.Fatal(err)
	}
	if err := c.check(""); err != nil || c.needed() != "" {
		t.Errorf("asked again: %v", err)
	}
	again := consent{path: path}
	if err := again.require("api.openai.com"); err != nil || again.needed() != "" {
		t.Errorf("the next kernel asks again: %v, %q", err, again.needed())
	}
	if err := again.require("api.example.com"); err != nil || again.needed() == "" {
		t.Errorf("another host needs no consent: %v", err)
	}
}
