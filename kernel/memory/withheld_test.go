package memory_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/memory"
)

// TestWithheldInAnyCase checks that tagged text is neither recalled nor found by a model's search,
// whatever the case and the place of the tag.
func TestWithheldInAnyCase(t *testing.T) {
	for _, tag := range []string{"noagent", "NoAgent", "NOAGENT", "@private", "@Private", "@PRIVATE", "crypt", "Crypt", "CRYPT"} {
		for place, text := range map[string]string{
			"heading":  "* Open\nThe heron waits.\n* Kept :" + tag + ":\nThe samovar hums.\n",
			"ancestor": "* Open\nThe heron waits.\n* Above :" + tag + ":\n** Kept\nThe samovar hums.\n",
			"file":     "#+filetags: :" + tag + ":\n* Kept\nThe samovar hums.\n",
		} {
			x, home, notes := newIndex(t)
			put(t, notes, "a.org", text)
			put(t, home, "memory/2026-11-21.org", text)
			put(t, home, "memory/2026-11-20.md", strings.ReplaceAll(text, "* ", "# "))
			if place == "file" {
				put(t, home, "memory/2026-11-20.md", "")
			}
			put(t, home, "SOUL.org", text)
			put(t, home, "profiles/day.org", strings.NewReplacer("* Open", "* SOUL", "* Kept", "* USER", "* Above", "* TOOLS").Replace(text))
			refreshed(t, x, 3)
			if got := places(t, x, "samovar"); got != "" {
				t.Errorf("%s on %s: %s is found", tag, place, got)
			}
			found, err := x.Recall(t.Context(), "Does the samovar hum?", []string{""}, 5)
			if err != nil || len(found) > 0 {
				t.Errorf("%s on %s: %v is recalled (%v)", tag, place, found, err)
			}
			if got := places(t, x, "samovar", "@private"); (got != "") != strings.EqualFold(tag, "@private") {
				t.Errorf("%s on %s: the person finds %q", tag, place, got)
			}
			h := memory.Home{Directory: home}
			p := h.Persona(time.Now())
			profile, err := h.Profile("day")
			if err != nil {
				t.Fatal(err)
			}
			if shown := p.File("SOUL").Text + profile.Style + p.With(profile).File("USER").Text + p.With(profile).File("TOOLS").Text; strings.Contains(shown, "samovar") {
				t.Errorf("%s on %s: the persona says %q", tag, place, shown)
			}
			if place != "file" && (!strings.Contains(p.File("SOUL").Text, "heron") || places(t, x, "heron") == "") {
				t.Errorf("%s on %s: what is not withheld is not there", tag, place)
			}
		}
	}
}

// TestSetupFileChanges checks that text which a setup file withholds since it was indexed is no
// longer found, though the file that names it is unchanged.
func TestSetupFileChanges(t *testing.T) {
	x, home, notes := newIndex(t)
	for _, directory := range []string{notes, home} {
		put(t, directory, "tags.setup", "#+FILETAGS: :home:\n")
	}
	put(t, notes, "a.org", "#+SETUPFILE: tags.setup\n* A\nThe samovar hums.\n")
	put(t, home, "SOUL.org", "#+SETUPFILE: tags.setup\n* A\nThe samovar hums.\n")
	old := time.Now().Add(-time.Hour)
	for _, path := range []string{filepath.Join(notes, "a.org"), filepath.Join(home, "SOUL.org")} {
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	refreshed(t, x, 1)
	h := memory.Home{Directory: home}
	if got := places(t, x, "samovar"); got == "" || !strings.Contains(h.File("SOUL").Text, "samovar") {
		t.Fatal("nothing is withheld, and it is not there")
	}
	refreshed(t, x, 0)
	for _, directory := range []string{notes, home} {
		put(t, directory, "tags.setup", "#+FILETAGS: :home:NoAgent:\n")
	}
	if got := places(t, x, "samovar"); got != "" {
		t.Errorf("%s is found", got)
	}
	if text := h.File("SOUL").Text; strings.Contains(text, "samovar") {
		t.Errorf("the persona says %q", text)
	}
	put(t, notes, "tags.setup", "#+FILETAGS: :home:\n")
	refreshed(t, x, 1)
	if got := places(t, x, "samovar"); got == "" {
		t.Error("what is withheld no more is not found")
	}
}

// TestUpgradedIndex checks that an index of an earlier version, which compared tags with case and
// contains private text, is made anew, and that the text is no longer in its file.
func TestUpgradedIndex(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	files, _, err := journal.OpenFiles(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := files.Put(t.Context(), journal.Document{Path: "/a.org", Parts: []journal.Part{{Title: "Kept", Text: "The samovar hums.", Tags: []string{"NoAgent"}, Line: 1}}}); err != nil {
		t.Fatal(err)
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(data, []byte("samovar")) {
		t.Fatalf("the index has nothing to lose (%v)", err)
	}
	data[63] = 4 // the end of user_version in the header
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	files, fresh, err := journal.OpenFiles(t.Context(), path)
	if err != nil || !fresh {
		t.Fatalf("fresh: %v, %v", fresh, err)
	}
	if hits, err := files.Search(t.Context(), memory.Query{Text: "samovar", AnyScope: true}); err != nil || len(hits) > 0 {
		t.Errorf("%v is found (%v)", hits, err)
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(path); err != nil || bytes.Contains(data, []byte("samovar")) {
		t.Errorf("the word is in the file still (%v)", err)
	}
}
