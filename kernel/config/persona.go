package config

import (
	"embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// starters are the files of a new home that describe the agent and its owner. They contain only
// comments, which no model is shown.
//
//go:embed starters/*.org
var starters embed.FS

// Starters returns the texts that the files of the persona begin with, by file name.
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

// beginPersona writes the starters into a home that has none of these files, in Org or in Markdown.
// If one exists, it writes nothing: files that the person deleted do not come back.
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
		err = errors.Join(err, writeNew(filepath.Join(p.Home, name), text))
	}
	return err
}
