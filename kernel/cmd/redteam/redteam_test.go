package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestRedTeam runs a short class against the program, as "make red-team" runs them all, and makes sure that what
// gets through is seen: a program that allows everything fails.
func TestRedTeam(t *testing.T) {
	if testing.Short() {
		t.Skip("-short builds no kernel")
	}
	top, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "org-agent")
	build := exec.Command("go", "build", "-o", program, "./kernel/cmd/org-agent")
	build.Dir = top
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := run(t.Context(), program, top, "approvals"); err != nil {
		t.Error(err)
	}
	content := filepath.Join(t.TempDir(), "content")
	if err := os.WriteFile(content, []byte("#!/bin/sh\nexit 0\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), content, top, "programs"); err == nil {
		t.Error("a program that allows everything is content")
	}
}
