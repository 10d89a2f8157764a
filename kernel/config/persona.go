package config

import (
	"embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// starters are the files that say who the agent is and whom it works for, as a new home has
// them: comments only, which say nothing to a model.
//
//go:embed starters/*.org
var starters embed.FS

// StarterLine stands once in each of the starters, where what a person says belongs.
const StarterLine = "# Write below this line."

// Starters are the texts that the files of the persona begin with, by their names.
func Starters() (map[string]string, error) {
	entries, err := starters.ReadDir("starters")
	texts := map[string]string{}
	for _, entry := range entries {
		text, readErr := starters.ReadFile("starters/" + entry.Name())
		err = errors.Join(err, readErr)
		texts[entry.Name()] = string(text)
	}
	return texts, err
}

// beginPersona writes the starters into a home that has none of these files, in Org or in
// Markdown: whoever deletes some of them does not get them again.
func (p Paths) beginPersona() error {
	texts, err := Starters()
	if err != nil {
		return err
	}
	for name := range texts {
		for _, file := range []string{name, strings.TrimSuffix(name, ".org") + ".md"} {
			if _, err := os.Lstat(filepath.Join(p.Home, file)); !errors.Is(err, fs.ErrNotExist) {
				return nil
			}
		}
	}
	for name, text := range texts {
		err = errors.Join(err, begin(filepath.Join(p.Home, name), text))
	}
	return err
}
