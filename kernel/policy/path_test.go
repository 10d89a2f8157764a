package policy_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"org-agent/kernel/policy"
)

// TestProtected checks that protected files are recognized by name, by place, and through links of
// the home.
func TestProtected(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(root, name) }
	home := at("home")
	for _, name := range []string{"home/skills", "home/profiles", "dotfiles", "elsewhere/skills", "second", "bare/objects", "bare/refs", "bare/hooks", "half/objects", "parts"} {
		if err := os.MkdirAll(at(name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"dotfiles/garden.txt", "dotfiles/rules", "dotfiles/work", "dotfiles/other", "bare/HEAD", "half/HEAD", "parts/HEAD", "parts/commondir"} {
		if err := os.WriteFile(at(name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(at("dotfiles/garden.txt"), at("home/skills/garden.org")), os.Symlink(at("dotfiles/work"), at("home/profiles/work.org")), os.Symlink(at("dotfiles/rules"), at("home/policy.org")),
		os.Symlink(at("elsewhere/skills"), at("second/skills"))); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		at("home/config.org"): true, at("home/policy.org"): true, at("home/channels.org"): true, at("any/SOUL.org"): true, at("any/.git/config"): true, at("any/.dir-locals.el"): true,
		at("home/skills"): true, at("home/skills/new.org"): true, at("dotfiles/garden.txt"): true, at("dotfiles/rules"): true,
		at("home/profiles/work.org"): true, at("home/prompt/style.org"): true, at("dotfiles/work"): true, at("home/profiles.org"): false,
		at("dotfiles/other"): false, at("home/inbox.org"): false, at("home/skills.org"): false, home: false, at("any/.github/x"): false,
		at("any/deep/er/.git"): true, at("bare"): true, at("bare/hooks/update"): true, at("half/hooks/update"): false,
		at("any/.vscode/tasks.json"): true, at("any/sub/.envrc"): true, at("any/.zshenv"): true, at("any/Makefile"): false, at("any/vscode"): false, at("parts/hooks/x"): true,
	} {
		if got := policy.Protected(home, path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	if !policy.Protected(at("second"), at("elsewhere/skills/x.org")) || !policy.Protected(at("absent"), at("absent/skills/x.org")) || policy.Protected("", at("home/skills/x.org")) {
		t.Error("the skills of a home that is a link, is absent, or is none")
	}
}
