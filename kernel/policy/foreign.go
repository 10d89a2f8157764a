package policy

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"org-agent/kernel/shell"
)

// foreignDirectory returns why a command would run a file of a directory that is no project of the
// conversation, or "". The directory may be an archive of somebody else that was unpacked, and a row that names
// no directory was not written for it. The table of programs says which files a program runs. A relative word of
// the row, a script for instance, also names another file in another directory. The person's own directory and
// the home are trusted.
func (at *places) foreignDirectory(c shell.Command, p *Policy) string {
	if !at.known {
		if word := relativeCode(c); strings.ContainsAny(word, "./") {
			return "it could work in another directory, and runs " + shortened(word) + " of that one"
		}
		return ""
	}
	user, _ := os.UserHomeDir() // "" is no directory
	start := resolved(at.start)
	for i, place := range at.all {
		if place == "" {
			continue // it runs in an empty directory of its own
		}
		place = resolved(place)
		if i < len(at.works) && isBelow(at.works[i], place) { // any other is judged by enter
			place = at.works[i]
		}
		if place == resolved(user) || p.Home != "" && isBelow(place, resolved(p.Home)) {
			continue
		}
		foreign := p.project(place) == ""
		if foreign && !isOfRepository(c) {
			if name := decidingFile(c.Files, place, resolved(user)); name != "" {
				return "it could run what " + name + " of " + shortened(place) + " says, which is no project of the conversation"
			}
		}
		if foreign || !isBelow(place, start) {
			if name := codeIn(c, place); name != "" {
				return "it could run " + shortened(name) + " of " + shortened(place) + ", which the row does not name"
			}
		}
	}
	return ""
}

// decidingFile returns the file by which a directory decides what runs, or "". It looks in directories above as far
// as the user's own.
func decidingFile(files shell.Files, directory, user string) string {
	if name := standsIn(directory, files.Names); name != "" {
		return name
	}
	if len(files.Above) == 0 {
		return ""
	}
	for at := directory; at != user; at = filepath.Dir(at) {
		if name := standsIn(at, files.Above); name != "" {
			return name
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	return ""
}

// standsIn returns a file of the directory that matches one of the patterns, or "".
func standsIn(directory string, patterns []string) string {
	for _, pattern := range patterns {
		if pattern == "*" {
			if name := anyOf(directory); name != "" {
				return shortened(name)
			}
			continue
		}
		if names, err := fs.Glob(os.DirFS(directory), pattern); err == nil && len(names) > 0 {
			return shortened(names[0])
		}
	}
	return ""
}

// anyOf returns a file of the directory, or "". It does not read all of a large one.
func anyOf(directory string) string {
	opened, err := os.Open(directory)
	if err != nil {
		return ""
	}
	defer opened.Close()
	if names, err := opened.Readdirnames(1); err == nil && len(names) > 0 {
		return names[0]
	}
	return ""
}

// codeIn returns a word of the command that names something in the directory that the command would run, or "".
func codeIn(c shell.Command, directory string) string {
	for _, word := range codeWords(c) {
		for _, name := range namesIn(word) {
			if name == "" || filepath.IsAbs(name) {
				continue
			}
			info, err := os.Stat(filepath.Join(directory, name))
			if err == nil && (info.Mode().IsRegular() || strings.Contains(name, "/") && !isOfRepository(c)) {
				return name
			}
		}
	}
	return ""
}

// relativeCode returns the first word of the command that may name a file that it runs, relative to its directory, or "".
func relativeCode(c shell.Command) string {
	for _, word := range codeWords(c) {
		for _, name := range namesIn(word) {
			if name != "" && name[0] != '-' && !filepath.IsAbs(name) {
				return name
			}
		}
	}
	return ""
}

// codeWords returns the words of the command that decide what it runs.
func codeWords(c shell.Command) (words []string) {
	for i, w := range c.Words {
		program := i == c.Assigns && strings.Contains(w.Text, "/")
		if w.Kind == shell.Literal && !w.Home && (program || slices.ContainsFunc(c.Opaque, func(o shell.Opacity) bool { return o.At == i })) {
			words = append(words, w.Text)
		}
	}
	return words
}
