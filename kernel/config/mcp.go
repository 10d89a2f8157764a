package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"org-agent/kernel/org"
)

// MCPServer is a heading below "MCP": a program or a web server whose tools the agent may propose
// to call.
type MCPServer struct {
	Name string // the beginning of its tools' names: letters, digits and underscores
	// Command is the program and its arguments. It runs in Directory; "" means the home.
	Command   []string
	Directory string
	// Variables are environment variables without secrets, each NAME=VALUE. Secrets are the others.
	Variables []string
	Secrets   []NamedKey
	// URL is the address of a web server. Old servers speak HTTP with SSE, the transport that MCP
	// replaced in 2025.
	URL string
	Old bool
	// Key is sent as a bearer token. Headers are sent under their names.
	Key     KeySource
	Headers []NamedKey
	// Timeout is how long a call may take; 0 means the reader's default.
	Timeout time.Duration
	Line    int
}

// NamedKey is a key with the name of the variable or the header that carries it.
type NamedKey struct {
	Name string
	Key  KeySource
}

// Keys returns the sources of all its keys.
func (m MCPServer) Keys() []KeySource {
	keys := []KeySource{m.Key}
	for _, named := range append(append([]NamedKey{}, m.Secrets...), m.Headers...) {
		keys = append(keys, named.Key)
	}
	return keys
}

// mcp reads a heading below "MCP". Like a model, a heading with a fault is left out.
func (p *settingsParser) mcp(h *org.Heading) {
	server := MCPServer{Name: mcpName(h.Title), Line: h.Line}
	variable := func(value string) error { return addVariable(&server.Variables, value) }
	secret := func(value string) error { return addNamed(&server.Secrets, value, "GITHUB_TOKEN env:GITHUB_TOKEN") }
	header := func(value string) error { return addNamed(&server.Headers, value, "X-Api-Key env:SERVICE_KEY") }
	whole := p.drawer(h, []property{
		{"COMMAND", func(value string) (err error) { server.Command, err = splitCommandLine(value); return err }},
		{"DIRECTORY", func(value string) error {
			if server.Directory = value; !filepath.IsAbs(value) && value != "~" && !strings.HasPrefix(value, "~/") {
				return fmt.Errorf("%q is not a directory such as /srv/notes or ~/notes", value)
			}
			return nil
		}},
		{"ENVIRONMENT", variable}, {"ENVIRONMENT+", variable},
		{"SECRET", secret}, {"SECRET+", secret},
		{"URL", func(value string) error { server.URL = value; return checkBaseURL(value) }},
		{"TRANSPORT", func(value string) error {
			if server.Old = value == "sse"; value != "sse" && value != "http" {
				return fmt.Errorf("%q is not \"http\" or, for a server from before 2025, \"sse\"", value)
			}
			return nil
		}},
		{"API_KEY", func(value string) (err error) { server.Key, err = parseKeySource(value); return err }},
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
			p.fault(h.Line, "the MCP server %q has the same name as the one in line %d: their tools would have the same names", h.Title, other.Line)
			return
		}
	}
	p.settings.MCP = append(p.settings.MCP, server)
}

// check returns an error for a missing property or for properties that exclude each other.
func (m MCPServer) check() error {
	program := len(m.Variables)+len(m.Secrets) > 0 || m.Directory != ""
	web := len(m.Headers) > 0 || m.Key != KeySource{} || m.Old
	switch {
	case m.Name == "":
		return errors.New("needs a name: its heading contains no letter a to z and no digit")
	case m.URL == "" && len(m.Command) == 0:
		return errors.New("needs a property COMMAND, such as :COMMAND: npx -y @modelcontextprotocol/server-everything, or URL")
	case m.URL != "" && len(m.Command) > 0:
		return errors.New("has both a COMMAND and a URL: keep the one that says what it is, a program or a web server")
	case m.URL != "" && program:
		return errors.New("has a URL, but DIRECTORY, ENVIRONMENT and SECRET are for programs: put a key into API_KEY or HEADER")
	case m.URL == "" && web:
		return errors.New("has a COMMAND, but API_KEY, HEADER and TRANSPORT are for servers with a URL: put a key into SECRET")
	}
	return nil
}

// mcpName turns a heading into the beginning of its tools' names.
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

// foldName removes what may differ between two spellings of a tool's name.
func foldName(name string) string { return strings.ReplaceAll(name, "_", "") }

// splitCommandLine splits a command line at blanks. Quotes work as in a shell; nothing else of a
// shell does.
func splitCommandLine(line string) ([]string, error) {
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
		return nil, fmt.Errorf("the quote %c is not closed", quote)
	}
	if begun || word.Len() > 0 {
		all = append(all, word.String())
	}
	if len(all) == 0 {
		return nil, errors.New("it names no program")
	}
	return all, nil
}

// addVariable reads NAME=VALUE.
func addVariable(to *[]string, text string) error {
	name, _, found := strings.Cut(text, "=")
	if !found || !isVariable(name) {
		return errors.New("this is not NAME=VALUE; put a key into SECRET")
	}
	*to = append(*to, text)
	return nil
}

func isVariable(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		return c != '_' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (c < '0' || c > '9')
	})
}

// addNamed reads a name and the source of its key, written like example. Any other text may be the
// key itself, so errors do not repeat it.
func addNamed(to *[]NamedKey, text, example string) error {
	name, source, _ := strings.Cut(text, " ")
	key, err := parseKeySource(source)
	if err != nil {
		return fmt.Errorf("this is not a name and the source of its key, such as %s: %w", example, err)
	}
	if !isVariable(strings.ReplaceAll(name, "-", "_")) {
		return fmt.Errorf("this does not begin with a name: write it as %s", example)
	}
	*to = append(*to, NamedKey{name, key})
	return nil
}
