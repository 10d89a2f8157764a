//go:build !race

// This test has one goroutine, and with the race detector it takes three times as long.

package memory_test

import (
	"errors"
	"fmt"
	"org-agent/kernel/memory"
	"org-agent/kernel/org"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestStoreBesideAPerson checks that the agent changes no byte of what a person wrote, whatever
// both do to a file in turns, and that undoing everything leaves the person's text.
func TestStoreBesideAPerson(t *testing.T) {
	s := newStore(t)
	homes, home := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		home++
		s.Home = filepath.Join(homes, fmt.Sprint(home))
		if err := os.Mkdir(s.Home, 0o755); err != nil {
			rt.Fatal(err)
		}
		path := filepath.Join(s.Home, "MEMORY.org")
		var theirs []string
		var ids, undo []string
		keep := func(c memory.Change, err error) {
			if err == nil {
				undo = append(undo, c.ID)
			} else if !errors.Is(err, memory.ErrNotFound) && !errors.Is(err, memory.ErrHolds) {
				rt.Fatal(err)
			}
		}
		id := func() string { return rapid.SampledFrom(append(ids, "none")).Draw(rt, "id") }
		rt.Repeat(map[string]func(*rapid.T){
			"person": func(rt *rapid.T) {
				line := fmt.Sprintf("* Theirs %d :mine:\n%s\n", len(theirs), rapid.SampledFrom([]string{"prose", "- item", "| table |", "\n\nblank lines\n\n"}).Draw(rt, "text"))
				theirs = append(theirs, line)
				text := written(t, s, "MEMORY.org")
				if rapid.Bool().Draw(rt, "first") {
					text = line + text
				} else {
					text += line
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					rt.Fatal(err)
				}
			},
			"save": func(rt *rapid.T) {
				r, c, err := s.Save(t.Context(), "", anyRecord("x").Draw(rt, "record"), true)
				keep(c, err)
				ids = append(ids, r.ID)
			},
			"update": func(rt *rapid.T) {
				r := anyRecord("x").Draw(rt, "record")
				r.ID = id()
				keep(s.Update(t.Context(), "", r))
			},
			"forget": func(rt *rapid.T) { keep(s.Forget(t.Context(), "", id())) },
			"": func(rt *rapid.T) {
				text := written(t, s, "MEMORY.org")
				for _, line := range theirs {
					if strings.Count(text, line) != 1 {
						rt.Fatalf("%q is not there once in\n%s", line, text)
					}
				}
			},
		})
		for i := len(undo) - 1; i >= 0; i-- {
			if _, err := s.Undo(t.Context(), undo[i]); err != nil && !errors.Is(err, memory.ErrHolds) {
				rt.Fatalf("undo %s: %v in\n%s", undo[i], err, written(t, s, "MEMORY.org"))
			}
		}
		for _, h := range org.Parse(written(t, s, "MEMORY.org")).Headings {
			if !strings.HasPrefix(h.Title, "Theirs ") {
				rt.Fatalf("%q is left", h.Title)
			}
		}
	})
}
