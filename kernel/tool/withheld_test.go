package tool_test

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"pgregory.net/rapid"

	"org-agent/kernel/cover"
	"org-agent/kernel/journal"
	"org-agent/kernel/memory"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skillmd"
	"org-agent/kernel/tool"
)

// Words in withheld text and in other text. A tag in the same case as the word in a text would be
// found by any program that compares letters.
const (
	canary  = "canaryword"
	sparrow = "sparrowword"
)

// hidden is a text with a canary that is withheld and, if only a part is withheld, a sparrow that
// is not. files are the other files that it needs.
type hidden struct {
	place, suffix string
	text          string
	files         map[string]string
	whole         bool
}

// randomCase returns a word with letters of either case.
func randomCase(t *rapid.T, word string) string {
	return strings.Map(func(r rune) rune {
		if rapid.Bool().Draw(t, "upper") {
			return unicode.ToUpper(r)
		}
		return unicode.ToLower(r)
	}, word)
}

const open = "* TODO Open " + sparrow + "\nSCHEDULED: <2026-03-02 Mon>\n:PROPERTIES:\n:ID: open-1\n:END:\nA " + sparrow + " sings.\n"

func drawHidden(t *rapid.T) hidden {
	h := hidden{place: rapid.SampledFrom([]string{"heading", "ancestor", "filetags", "filetags below", "setupfile", "setupfile twice", "itags", "origin"}).Draw(t, "place"),
		suffix: rapid.SampledFrom([]string{".org", ".ORG", ".org_archive", ".org.rej", ".org~", ".org.orig", ".org.bak", "#", ".org.gpg", ".age", "mode line", "local variables", "link"}).Draw(t, "suffix"), files: map[string]string{}}
	tag := randomCase(t, rapid.SampledFrom([]string{"noagent", "@private", "crypt"}).Draw(t, "tag"))
	if rapid.Bool().Draw(t, "among others") {
		tag = "home:" + tag + ":x"
	}
	key := func(name string) string { return randomCase(t, name) }
	secret := func(depth int, tags string) string {
		return fmt.Sprintf("%s TODO Kept %s%s\nSCHEDULED: <2026-03-02 Mon>\n:PROPERTIES:\n:ID: kept-1\n:END:\nThe %s sings.\n", strings.Repeat("*", depth), canary, tags, canary)
	}
	switch h.place {
	case "heading":
		h.text = open + secret(rapid.IntRange(1, 3).Draw(t, "depth"), "   :"+tag+":") + "* Behind\n"
	case "ancestor":
		h.text = "* Above :" + tag + ":\n** Between\n" + secret(rapid.IntRange(2, 5).Draw(t, "depth"), "") + open
	case "filetags":
		h.text, h.whole = "#+TITLE: t\n#+"+key("filetags")+": :a:\n  #+"+key("filetags")+":   :"+tag+":\n"+open+secret(1, ""), true
	case "filetags below":
		h.text, h.whole = open+secret(1, "")+"#+"+key("filetags")+": :"+tag+":\n", true
	case "setupfile":
		h.text, h.whole = "#+"+key("setupfile")+": below/setup.org\n"+open+secret(1, ""), true
		h.files["below/setup.org"] = "#+" + key("filetags") + ": :" + tag + ":\n"
	case "setupfile twice":
		h.text, h.whole = open+secret(1, "")+"#+"+key("setupfile")+": \"one.setup\"\n", true
		h.files["one.setup"], h.files["two.setup"] = "#+SETUPFILE: two.setup\n", "#+"+key("filetags")+": "+strings.ReplaceAll(tag, ":", " ")+"\n"
	case "itags":
		h.text = open + strings.Replace(secret(1, ""), ":ID:", ":"+key("archive_itags")+": "+strings.ReplaceAll(tag, ":", " ")+"\n:ID:", 1) + "* Behind\n"
	case "origin":
		h.text = open + strings.Replace(secret(1, ""), ":ID:", ":"+key("archive_file")+": below/origin.org\n:ID:", 1) + "* Behind\n"
		h.files["below/origin.org"] = "#+" + key("filetags") + ": :" + tag + ":\n"
	}
	switch h.suffix {
	case ".org.gpg", ".age":
		h.whole = true
	case "mode line":
		h.text = "# -*- " + key("mode: org") + " -*-\n" + h.text
	case "local variables":
		h.text += "* Local\n# Local Variables:\n# mode: " + key("org") + "\n# End:\n"
	}
	return h
}

