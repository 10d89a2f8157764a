package policy

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"org-agent/kernel/keys"
	"org-agent/kernel/shell"
)

// staysInside reports whether every word of a command that may name a file names one in the directory of the
// command line. Without a directory the command runs in an empty one of its own.
func staysInside(c shell.Command, at places) bool {
	for i, w := range c.Words {
		if i <= c.Assigns || slices.Contains(c.Aside, i) || w.Number {
			continue
		}
		if w.Kind != shell.Literal || w.Home || !at.known {
			return false
		}
		for _, place := range at.all {
			if slices.ContainsFunc(namesIn(w.Text), func(name string) bool { return !liesIn(name, place, at.start) }) {
				return false
			}
		}
	}
	return true
}

// leaves returns a word of the command that the rule's * or ** stands for and that names, or could name,
// something outside of the rule's directory, or a file of keys. It returns "" if there is none, and for a
// rule about no directory. A person who allows cat ** in a project means the files of the project.
func (p *Policy) leaves(r *rule, c shell.Command, directory string) string {
	if r.inside == "" {
		return ""
	}
	if programName(c) == "git" && inRepository(directory) {
		return directory + ", whose settings as a repository without .git" // it may be part of the project's text
	}
	for i, w := range c.Words {
		if i <= c.Assigns || r.words.is(i) || w.Number {
			continue
		}
		if followsLinks(c, w.Text) {
			return w.Text
		}
		if slices.Contains(c.Aside, i) || w.Kind == shell.Literal && !w.Home && w.Text == "/dev/null" {
			continue
		}
		names, known := namesOf(w, directory)
		if !known {
			return w.Text
		}
		for _, name := range names {
			path, known := absolutePath(shell.Word{Text: name}, directory)
			if !liesIn(name, directory, r.inside) || known && (p.protectedName(path) || p.protectedName(resolved(path))) {
				return w.Text
			}
		}
	}
	if readsBelow(c, directory) && p.keysBelow(c, directory) {
		return "a file with keys that is found there"
	}
	return ""
}

// namesOf returns all that a program could take for the name of a file in a word of the command. known is
// false if that cannot be told.
func namesOf(w shell.Word, directory string) (names []string, known bool) {
	switch {
	case w.Home:
		return nil, false
	case w.Kind == shell.Literal:
		return namesIn(w.Text), true
	case w.Kind == shell.Many && filePattern.MatchString(w.Text):
		return matching(w.Text, directory)
	}
	for _, of := range w.Among {
		more, known := namesOf(of, directory)
		if !known {
			return nil, false
		}
		names = append(names, more...)
	}
	return names, len(w.Among) > 0
}

// separators are the signs behind which a word can name a file: --file=NAME, HEAD:NAME, @NAME.
var separators = regexp.MustCompile(`[^A-Za-z0-9_./~+-]`)

// namesIn returns all that a program could take for the name of a file in a word: the word, what follows
// any sign, and for an option what follows its letter and its first slash.
func namesIn(word string) []string {
	names := []string{word}
	for _, at := range separators.FindAllStringIndex(word, -1) {
		names = append(names, word[at[1]:])
	}
	if strings.HasPrefix(word, "-") && len(word) > 2 && !strings.HasPrefix(word, "--") {
		names = append(names, word[2:])
		if at := strings.IndexByte(word, '/'); at >= 0 {
			names = append(names, word[at:])
		}
		if at := strings.Index(word, ".."); at >= 0 {
			names = append(names, word[at:])
		}
	}
	return names
}

// liesIn reports whether a name, relative to the directory, lies in root. Links are followed. A .. behind
// another name is taken for outside, because it leads to the parent of what a link names.
func liesIn(name, directory, root string) bool {
	rest := name
	for rest == ".." || strings.HasPrefix(rest, "../") {
		rest = strings.TrimLeft(strings.TrimPrefix(rest, ".."), "/")
	}
	switch {
	case name == "":
		return true
	case strings.HasPrefix(name, "~") || strings.Contains("/"+rest+"/", "/../") || strings.ContainsRune(name, 0):
		return false
	case directory == "":
		return !filepath.IsAbs(name) && rest == name
	}
	path, known := absolutePath(shell.Word{Text: name}, resolved(directory))
	return known && isBelow(resolved(path), resolved(root))
}

