package config_test

import (
	"os"
	"strings"
	"testing"
)

// environment looks variables up in a map, as os.Getenv does in the process.
func environment(variables map[string]string) func(string) string {
	return func(name string) string { return variables[name] }
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantError fails the test unless err says every one of parts.
func wantError(t testing.TB, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error; want one that says %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error %q does not say %q", err, part)
		}
	}
}

// starterText returns the config.org that a new home gets.
func starterText(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("starter.org")
	must(t, err)
	return string(text)
}