// TestWithheldFromAllReaders checks that no reader returns a word of withheld text, however it is
// withheld and whatever the name of the file, and that each returns a word of the rest.
func TestWithheldFromAllReaders(t *testing.T) {
	number := 0
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		h := drawHidden(rt)
		number++
		home := filepath.Join(root, fmt.Sprint(number))
		put := func(name, text string) string {
			path := filepath.Join(home, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				rt.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				rt.Fatal(err)
			}
			return path
		}
		for name, text := range h.files {
			put("notes/"+name, text)
			put(name, text)
		}
		name := "n" + h.suffix
		switch h.suffix {
		case "#":
			name = "#n.org#"
		case "mode line", "local variables":
			name = "n"
		case "link":
			name = "n.txt"
			if err := os.Link(put("notes/n.org", h.text), filepath.Join(home, "notes", name)); err != nil {
				rt.Fatal(err)
			}
		}
		path := put("notes/"+name, h.text)
		put("MEMORY.org", h.text)
		for file, text := range h.files {
			put("skills/birds/"+file, text)
		}
		put("skills/birds/"+name, h.text)
		put("skills/birds/SKILL.md", "---\nname: birds\ndescription: Of birds.\n---\n# Birds\n")
		if h.suffix == "link" {
			if err := errors.Join(os.Remove(filepath.Join(home, "skills/birds", name)), os.Link(put("skills/birds/n.org", h.text), filepath.Join(home, "skills/birds", name))); err != nil {
				rt.Fatal(err)
			}
		}
		birds := skillmd.New(skillmd.Config{Home: filepath.Join(home, "skills")})
		birds.Load(t.Context())

		index := filepath.Join(root, fmt.Sprint(number)+".db")
		found, _, err := journal.OpenFiles(t.Context(), index)
		if err != nil {
			rt.Fatal(err)
		}
		defer found.Close()
		x := &memory.Index{Files: found, Logger: slog.New(slog.DiscardHandler), Roots: []memory.Root{{Path: filepath.Join(home, "MEMORY.org"), Memory: true}, {Path: filepath.Join(home, "notes")}}}
		if _, err := x.Refresh(t.Context()); err != nil {
			rt.Fatal(err)
		}
		files := tool.Files{Home: home}
		emacs := &desk{notes: protocol.EmacsNotes{Agenda: []string{path}}, agenda: func(p protocol.EmacsAgendaParams) (protocol.EmacsAgenda, error) {
			var items []protocol.EmacsAgendaItem // of an Emacs that knows only its own tags
			for i, line := range strings.Split(h.text, "\n") {
				if _, title, ok := strings.Cut(line, " TODO "); ok && strings.HasPrefix(line, "*") {
					items = append(items, protocol.EmacsAgendaItem{Day: "2026-03-02", Title: title, Line: i + 1})
				}
			}
			return protocol.EmacsAgenda{Items: items}, nil
		}}
		registry := func(emacs tool.Emacs) *tool.Registry {
			r, err := tool.BuiltIn(tool.Deps{
				Skills: birds.Current, Files: files, Memory: tool.Memory{Store: &memory.Store{Home: home}, Index: x},
				Notes: tool.Notes{Files: files, Roots: func() []string { return []string{filepath.Join(home, "notes")} }, Emacs: emacs, NewID: func() string { return "new-1" },
					Now: func() time.Time { return time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC) }},
			})
			if err != nil {
				rt.Fatal(err)
			}
			return r.For(&tool.Caller{Conversation: tool.Conversation{Alone: true, Session: "s"}})
		}
		files0, live := registry(nil), registry(emacs)
		call := func(r *tool.Registry, name string, pairs ...any) string {
			resolved, _, err := r.Reach(t.Context(), name, plain(pairs...))
			text := ""
			if err == nil {
				text, _, err = r.Call(t.Context(), name, resolved)
			}
			if err != nil {
				return text + err.Error()
			}
			return text
		}
		recalled := func(word string) string {
			found, err := x.Recall(t.Context(), "What of the "+word+" that sings?", []string{""}, 10)
			if err != nil {
				rt.Fatal(err)
			}
			return fmt.Sprint(found)
		}
		seen := func(string) string { // by a command
			for _, file := range (&cover.Finder{User: home}).Look(t.Context(), filepath.Dir(path)).Files {
				if file.Path == path {
					return file.Text
				}
			}
			text, err := os.ReadFile(path)
			if err != nil {
				rt.Fatal(err)
			}
			return string(text)
		}
		persona := func(string) string {
			p := (&memory.Home{Directory: home}).Persona(time.Now())
			file := p.File("MEMORY")
			return file.Text + file.Within("", true) + fmt.Sprint(file.Fields)
		}
		readers := []struct {
			name  string
			shows bool // it returns what is not withheld
			read  func(word string) string
		}{
			{"read", true, func(string) string { return call(files0, "read", "path", path) }},
			{"grep", true, func(word string) string { return call(files0, "grep", "path", path, "pattern", word+" sings") }},
			{"grep in a directory", true, func(word string) string {
				return call(files0, "grep", "path", filepath.Dir(path), "pattern", word+" sings", "context", int64(3))
			}},
			{"edit", false, func(word string) string {
				return call(files0, "edit", "path", path, "old", "The "+word+" sin", "new", "x")
			}},
			{"write", false, func(string) string { return call(files0, "write", "path", path, "content", "x") }},
			{"glob", false, func(string) string { return call(files0, "glob", "pattern", "**") }},
			{"org_query", true, func(string) string { return call(files0, "org_query", "files", []any{path}, "body", true) }},
			{"agenda", true, func(string) string { return call(files0, "agenda", "files", []any{path}, "open", true) }},
			{"agenda of Emacs", true, func(string) string { return call(live, "agenda", "files", []any{path}) }},
			{"org_edit", false, func(string) string {
				return call(files0, "org_edit", "file", path, "heading", []any{"Kept"}, "todo", "DONE")
			}},
			{"org_edit by id", false, func(string) string { return call(files0, "org_edit", "id", "kept-1", "todo", "DONE") }},
			{"memory_search", true, func(word string) string { return call(files0, "memory_search", "query", word+" sings") }},
			{"use_skill", true, func(string) string { return call(files0, "use_skill", "name", "birds", "file", name) }},
			{"a command", true, seen},
			{"recall", true, recalled},
			{"persona", true, persona},
		}
		// A file that is withheld as a whole by its name is withheld only among the notes:
		// MEMORY.org is Org.
		byName := h.suffix == ".org.gpg" || h.suffix == ".age"
		for _, r := range readers {
			if got := r.read(canary); strings.Contains(got, canary) {
				rt.Fatalf("%s tells of what is withheld in %s by %s:\n%s\nof\n%s", r.name, name, h.place, got, h.text)
			}
			inMemory := r.name == "recall" || r.name == "persona" || r.name == "memory_search"
			if shown := r.shows && (!h.whole || byName && inMemory && !strings.Contains(h.place, "file")); shown {
				if got := r.read(sparrow); !strings.Contains(got, sparrow) {
					rt.Fatalf("%s tells nothing of what is not withheld in %s by %s:\n%s\nof\n%s", r.name, name, h.place, got, h.text)
				}
			}
		}
		if data, err := os.ReadFile(path); err != nil || string(data) != h.text {
			rt.Fatalf("the file was changed: %v\n%s", err, data)
		}
	})
}
