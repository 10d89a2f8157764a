package suggest_test

import (
	"strings"
	"testing"

	"org-agent/kernel/suggest"
)

func TestOf(t *testing.T) {
	candidates := []string{"description", "license", "metadata", "größe"}
	for name, want := range map[string]string{
		"descripton": "description", "licence": "license", "meta-data": "metadata", "license": "license",
		"grösse": "größe", "colour": "", "": "", strings.Repeat("x", 1<<20): "",
	} {
		if got := suggest.Of(name, candidates); got != want {
			t.Errorf("nearest to %q is %q, want %q", name, got, want)
		}
	}
}

// TestShortAndLongNames checks names that models know from elsewhere.
func TestShortAndLongNames(t *testing.T) {
	for _, c := range []struct{ name, candidates, want string }{
		{"cmd", "command cwd writes network timeout", "command"},
		{"cwd", "command cwd", "cwd"},
		{"cdw", "command cwd", "cwd"},
		{"comand", "command cwd", "command"},
		{"pat", "pattern path", "path"},
		{"fil", "file from", "file"},
		{"dir", "directory depth", "directory"},
		{"old_string", "path old new hash", "old"},
		{"new-text", "path old new hash", "new"},
		{"file_path", "path old new", "path"},
		{"defn", "defun define", "defun"},
		{"x", "xylophone", ""},
		{"of", "old offset", "offset"},
		{"überschr", "überschrift", "überschrift"},
		{"unrelated", "path old new", ""},
	} {
		if got := suggest.Of(c.name, strings.Fields(c.candidates)); got != c.want {
			t.Errorf("nearest to %q of %s is %q, want %q", c.name, c.candidates, got, c.want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"kitten", "sitting", 3}, {"ß", "ss", 2}, {"abc", "abc", 0}} {
		if got := suggest.Distance(c.a, c.b); got != c.want || suggest.Distance(c.b, c.a) != c.want {
			t.Errorf("from %q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// TestQuestion checks the end of a message with and without a similar name.
func TestQuestion(t *testing.T) {
	if got := suggest.Question("edit", "%q"); got != `; did you mean "edit"?` {
		t.Error(got)
	}
	if got := suggest.Question("", ":%s"); got != "" {
		t.Error(got)
	}
}
