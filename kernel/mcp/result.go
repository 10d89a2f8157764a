package mcp

import (
	"encoding/json"
	"fmt"
	"mime"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
	"org-agent/kernel/tool"
)

// Of a result of more than resultLimit bytes the model gets the first headLimit and the last
// tailBytes bytes. The whole result is stored in the result store.
const (
	resultLimit = 24 << 10
	headLimit   = 16 << 10
	tailBytes   = 4 << 10
)

// resultText returns a result as the model gets it.
func (s *server) resultText(in tool.Conversation, result *sdk.CallToolResult) (string, error) {
	if len(result.InputRequests) > 0 {
		return "", protocol.ToolErrorf(protocol.ToolFailed, "the MCP server %s wants to ask something first, and nobody answers that here: it has to be in the arguments", s.config.Name)
	}
	var parts []string
	for _, content := range result.Content {
		part, err := s.part(content)
		if err != nil {
			return "", err
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 && result.StructuredContent != nil {
		text, err := json.Marshal(result.StructuredContent)
		if err != nil {
			return "", fmt.Errorf("read the result: %w", err)
		}
		parts = append(parts, string(text))
	}
	text := strings.ToValidUTF8(s.hide(strings.Join(parts, "\n\n")), "\uFFFD")
	if strings.TrimSpace(text) == "" {
		text = "[The tool answered with nothing]"
	}
	text, err := s.capped(in, text)
	if err != nil {
		return "", err
	}
	if result.IsError {
		return "", protocol.ToolErrorf(protocol.ToolFailed, "%s", text)
	}
	return text, nil
}

// capped returns a text whole, or its two ends with the id of the whole.
func (s *server) capped(in tool.Conversation, result string) (string, error) {
	if len(result) <= resultLimit {
		return result, nil
	}
	id, err := s.servers.results.text(in, result)
	if err != nil {
		return "", err
	}
	head, tail := text.Prefix(result, headLimit), text.Suffix(result, tailBytes)
	return fmt.Sprintf("%s\n[… %d of %d bytes are left out here; earlier_result has all of it as %q …]\n%s",
		head, len(result)-len(head)-len(tail), len(result), id, tail), nil
}

// part returns one part of a result as text. Data that is not text is stored as a file.
func (s *server) part(content sdk.Content) (string, error) {
	switch c := content.(type) {
	case *sdk.TextContent:
		return c.Text, nil
	case *sdk.ImageContent:
		return s.file("An image", c.MIMEType, c.Data)
	case *sdk.AudioContent:
		return s.file("A sound", c.MIMEType, c.Data)
	case *sdk.ResourceLink:
		return fmt.Sprintf("[A resource that the server has: %s%s]", text.PlainLine(c.URI, 500), described(c.Name, c.MIMEType)), nil
	case *sdk.EmbeddedResource:
		r := c.Resource
		if r == nil {
			return "[A resource with nothing in it]", nil
		}
		if r.Blob != nil {
			return s.file("The resource "+text.PlainLine(r.URI, 500), r.MIMEType, r.Blob)
		}
		return fmt.Sprintf("[The resource %s%s:]\n%s", text.PlainLine(r.URI, 500), described("", r.MIMEType), r.Text), nil
	}
	return fmt.Sprintf("[A part of the result is of a kind that nobody knows here: %T]", content), nil
}

func described(parts ...string) string {
	var shown []string
	for _, part := range parts {
		if part = text.PlainLine(part, 100); part != "" {
			shown = append(shown, part)
		}
	}
	if shown == nil {
		return ""
	}
	return " (" + strings.Join(shown, ", ") + ")"
}

// file stores data as a file, and returns the words that name it.
func (s *server) file(what, kind string, data []byte) (string, error) {
	path, err := s.servers.results.file(extension(kind), data)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("[%s%s of %d bytes is kept for a week as the file %s, which the person can open]", what, described(kind), len(data), path), nil
}

// extension returns the extension for a media type. An unknown one gets an extension that no
// program runs.
func extension(kind string) string {
	media, _, err := mime.ParseMediaType(kind)
	if err != nil {
		return ".bin"
	}
	for known, extension := range map[string]string{
		"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp",
		"audio/wav": ".wav", "audio/mpeg": ".mp3", "audio/ogg": ".ogg", "application/pdf": ".pdf", "application/gzip": ".gz",
	} {
		if media == known {
			return extension
		}
	}
	return ".bin"
}
