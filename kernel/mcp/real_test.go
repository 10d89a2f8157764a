package mcp_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"org-agent/kernel/mcp"
	"org-agent/kernel/protocol"
)

// installed returns a published server; "make test" installs those of testdata/mcp.
func installed(t *testing.T, name string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("-short starts no server of other people")
	}
	path, err := filepath.Abs("../../.cache/mcp/node_modules/.bin/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("the servers that this is tried with are not there: run \"make test-mcp\" (%v)", err)
	}
	return path
}

// TestRealServers checks that published servers can be used as they describe their tools.
func TestRealServers(t *testing.T) {
	directory, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(directory, "a.txt"), []byte("first\nsecond\nthird\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	h := run(t, mcp.Server{Name: "files", Command: []string{installed(t, "mcp-server-filesystem"), directory}, Directory: directory},
		mcp.Server{Name: "all", Command: []string{installed(t, "mcp-server-everything"), "stdio"}, Directory: directory})
	ready(t, h, "files")
	got, err := call(t, h, "files_read_text_file", argument("path", filepath.Join(directory, "a.txt")), argument("head", int64(2)))
	if err != nil || got != "first\nsecond" {
		t.Errorf("read: %q, %v", got, err)
	}
	edits := []any{protocol.Object{argument("old-text", "second"), argument("new-text", "other")}}
	if got, err = call(t, h, "files_edit_file", argument("path", filepath.Join(directory, "a.txt")), argument("edits", edits), argument("dry-run", nil)); err != nil || !strings.Contains(got, "+other") {
		t.Errorf("edit: %q, %v", got, err)
	}
	if text, _ := os.ReadFile(filepath.Join(directory, "a.txt")); string(text) != "first\nother\nthird\n" {
		t.Errorf("the file is %q", text)
	}
	if _, err = call(t, h, "files_read_text_file", argument("path", "/etc/passwd")); err == nil || !strings.Contains(err.Error(), "outside allowed directories") {
		t.Errorf("a file that it was not given: %v", err)
	}
	if _, err = call(t, h, "files_edit_file", argument("path", "x"), argument("edits", []any{protocol.Object{argument("oldtxt", "a")}})); err == nil || !strings.Contains(err.Error(), "did you mean :old-text?") {
		t.Errorf("a wrong argument within: %v", err)
	}
	ready(t, h, "all")
	for name, want := range map[string]string{"all_echo": "Echo: Grüße", "all_get_sum": "5", "all_get_tiny_image": "[An image (image/png) of ", "all_get_resource_links": "[A resource that the server has: ", "all_get_env": "HOME"} {
		if !slices.Contains(status(h, "all").Tools, name) {
			t.Errorf("there is no %s among %v", name, status(h, "all").Tools)
			continue
		}
		var arguments []protocol.Field
		switch name {
		case "all_echo":
			arguments = append(arguments, argument("message", "Grüße"))
		case "all_get_sum":
			arguments = append(arguments, argument("a", int64(2)), argument("b", int64(3)))
		}
		if got, err := call(t, h, name, arguments...); err != nil || !strings.Contains(got, want) || strings.Contains(got, "canary") && name != "all_get_env" {
			t.Errorf("%s: %.400s, %v", name, got, err)
		}
	}
}
