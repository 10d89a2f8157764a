package describe_test

import (
	"testing"

	"org-agent/kernel/describe"
)

func TestVisible(t *testing.T) {
	tests := [][2]string{
		{"plain\n\ttext ä 世界 👍🏽 ❤️", "plain\n\ttext ä 世界 👍🏽 ❤️"},
		{"a\x1b[31mb\r\x00\x7f\u0085", "a⟨U+001B⟩[31mb⟨U+000D⟩⟨U+0000⟩⟨U+007F⟩⟨U+0085⟩"},
		{"\u202eabc\u202c \u2066x\u2069 \u200e\u061c", "⟨U+202E⟩abc⟨U+202C⟩ ⟨U+2066⟩x⟨U+2069⟩ ⟨U+200E⟩⟨U+061C⟩"},
		{"a\u200bb\ufeff\u00ad\u2028\U000e0041\u3164", "a⟨U+200B⟩b⟨U+FEFF⟩⟨U+00AD⟩⟨U+2028⟩⟨U+E0041⟩⟨U+3164⟩"},
		{"\xff ok \ufffd", "⟨U+00FF⟩ ok \ufffd"},
	}
	for _, test := range tests {
		if got := describe.Visible(test[0]); got != test[1] {
			t.Errorf("%q is %q, want %q", test[0], got, test[1])
		}
	}
}

// TestShortIn: the user's directory is ~ where a path begins with it, and nowhere else.
func TestShortIn(t *testing.T) {
	deps := describe.Deps{User: "/home/ann"}
	for text, want := range map[string]string{
		"changes /home/ann/x.org":                    "changes ~/x.org",
		"/home/ann/a and (/home/ann/b)":              "~/a and (~/b)",
		"reads /backup/home/ann/x":                   "reads /backup/home/ann/x",
		"reads /home/anna/x and /home/ann":           "reads /home/anna/x and ~",
		"runs in /home/ann, with /home/ann.old":      "runs in ~, with /home/ann.old",
		"policy.org:12 asks about \"/home/ann/a b\"": "policy.org:12 asks about \"~/a b\"",
	} {
		if got := deps.ShortIn(text); got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
	if got := (describe.Deps{}).ShortIn("/home/ann/x"); got != "/home/ann/x" {
		t.Errorf("without a user: %q", got)
	}
	// A letter writes all its paths alike, also those of a tool's effects.
	shown := describe.Description{Summary: "Run ls", Effects: []string{"it runs in /home/ann/src and can change everything there"}}.Finished(deps)
	if got := shown.Effects[0]; got != "it runs in ~/src and can change everything there" {
		t.Errorf("an effect is %q", got)
	}
}
