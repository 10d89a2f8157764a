package act_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/action"
	"org-agent/kernel/policy"
)

// TestOpen checks that only files that are in the home are opened, and that the verdict has the
// whole path.
func TestOpen(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	write := func(path string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(home, "a.org"))
	write(filepath.Join(home, "b", "c.org"))
	outside := filepath.Join(filepath.Dir(home), "a.org")
	write(outside)
	p := policy.Policy{Kinds: builtIn(), Home: home}
	for _, c := range []struct{ file, opened, refused string }{
		{file: "a.org", opened: filepath.Join(home, "a.org")},
		{file: filepath.Join(home, "b", "c.org"), opened: filepath.Join(home, "b", "c.org")},
		{file: outside, refused: "only files there are opened"},
		{file: "../a.org", refused: "only files there are opened"},
		{file: "missing.org", refused: "there is no file"},
	} {
		proposed, err := action.Read(`(:type :request :target :emacs :action :open :file "` + c.file + `")`)
		if err != nil {
			t.Fatal(err)
		}
		v := p.Judge(t.Context(), proposed.Action(), policy.Where{})
		if c.refused != "" {
			if v.Kind != policy.Refuse || !strings.Contains(v.Reason, c.refused) {
				t.Errorf("%s: %v, %s, want a refusal: %s", c.file, v.Kind, v.Reason, c.refused)
			}
		} else if v.Kind != policy.Allow || v.Action.Text("file") != c.opened {
			t.Errorf("%s: %v, %s, opens %q, want %q", c.file, v.Kind, v.Reason, v.Action.Text("file"), c.opened)
		}
	}
}
