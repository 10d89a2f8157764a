package memory_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/memory"
)

const workProfile = `#+TITLE: Work
# A comment.
Answer *briefly*.

* Identity
- Name :: Nora
** Voice
Dry.
* SOUL
# nothing yet
* User
:PROPERTIES:
:SCOPE: office
:END:
Works at night.
* TOOLS :@private:
Nobody is told.
* COMMENT Workspace
Nor this.
`

// TestProfile checks that the headings of a profile replace the files of the home if they have
// content, and that the same rules say who may see them.
func TestProfile(t *testing.T) {
	home := t.TempDir()
	put(t, home, "IDENTITY.org", "- Name :: Sam\n")
	put(t, home, "SOUL.org", "Kind.\n")
	put(t, home, "USER.org", "Ida.\n")
	put(t, home, "TOOLS.org", "Mind the saw.\n")
	path := put(t, home, "profiles/work.org", workProfile)
	h := &memory.Home{Directory: home}
	profile, err := h.Profile("work")
	if err != nil || profile.Style != "Answer *briefly*." {
		t.Fatalf("%+v, %v", profile, err)
	}
	p := h.Persona(time.Now()).With(profile)
	identity, user := p.File("IDENTITY"), p.File("USER")
	if identity.Text != "- Name :: Nora\n* Voice\nDry." || identity.Field("name") != "Nora" || identity.Path != path+"::*Identity" || identity.Hash == "" {
		t.Errorf("the identity is %+v", identity)
	}
	if p.File("SOUL").Text != "Kind." || p.File("TOOLS").Text != "Mind the saw." || p.Style != "Answer *briefly*." {
		t.Errorf("where it is silent there is %+v", p.Files)
	}
	if user.Within("office", false) != "Works at night." || user.Within("", true) != "" {
		t.Errorf("with a scope there is %+v", user)
	}
	if text := h.Persona(time.Now()).File("IDENTITY").Text; text != "- Name :: Sam" {
		t.Errorf("without it the identity is %q", text)
	}
}

func TestProfileNames(t *testing.T) {
	home := t.TempDir()
	put(t, home, "x.org", "* SOUL\nOutside.\n")
	put(t, home, "profiles/größe-2_a.org", "")
	h := &memory.Home{Directory: home}
	for _, name := range []string{"", "../x", "/x", ".x", "x/y", "x.org", "a b", "x\x00", strings.Repeat("x", 300), "x\n", "~", `..\x`} {
		if _, err := h.Profile(name); err == nil || errors.Is(err, memory.ErrNoProfile) || len(err.Error()) > 300 {
			t.Errorf("the profile %q gives %v", name, err)
		}
	}
	if _, err := h.Profile("x"); !errors.Is(err, memory.ErrNoProfile) {
		t.Errorf("a missing profile gives %v", err)
	}
	if _, err := h.Profile("größe-2_a"); err != nil {
		t.Error(err)
	}
}

// TestProfileFaults checks that a faulty file is reported with its line and without the secret, and
// that its last good version counts.
func TestProfileFaults(t *testing.T) {
	const token = "sk-abcdefghijklmnopqrstuv"
	for _, c := range []struct{ text, where, want string }{
		{":PROPERTIES:\n:API_KEY: " + token + "\n:END:\n", ":2: ", "looks like a key"},
		{"* SOUL\n# " + token + "\n", ":2: ", "looks like a key"},
		{"* SOUL :@private:\nOPENAI_API_KEY=" + token + "\n", ":2: ", "looks like a key"},
		{"* SOUL\n- Password :: " + token + "\n", ":2: ", "looks like a key"},
		{"| API key | " + token + " |\n", ":1: ", "looks like a key"},
		{"* SOUL\n:PROPERTIES:\n:KEY:  env:X\n:END:\n", ":3: ", "looks like a key"},
		{"see https://me:" + token + "@host/\n", ":1: ", "looks like a key"},
		{"-----BEGIN OPENSSH PRIVATE KEY-----\n", ":1: ", "looks like a key"},
		{"x\n* SAFETY\nThere are no rules.\n", ":2: ", `no place for the heading "SAFETY"`},
		{"* MEMORY\n", ":1: ", `no place for the heading "MEMORY"`},
		{"* SOUL\n* soul\n", ":2: ", "SOUL is in line 1 already"},
		{"\xff", ": ", "it is not UTF-8 in line 1"},
		{strings.Repeat("x", 64<<10+1), ": ", "more than the 65536"},
	} {
		home := t.TempDir()
		path := put(t, home, "profiles/work.org", c.text)
		h := &memory.Home{Directory: home}
		_, err := h.Profile("work")
		if err == nil || !strings.HasPrefix(err.Error(), path+c.where) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), token) ||
			!strings.HasSuffix(err.Error(), "nothing of it is used") {
			t.Errorf("%.60q gives %v", c.text, err)
		}
		put(t, home, "profiles/work.org", "Good.\n")
		if profile, err := h.Profile("work"); err != nil || profile.Style != "Good." || profile.Fault != nil {
			t.Errorf("mended it is %+v, %v", profile, err)
		}
		put(t, home, "profiles/work.org", c.text)
		if profile, err := h.Profile("work"); err != nil || profile.Style != "Good." || profile.Fault == nil || !strings.HasSuffix(profile.Fault.Error(), "what it said before is used") {
			t.Errorf("broken again it is %+v, %v", profile, err)
		}
	}
	for _, fine := range []string{"My password manager is KeePass.\n", "Explain what an API key is.\n", "* SOUL\nNever tell a password.\n", "Mind the task-list-of-the-whole-team.\n"} {
		home := t.TempDir()
		put(t, home, "profiles/work.org", fine)
		if _, err := (&memory.Home{Directory: home}).Profile("work"); err != nil {
			t.Errorf("%q gives %v", fine, err)
		}
	}
}

func TestProfiles(t *testing.T) {
	home := t.TempDir()
	h := &memory.Home{Directory: home}
	if names, faults := h.Profiles(); len(names)+len(faults) > 0 {
		t.Errorf("without any there are %v, %v", names, faults)
	}
	put(t, home, "profiles/b.org", "")
	put(t, home, "profiles/a.org", "* NO\n")
	put(t, home, "profiles/two words.org", "")
	put(t, home, "profiles/.#b.org", "")
	put(t, home, "profiles/notes.txt", "")
	if err := os.Mkdir(filepath.Join(home, "profiles/d.org"), 0o755); err != nil {
		t.Fatal(err)
	}
	names, faults := h.Profiles()
	if strings.Join(names, " ") != "a b d" || len(faults) != 3 || !strings.Contains(faults[0].Error(), "a.org:1: there is no place") ||
		!strings.Contains(faults[1].Error(), "d.org: ") || !strings.Contains(faults[2].Error(), `"two words" cannot be the name`) {
		t.Errorf("there are %v, %v", names, faults)
	}
}
