package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// alone fails the test unless the directory contains exactly these files.
func alone(t *testing.T, directory string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, entry := range entries {
		found = append(found, entry.Name())
	}
	if strings.Join(found, " ") != strings.Join(names, " ") {
		t.Errorf("there are %q, want %q", found, names)
	}
}

func TestWrite(t *testing.T) {
	directory := t.TempDir()
	path := filepath.Join(directory, "a")
	for _, text := range []string{"one", "", "three"} {
		if err := Write(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := content(t, path); got != text || info.Mode().Perm() != 0o600 {
			t.Errorf("it is %q %v", got, info.Mode())
		}
	}
	alone(t, directory, "a")
	if err := Write(filepath.Join(directory, "no", "a"), nil, 0o600); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a directory: %v", err)
	}
	if err := os.Mkdir(filepath.Join(directory, "full"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Write(filepath.Join(directory, "full"), []byte("x"), 0o600); err == nil {
		t.Error("a directory was replaced")
	}
	alone(t, directory, "a", "full")
}

func TestReplace(t *testing.T) {
	directory := t.TempDir()
	path, link := filepath.Join(directory, "a"), filepath.Join(directory, "link")
	if err := os.Symlink("a", link); err != nil {
		t.Fatal(err)
	}
	if err := Replace(path, nil, []byte("one"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o751); err != nil {
		t.Fatal(err)
	}
	if err := Replace(link, []byte("one"), []byte("two"), 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if target, err := os.Readlink(link); err != nil || target != "a" || content(t, path) != "two" || info.Mode().Perm() != 0o751 {
		t.Errorf("the link leads to %q (%v), the file is %q %v", target, err, content(t, path), info.Mode())
	}
	for name, old := range map[string][]byte{"another": []byte("one"), "none": nil} {
		if err := Replace(path, old, []byte("x"), 0o600); !errors.Is(err, ErrChanged) {
			t.Errorf("in place of %s: %v", name, err)
		}
	}
	if err := Replace(filepath.Join(directory, "b"), []byte("was"), []byte("x"), 0o600); !errors.Is(err, ErrChanged) {
		t.Errorf("in place of what is gone: %v", err)
	}
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	if err := Replace(path, []byte("two"), []byte("x"), 0o600); err == nil || !strings.Contains(err.Error(), "make it writable") {
		t.Errorf("read-only: %v", err)
	}
	if got := content(t, path); got != "two" {
		t.Errorf("it is %q", got)
	}
	alone(t, directory, "a", "link")
}
