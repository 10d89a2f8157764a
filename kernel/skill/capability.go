package skill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"org-agent/kernel/fetch"
	"org-agent/kernel/lisp"
	"org-agent/kernel/org"
	"org-agent/kernel/suggest"
)

// capabilityKinds are the kinds of capabilities that #+CAPABILITIES can request.
var capabilityKinds = []string{"read", "write", "net", "exec", "env"}

// maximumCapabilities is how many words a note may request.
const maximumCapabilities = 64

// capabilityRequest is one word of a #+CAPABILITIES line.
type capabilityRequest struct {
	kind, what   string
	line, column int
}

func (a capabilityRequest) word() string { return a.kind + ":" + a.what }

// capabilities parses the #+CAPABILITIES lines, which hold words KIND:WHAT. The person sees the
// requested capabilities and may grant them.
func capabilities(file string, doc *org.Document) ([]capabilityRequest, []Diagnostic) {
	var requested []capabilityRequest
	var faults []Diagnostic
	for _, keyword := range doc.Keywords {
		if keyword.Key != "CAPABILITIES" {
			continue
		}
		line := doc.Source[keyword.Start:keyword.End]
		at := strings.Index(line, ":") + 1
		for word := range strings.FieldsSeq(keyword.Value) {
			at += strings.Index(line[at:], word)
			column := 1 + utf8.RuneCountInString(line[:at])
			at += len(word)
			kind, what, ok := strings.Cut(word, ":")
			fault := ""
			switch {
			case !ok || what == "" || !slices.Contains(capabilityKinds, kind):
				fault = capabilityFault(word, kind)
			case strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsPrint(r) }):
				fault = fmt.Sprintf("%q has a character that cannot be seen; write it as %%XX, byte by byte", word)
			case len(requested) == maximumCapabilities:
				return requested, append(faults, Diagnostic{File: file, Line: keyword.Line, Column: column, Message: fmt.Sprintf(
					"the note asks for more than %d capabilities", maximumCapabilities)})
			}
			if fault != "" {
				faults = append(faults, Diagnostic{File: file, Line: keyword.Line, Column: column, Message: fault})
				continue
			}
			requested = append(requested, capabilityRequest{kind: kind, what: what, line: keyword.Line, column: column})
		}
	}
	return requested, faults
}

func capabilityFault(word, kind string) string {
	message := fmt.Sprintf("%q is no capability; write read:DIR write:DIR net:HOST exec:PROGRAM or env:NAME", word)
	if near := suggest.Of(kind, capabilityKinds); near != "" && near != kind {
		message += fmt.Sprintf(" (did you mean %q?)", near)
	}
	return message
}

// Capability is one thing that a note asks for.
type Capability struct {
	// Word is the capability as it stands in the note.
	Word string `json:"asked"`
	// Name is the word as it is granted. It names a directory by its path without links.
	Name string `json:"name,omitempty"`
	// Meaning says in plain words what the capability allows.
	Meaning string `json:"meaning,omitempty"`
	// Refused says why it cannot be granted, "" if it can.
	Refused string `json:"refused,omitempty"`

	kind, what string       // what it names: a path, a variable or a server
	server     fetch.Server // of a capability net:
}

