package files_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"org-agent/kernel/files"
	"org-agent/kernel/policy"
)

// TestSearchSkipsKeys: a search of texts shows no keys, also where a file has another name, or only begins with one.
func TestSearchSkipsKeys(t *testing.T) {
	root := t.TempDir()
	t.Setenv("HOME", root)
	key := "-----BEGIN OPENSSH PRIVATE KEY-----\nsecret\n-----END OPENSSH PRIVATE KEY-----\n"
	for name, text := range map[string]string{"id_ed25519": "secret\n", "work/id_rsa": "secret\n", "work/notes.txt": key, "work/plain.txt": "secret of the samovar\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(root, "work/id_rsa"), filepath.Join(root, "work/other.txt")); err != nil {
		t.Fatal(err)
	}
	tree := files.Tree{Root: filepath.Join(root, "work"), Unread: policy.Unread(root, root+"/state"), Keys: policy.HasKeys}
	found, err := tree.Search(t.Context(), files.Search{Text: regexp.MustCompile("secret"), Limit: 100}, func(name string) string { return name })
	if err != nil || found.Lines != 1 || !strings.Contains(found.Text, "samovar") {
		t.Errorf("%+v, %v", found, err)
	}
}
