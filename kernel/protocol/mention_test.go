package protocol_test

import (
	"strings"
	"testing"

	"org-agent/kernel/protocol"
)

// Only a word that is a known name is a mention; what is quoted in a block is none, and
// without the mentions a message is what was written around them.
func TestMentions(t *testing.T) {
	known := func(name string) bool { return strings.EqualFold(name, "short") || name == "größe_2" }
	for text, want := range map[string][2]string{
		"@short Which?":                                 {"short", "Which?"},
		"Which, @Short":                                 {"Short", "Which,"},
		"Which @short one?":                             {"short", "Which one?"},
		"@short @größe_2 Which?":                        {"short größe_2", "Which?"},
		"Which? @short @größe_2":                        {"short größe_2", "Which?"},
		"Which?\n@short\nThat":                          {"short", "Which?\n\nThat"},
		"Is it (@short)?":                               {"short", "Is it ()?"},
		"Is it @short? Or @short.":                      {"short short", "Is it? Or."},
		"a@short.org and me@short":                      {"", "a@short.org and me@short"},
		"@short.txt @short/x @short@b":                  {"", "@short.txt @short/x @short@b"},
		"@shorter @sho @":                               {"", "@shorter @sho @"},
		"a\n#+begin_src c\n@short\n#+end_src\n@short b": {"short", "a\n#+begin_src c\n@short\n#+end_src\nb"},
		"#+BEGIN_EXAMPLE\n@short":                       {"", "#+BEGIN_EXAMPLE\n@short"},
	} {
		names := protocol.Mentioned(text, known)
		if got := strings.Join(names, " "); got != want[0] {
			t.Errorf("%q mentions %q, want %q", text, got, want[0])
		}
		if got := protocol.WithoutMentions(text, names); got != want[1] {
			t.Errorf("without them %q is %q, want %q", text, got, want[1])
		}
	}
}