// understand interprets a word in this home.
func (g *Grants) understand(kind, what string) Capability {
	c := Capability{Word: kind + ":" + what, kind: kind}
	switch kind {
	case "net":
		return g.server(what)
	case "exec":
		c.Refused = "no note can run programs yet"
	case "env":
		c.what, c.Refused = what, g.refuseVariable(what)
		c.Meaning = "read the environment variable " + what
	default:
		var err error
		if c.what, err = g.path(what); err == nil {
			c.what, err = lisp.RealPath(c.what)
		}
		if strings.ContainsAny(what, "*?") {
			err = fmt.Errorf("%s has a wildcard: name a directory, and all below it is meant", encodeName(what, false))
		}
		if err == nil {
			err = g.refuseDirectory(kind, c.what)
		}
		if err != nil {
			c.Refused = err.Error()
		}
		c.Meaning = map[string]string{"read": "read", "write": "make, change, rename and delete"}[kind] + " the files in " + encodeName(c.what, false) + " and below"
		if _, err := os.Stat(c.what); errors.Is(err, fs.ErrNotExist) {
			c.Meaning += " (there is no such directory yet)"
		}
		if c.what == "/" || c.what == g.config.User {
			c.Meaning += ": that is everything you have, but for what the kernel keeps"
		}
	}
	if c.Refused == "" {
		c.Name = kind + ":" + encodeName(c.what, true)
	}
	return c
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// secretParts are parts of variable names that mark the value as a secret.
var secretParts = []string{
	"KEY", "KEYS", "APIKEY", "TOKEN", "TOKENS", "SECRET", "SECRETS", "PASS", "PASSWD", "PASSWORD", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS",
}

// refuseVariable returns why notes cannot read a variable, or "" if they can.
func (g *Grants) refuseVariable(name string) string {
	if !variableName.MatchString(name) {
		return "that is no name of an environment variable"
	}
	secret := g.config.Secrets != nil && slices.Contains(g.config.Secrets(), name) || slices.ContainsFunc(strings.Split(strings.ToUpper(name), "_"), func(part string) bool {
		return slices.Contains(secretParts, part)
	})
	if secret {
		return "it names a secret, and what a note reads may be sent to a model"
	}
	return ""
}

// path returns the absolute path that a word names. ~ and $HOME are the user's directory, a
// relative name lies in the home, and %XX is a byte that cannot stand in a word. Links are not
// followed.
func (g *Grants) path(name string) (string, error) {
	path, err := decodeName(name)
	if err != nil {
		return "", err
	}
	for _, user := range []string{"~", "$HOME", "${HOME}"} {
		if path != user && !strings.HasPrefix(path, user+"/") {
			continue
		}
		if !filepath.IsAbs(g.config.User) {
			return "", fmt.Errorf("HOME is not set, so there is no %s", user)
		}
		path = filepath.Join(g.config.User, path[len(user):])
	}
	switch {
	case strings.HasPrefix(path, "~"):
		return "", fmt.Errorf("%s names another user's files", name)
	case strings.HasPrefix(path, "$"):
		return "", fmt.Errorf("%s begins with a variable, and only $HOME is known here", name)
	case strings.ContainsRune(path, 0):
		return "", fmt.Errorf("%s is no name of a directory", name)
	case !filepath.IsAbs(path) && !filepath.IsAbs(g.config.Home):
		return "", fmt.Errorf("%s is relative, and there is no home it could be relative to", name)
	case !filepath.IsAbs(path):
		path = filepath.Join(g.config.Home, path)
	}
	return filepath.Clean(path), nil
}

// refuseDirectory returns an error if notes cannot be granted a directory.
func (g *Grants) refuseDirectory(kind, path string) error {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is no directory: name the one it is in", encodeName(path, false))
	}
	return g.refuseFile(kind, path)
}

// refuseFile returns an error if notes cannot reach a path without links, whatever was granted.
func (g *Grants) refuseFile(kind, path string) error {
	for _, system := range []string{"/proc", "/sys", "/dev"} {
		if path == system || strings.HasPrefix(path, system+"/") {
			return fmt.Errorf("%s is the system's, and not for notes", system)
		}
	}
	if g.config.Closed != nil && g.config.Closed(path) {
		return fmt.Errorf("%s is closed to notes: the kernel keeps it for itself, or it is where keys and passwords are", encodeName(path, false))
	}
	if kind == "write" && g.config.Protected != nil && g.config.Protected(path) {
		return fmt.Errorf("%s is protected: it decides what the agent is and may do, and only you change it", encodeName(path, false))
	}
	return nil
}
