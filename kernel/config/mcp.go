package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"org-agent/kernel/org"
)

// MCPServer is a heading below "MCP": a program, or a server of the web, whose tools the agent
// may ask to have used.
type MCPServer struct {
	Name string // as its tools' names begin: letters, digits and underscores
	// Command is the program and what it is called with, Directory where it runs, "" for the
	// home.
	Command   []string
	Directory string
	// Variables are those of its environment that are no secret, each NAME=VALUE. Secrets are
	// those that are one.
	Variables []string
	Secrets   []NamedKey
	// URL is that of a server of the web. Old: it speaks as such servers did before 2025.
	URL string
	Old bool
	// Key is sent as the bearer's, Headers as they are named.
	Key     KeySource
	Headers []NamedKey
	// Timeout is how long a call may take; 0 for the reader's own default.
	Timeout time.Duration
	Line    int
}

// NamedKey is a key, and what it is given as: a variable, or a header.
type NamedKey struct {
	Name string
	Key  KeySource
}

// Keys are the places of all its keys.
func (m MCPServer) Keys() []KeySource {
	keys := []KeySource{m.Key}
	for _, named := range append(append([]NamedKey{}, m.Secrets...), m.Headers...) {
		keys = append(keys, named.Key)
	}
	return keys
}

// mcp reads a heading below "MCP". As with a model, one that is at fault is left out.
func (p *settingsParser) mcp(h *org.Heading) {
	server := MCPServer{Name: mcpName(h.Title), Line: h.Line}
	variable := func(value string) error { return addVariable(&server.Variables, value) }
	secret := func(value string) error { return addNamed(&server.Secrets, value, "GITHUB_TOKEN env:GITHUB_TOKEN") }
	header := func(value string) error { return addNamed(&server.Headers, value, "X-Api-Key env:SERVICE_KEY") }
	whole := p.drawer(h, []property{
		{"COMMAND", func(value string) (err error) { server.Command, err = words(value); return err }},
		{"DIRECTORY", func(value string) error {
			if server.Directory = value; !filepath.IsAbs(value) && value != "~" && !strings.HasPrefix(value, "~/") {
				return fmt.Errorf("%q is no directory as /srv/notes or ~/notes", value)
			}
			return nil
		}},
		{"ENVIRONMENT", variable}, {"ENVIRONMENT+", variable},
		{"SECRET", secret}, {"SECRET+", secret},
		{"URL", func(value string) error { server.URL = value; return checkBaseURL(value) }},
		{"TRANSPORT", func(value string) error {
			if server.Old = value == "sse"; value != "sse" && value != "http" {
				return fmt.Errorf("%q is not \"http\" or, for a server of before 2025, \"sse\"", value)
			}
			return nil
		}},
		{"API_KEY", func(value string) (err error) { server.Key, err = ParseKeySource(value); return err }},
		{"HEADER", header}, {"HEADER+", header},
		{"TIMEOUT", func(value string) error { return setDuration(&server.Timeout, value) }},
	})
	if !whole {
		return
	}
	if err := server.check(); err != nil {
		p.fault(h.Line, "the MCP server %q %v", h.Title, err)
		return
	}
	for _, other := range p.settings.MCP {
		if strings.EqualFold(foldName(other.Name), foldName(server.Name)) {
			p.fault(h.Line, "the MCP server %q has the name of the one in line %d: its tools' names would be the same", h.Title, other.Line)
			return
		}
	}
	p.settings.MCP = append(p.settings.MCP, server)
}

// check says what is missing, or does not go together.
func (m MCPServer) check() error {
	program := len(m.Variables)+len(m.Secrets) > 0 || m.Directory != ""
	web := len(m.Headers) > 0 || m.Key != KeySource{} || m.Old
	switch {
	case m.Name == "":
		return errors.New("needs a name: its heading has no letter of a to z and no digit")
	case m.URL == "" && len(m.Command) == 0:
		return errors.New("needs a property COMMAND, as :COMMAND: npx -y @modelcontextprotocol/server-everything, or URL")
	case m.URL != "" && len(m.Command) > 0:
		return errors.New("has both a COMMAND and a URL: it is a program or a server of the web")
	case m.URL != "" && program:
		return errors.New("has a URL, and DIRECTORY, ENVIRONMENT and SECRET are for a program: a key goes into API_KEY or HEADER")
	case m.URL == "" && web:
		return errors.New("has a COMMAND, and API_KEY, HEADER and TRANSPORT are for a server with a URL: a key goes into SECRET")
	}
	return nil
}

// mcpName is a heading as the beginning of tools' names.
func mcpName(title string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(title) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			b.WriteRune(c)
		} else if text := b.String(); text != "" && !strings.HasSuffix(text, "_") {
			b.WriteByte('_')
		}
	}
	const most = 24
	name := b.String()
	return strings.TrimRight(name[:min(len(name), most)], "_")
}

// foldName is a name without what spellings of tools' names differ in.
func foldName(name string) string { return strings.ReplaceAll(name, "_", "") }

// words are those of a command line, with quotes as a shell has them and nothing else of it.
func words(line string) ([]string, error) {
	var all []string
	var word strings.Builder
	quote, begun := rune(0), false
	for _, c := range line {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, begun = c, true
		case quote == 0 && (c == ' ' || c == '\t'):
			if begun || word.Len() > 0 {
				all = append(all, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(c)
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a %c is not closed", quote)
	}
	if begun || word.Len() > 0 {
		all = append(all, word.String())
	}
	if len(all) == 0 {
		return nil, errors.New("there is no program")
	}
	return all, nil
}

// addVariable reads NAME=VALUE.
func addVariable(to *[]string, text string) error {
	name, _, found := strings.Cut(text, "=")
	if !found || !isVariable(name) {
		return errors.New("this is not NAME=VALUE; a key goes into SECRET")
	}
	*to = append(*to, text)
	return nil
}

func isVariable(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		return c != '_' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (c < '0' || c > '9')
	})
}

// addNamed reads a name and where its key is, as in the example. What stands there otherwise may be
// the key, and is not told.
func addNamed(to *[]NamedKey, text, example string) error {
	name, source, _ := strings.Cut(text, " ")
	key, err := ParseKeySource(source)
	if err != nil {
		return fmt.Errorf("this is not a name and where its key is, as %s: %w", example, err)
	}
	if !isVariable(strings.ReplaceAll(name, "-", "_")) {
		return fmt.Errorf("this does not begin with a name: write it as %s", example)
	}
	*to = append(*to, NamedKey{name, key})
	return nil
}