// filePattern matches a pattern of the shell for names in a directory, as it is written. Other patterns
// are not looked into, and no option is one: the shell leaves a pattern that matches nothing as it is.
var filePattern = regexp.MustCompile(`^[A-Za-z0-9_.*?+][A-Za-z0-9_./*?+-]*$`)

// matchLimit is how many files a pattern may match.
const matchLimit = 500

// matching returns the names that the shell puts in place of a pattern. few is false if they are too many,
// or if one of them could be taken for an option.
func matching(pattern, directory string) (names []string, few bool) {
	if directory == "" || filepath.IsAbs(pattern) || strings.Contains("/"+pattern+"/", "/../") {
		return nil, false
	}
	found, err := filepath.Glob(filepath.Join(directory, pattern))
	if err != nil || len(found) > matchLimit {
		return nil, false
	}
	for _, path := range found {
		name, err := filepath.Rel(directory, path)
		if err != nil || strings.HasPrefix(name, "-") {
			return nil, false
		}
		if base := filepath.Base(name); strings.HasPrefix(base, ".") && !strings.HasPrefix(filepath.Base(pattern), ".") {
			continue // the shell does not match it
		}
		names = append(names, name)
	}
	return names, true
}

// followsLinks reports whether a word is an option with which a program follows the links that it finds
// below a directory.
func followsLinks(c shell.Command, word string) bool {
	option, letters := strings.HasPrefix(word, "--"), strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--")
	switch programName(c) {
	case "grep", "egrep", "fgrep":
		return letters && strings.Contains(word, "R") || option && (strings.HasPrefix(word, "--deref"))
	case "rg":
		return letters && strings.Contains(word, "L") || option && strings.HasPrefix(word, "--fol")
	}
	return false
}

// readsBelow reports whether a program may read files below a directory that its words do not name, also
// such as .env. rg leaves out what begins with a dot, but an option or a file of the project can change
// that. git reads what is in its repository, and with diff --no-index, or without a repository, any files.
func readsBelow(c shell.Command, directory string) bool {
	program := programName(c)
	if program == "rg" {
		return true
	}
	diff := false
	for _, w := range c.Words[c.Assigns:] {
		option, letters := strings.HasPrefix(w.Text, "--"), strings.HasPrefix(w.Text, "-") && !strings.HasPrefix(w.Text, "--")
		diff = diff || w.Text == "diff"
		switch program {
		case "grep", "egrep", "fgrep":
			if letters && strings.ContainsAny(w.Text, "rd") || option && (strings.HasPrefix(w.Text, "--r") || strings.HasPrefix(w.Text, "--d")) {
				return true
			}
		case "git":
			if strings.HasPrefix(w.Text, "--no-i") {
				return true
			}
		}
	}
	return program == "git" && diff && !belowRepository(directory)
}

// belowRepository reports whether a directory above this one, or the directory itself, has a .git.
func belowRepository(directory string) bool {
	for at := resolved(directory); ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return true
		}
		if at == "/" || at == "." {
			return false
		}
	}
}

// programName returns the name of the program of a command, "" if it is not known.
func programName(c shell.Command) string {
	if c.Assigns >= len(c.Words) || c.Words[c.Assigns].Kind != shell.Literal {
		return ""
	}
	return shell.Program(c.Words[c.Assigns].Text)
}

// errKeys ends a search that has found a file of keys.
var errKeys = errors.New("a file of keys")

// searchLimit is how many files are looked at for one with keys.
const searchLimit = 20000

// keysBelow reports whether there is, or may be, a file of keys below the directories that a command names,
// or below its own.
func (p *Policy) keysBelow(c shell.Command, directory string) bool {
	var roots []string
	told, seen := false, 0 // told: which word is the pattern
	for i, w := range c.Words {
		aside := slices.Contains(c.Aside, i)
		told = told || aside && !strings.HasPrefix(w.Text, "-")
		if i <= c.Assigns || aside || strings.HasPrefix(w.Text, "-") {
			continue
		}
		path, known := absolutePath(w, directory)
		if !known {
			return true // a pattern, which may match any directory
		}
		roots = append(roots, path)
	}
	if !told || len(roots) == 0 {
		roots = []string{directory}
	}
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() && entry.Name() == ".git" {
				return fs.SkipDir
			}
			if seen++; seen > searchLimit || err == nil && !entry.IsDir() && (keys.Of(path) != keys.None || p.secret(path)) {
				return errKeys
			}
			return nil
		})
		if err != nil {
			return true
		}
	}
	return false
}
