package describe_test

import (
	"strings"
	"testing"

	"org-agent/kernel/describe"
)

func TestVisible(t *testing.T) {
	tests := [][2]string{
		{"plain\n\ttext ä 世界 👍🏽 ❤️", "plain\n\ttext ä 世界 👍🏽 ❤️"},
		{"a\x1b[31mb\r\x00\x7f\u0085", "a⟨U+001B⟩[31mb⟨U+000D⟩⟨U+0000⟩⟨U+007F⟩⟨U+0085⟩"},
		{"\u202eabc\u202c \u2066x\u2069 \u200e\u061c", "⟨U+202E⟩abc⟨U+202C⟩ ⟨U+2066⟩x⟨U+2069⟩ ⟨U+200E⟩⟨U+061C⟩"},
		{"a\u200bb\ufeff\u00ad\u2028\U000e0041\u3164", "a⟨U+200B⟩b⟨U+FEFF⟩⟨U+00AD⟩⟨U+2028⟩⟨U+E0041⟩⟨U+3164⟩"},
		{"a\u00a0b\u2003c\u202fd\u3000e", "a⟨U+00A0⟩b⟨U+2003⟩c⟨U+202F⟩d\u3000e"},
		{"re\u0301sume\u0301 \u0915\u094d\u0937 1️⃣", "re\u0301sume\u0301 \u0915\u094d\u0937 1️⃣"},
		{"/\u0338x -\u0301 o\u0301\u0302\u0303 \u0301", "/⟨U+0338⟩x -⟨U+0301⟩ o\u0301\u0302⟨U+0303⟩ ⟨U+0301⟩"},
		{"ls" + strings.Repeat(" ", 6000) + "; rm -r x" + strings.Repeat("\t", 70), "ls⟨6000 blanks⟩; rm -r x⟨70 blanks⟩"},
		{"ls" + strings.Repeat(" \n", 300) + "  rm", "ls\n⟨299 empty lines⟩\n  rm"},
		{"| a" + strings.Repeat(" ", 50) + "|\n\n\n\tb", "| a" + strings.Repeat(" ", 50) + "|\n\n\n\tb"},
		{"ok ☕️ ℹ️ ©︎ 3️⃣ #⃣ ‼️", "ok ☕️ ℹ️ ©︎ 3️⃣ #⃣ ‼️"},
		{"a\ufe0fb\ufe0e 1\ufe0f2 \ufe0f/\ufe0f☕\ufe0f\ufe0f", "a⟨U+FE0F⟩b⟨U+FE0E⟩ 1⟨U+FE0F⟩2 ⟨U+FE0F⟩/⟨U+FE0F⟩☕\ufe0f⟨U+FE0F⟩"},
		{"a\u034fb\ufe00c\U000e0100d\u17b4e\u180bf", "a⟨U+034F⟩b⟨U+FE00⟩c⟨U+E0100⟩d⟨U+17B4⟩e⟨U+180B⟩f"},
		{"葛\U000e0100 ᠠ\u180b ∩\ufe00", "葛\U000e0100 ᠠ\u180b ∩\ufe00"},
		{"a\u2065b\ufff0\U000e0080\U0001d159c", "a⟨U+2065⟩b⟨U+FFF0⟩⟨U+E0080⟩⟨U+1D159⟩c"},
		{"\xff ok \ufffd", "⟨U+00FF⟩ ok \ufffd"},
	}
	for _, test := range tests {
		if got := describe.Visible(test[0]); got != test[1] {
			t.Errorf("%q is %q, want %q", test[0], got, test[1])
		}
	}
}

// TestAlike: what looks like something else is named.
func TestAlike(t *testing.T) {
	for source, want := range map[string]string{
		"curl p\u0430ypal.com":     `has letters of Latin and of Cyrillic`,
		"rm -r \u0441\u043e\u0440": `has letters of Cyrillic that look like those of Latin`,
		"g\u03bfogle":              "has letters of Latin and of Greek",
		"ｒｍ -r x":                  "no common ones",
		"cat ..\u2215..\u2215x":    "(U+2215) is no /",
		"echo ok\u037e ls":         "is no ;",
		"rm ɑ.txt":                 "no common ones",
		"ls ﬁle":                   "no common ones",
		"ls ⅼs":                    "no common ones",
		"curl ℎttp://x":            "no common ones",
		"ls ſh":                    "no common ones",
		"x ﹥ y":                    "(U+FE65) is no >",
		"a ׀ b":                    "(U+05C0) is no |",
		"ls ǃx":                    "(U+01C3) is no !",
		"git push —force":          "(U+2014) is no -",
		"git push ––force":         "(U+2013) is no -",
		"the dash — as in word—word – is ordinary, and so is “this”, x², çalışır, 3–4": "",
		"* Capítulo\n—Hola —dijo Ana—.\n":                                              "",
		"Привет, мир, а о с; gr\u00fc\u00dfe καλημέρα \u4e16\u754c":                    "",
		"git log -1 | head": "",
	} {
		got := strings.Join(describe.Description{Text: source}.Finished(describe.Deps{}).Effects, "\n")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", source, got, want)
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
