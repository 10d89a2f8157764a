package skill_test

import (
	"strings"
	"testing"

	"org-agent/kernel/skill"
)

const (
	someBlocks  = "9583006ef1c40e3d6e02296741c605e8bb1d613c49ae92e2c1642e25e5e7b7a5"
	grantHeader = "* Grants\n| note | capabilities | blocks | since |\n|------+---|\n"
)

// TestRequestFaults checks that invisible words, and too many words, are faults.
func TestRequestFaults(t *testing.T) {
	for asks, want := range map[string]string{
		"read:/a\u202eb": "cannot be seen", "read:/a\x1b[31m": "cannot be seen", "READ:/a": "is no capability", "read:": "is no capability",
		strings.Repeat("read:/x ", 65): "more than 64", strings.Repeat("read:/x ", 64): "not granted: read:/x (never",
		"read:/a%20b": "not granted: read:/a%20b (never", "read:/x read:/../x read:/x/": "not granted: read:/x (never", "env:A-B": "no name of an environment",
		"read:~root": "another user's", "read:$SECRET": "only $HOME is known", "read:/etc/hostname": "is no directory", "read:/%00": "no name of a directory",
	} {
		all := skill.Check(t.Context(), "a.org", []byte(asker("a", asks, "nil")), skill.Options{})
		if len(all) == 0 || !strings.Contains(all[0].Message, want) || all[0].Line != 2 {
			t.Errorf("%q: %v, want %s", asks, all, want)
		}
	}
}
