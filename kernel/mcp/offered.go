package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
	"org-agent/kernel/tool"
)

// offered is a tool as its server describes it.
type offered struct {
	tool   *sdk.Tool
	schema map[string]any
	digest string
}

// offered returns the tools that can be called, and one line for each tool that is left out.
func (s *server) offered(all []*sdk.Tool) (offers []offered, left []string) {
	for i, t := range all {
		definition, err := json.Marshal(t)
		schema, _ := t.InputSchema.(map[string]any)
		name := text.PlainLine(t.Name, 64)
		switch {
		case i >= toolLimit:
			return offers, append(left, fmt.Sprintf("it has more than %d tools: the others are left out", toolLimit))
		case err != nil || len(definition) > schemaLimit:
			left = append(left, fmt.Sprintf("%s: its description is longer than %d bytes", name, schemaLimit))
		case mapped(t.Name) == "":
			left = append(left, fmt.Sprintf("%q: a name has letters of a to z, or digits", name))
		case t.InputSchema != nil && schema == nil:
			left = append(left, fmt.Sprintf("%s: its arguments are not described by a JSON Schema", name))
		default:
			// The digest includes the server: another program under the same name is another tool.
			sum := sha256.Sum256(append([]byte(s.config.URL+"\x00"+strings.Join(s.config.Command, "\x00")+"\x00"), definition...))
			offers = append(offers, offered{t, schema, hex.EncodeToString(sum[:8])})
		}
	}
	return offers, left
}

// nameLimit is the longest name of a tool. Longer names are cut, and end in a hash.
const nameLimit = 64

// mapped converts a tool's name to a part of ours.
func mapped(name string) string {
	var b strings.Builder
	for _, c := range strings.ToLower(name) {
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			b.WriteRune(c)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	return strings.TrimRight(b.String(), "_")
}

// kernelName returns the kernel's name of a tool.
func (s *server) kernelName(name string) string {
	whole := s.config.Name + "_" + mapped(name)
	if len(whole) <= nameLimit {
		return whole
	}
	sum := sha256.Sum256([]byte(name))
	return whole[:nameLimit-7] + "_" + hex.EncodeToString(sum[:3])
}

// name makes the server's tools. It leaves out names that another owner already has.
func (s *server) name(owner map[string]string) []tool.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []tool.Tool
	var names, clashes []string
	for _, o := range s.offers {
		name := s.kernelName(o.tool.Name)
		if other, taken := owner[tool.Spelled(name)]; taken {
			clashes = append(clashes, fmt.Sprintf("%s: %s has a tool of the name %s already", text.PlainLine(o.tool.Name, 64), other, name))
			continue
		}
		owner[tool.Spelled(name)] = "the MCP server " + s.config.Name
		names = append(names, name)
		all = append(all, s.tool(name, o))
	}
	remaining := s.status.Left[:0:0]
	for _, left := range s.status.Left {
		if !strings.Contains(left, " already") {
			remaining = append(remaining, left)
		}
	}
	s.status.Tools, s.status.Left = names, append(remaining, clashes...)
	return all
}

// tool returns a server's tool as one of the kernel.
func (s *server) tool(name string, o offered) tool.Tool {
	does := fmt.Sprintf("of the MCP server %s", s.config.Name)
	if definition := text.PlainLine(o.tool.Description, descriptionLimit); definition != "" {
		does += ", which says: " + definition
	}
	return tool.NewForeign(tool.Foreign{
		Name: name, Does: does, Form: newSchema(o.schema).form(0), Digest: o.digest,
		Preview: func(_ context.Context, _ *tool.Caller, arguments protocol.Object) (tool.Preview, error) {
			given, err := newSchema(o.schema).read(arguments)
			if err != nil {
				return tool.Preview{}, err
			}
			return s.preview(o, given)
		},
		Perform: func(ctx context.Context, by *tool.Caller, arguments protocol.Object) (string, error) {
			given, err := newSchema(o.schema).read(arguments)
			if err != nil {
				return "", protocol.ToolErrorf(protocol.ToolArguments, "%w", err)
			}
			result, err := s.call(ctx, o.tool.Name, given)
			if err != nil {
				return "", err
			}
			return s.resultText(by.Conversation, result)
		},
	})
}

// preview returns the text that a person sees to decide about a call.
func (s *server) preview(o offered, given map[string]any) (tool.Preview, error) {
	sent, err := json.MarshalIndent(given, "", "  ")
	if err != nil {
		return tool.Preview{}, fmt.Errorf("the arguments cannot be sent: %w", err)
	}
	effects := []string{"a program that runs with all your rights does it: " + s.status.Address}
	if s.config.URL != "" {
		effects[0] = "the arguments are sent to " + s.config.URL
	}
	if definition := text.PlainLine(o.tool.Description, 200); definition != "" {
		effects = append(effects, "it says of the tool: "+definition)
	}
	if hint := hints(o.tool.Annotations); hint != "" {
		effects = append(effects, "it says that the tool "+hint+"; nobody has checked that")
	}
	return tool.Preview{
		Summary: fmt.Sprintf("Use %s of the MCP server %s", text.PlainLine(o.tool.Name, 64), s.config.Name),
		Text:    string(sent), Effects: effects,
	}, nil
}

// hints returns a server's hints in words.
func hints(a *sdk.ToolAnnotations) string {
	switch {
	case a == nil:
		return ""
	case a.ReadOnlyHint:
		return "only reads"
	case a.DestructiveHint != nil && !*a.DestructiveHint:
		return "adds and destroys nothing"
	}
	return "may change or destroy what there is"
}
