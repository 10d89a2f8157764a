package fetch

import (
	"bytes"
	"mime"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"org-agent/kernel/protocol"
)

// textLimit is the maximum length of the text of a page in bytes.
const textLimit = 1 << 20

// readable returns the media type of a Content-Type if it is the type of a text, or "" if there is
// none.
func readable(contentType string) (string, error) {
	if strings.TrimSpace(contentType) == "" {
		return "", nil
	}
	mediaType, _, err := mime.ParseMediaType(contentType)
	if err != nil && mediaType == "" {
		mediaType, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(contentType)), ";")
		mediaType = strings.TrimSpace(mediaType)
	}
	switch {
	case strings.HasPrefix(mediaType, "text/"), strings.HasSuffix(mediaType, "+xml") && mediaType != "image/svg+xml", strings.HasSuffix(mediaType, "+json"):
		return mediaType, nil
	}
	switch mediaType {
	case "application/json", "application/xml", "application/xhtml+xml", "application/javascript", "application/x-ndjson",
		"application/yaml", "application/x-yaml", "application/toml", "application/x-sh", "application/x-tex", "application/sql", "message/rfc822":
		return mediaType, nil
	}
	return "", protocol.ToolErrorf(protocol.ToolUnfit, "this is %.80q and not text: look for a page that says the same", mediaType)
}

// decode decodes a body. Valid UTF-8 counts as UTF-8 whatever is declared. Otherwise the server's
// declaration counts, and then the page's own.
func decode(body []byte, mediaType, contentType string) (string, error) {
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	encoding, _, certain := charset.DetermineEncoding(body[:min(len(body), 1024)], contentType)
	unsure := !certain || bytes.ContainsFunc(body, func(c rune) bool { return c >= utf8.RuneSelf && c != utf8.RuneError })
	if unsure && utf8.Valid(body) && !bytes.HasPrefix(body, []byte("\xff\xfe")) && !bytes.HasPrefix(body, []byte("\xfe\xff")) {
		return textOf(body)
	}
	if !certain && strings.HasSuffix(mediaType, "json") {
		return textOf(bytes.ToValidUTF8(body, []byte("\uFFFD")))
	}
	decoded, err := encoding.NewDecoder().Bytes(body)
	if err != nil {
		return "", protocol.ToolErrorf(protocol.ToolUnfit, "its letters cannot be read: %w", err)
	}
	return textOf(decoded)
}

// textOf refuses a body that is declared as text and is not a text.
func textOf(body []byte) (string, error) {
	if bytes.Count(body[:min(len(body), 4096)], []byte{0}) > 0 {
		return "", protocol.ToolErrorf(protocol.ToolUnfit, "this is called text and is none: look for a page that says the same")
	}
	return string(body), nil
}

// clean removes invisible characters that some programs obey: control characters, those that change
// the direction of writing, and the invisible alphabet.
func clean(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n")
	return strings.TrimSpace(strings.Map(func(c rune) rune {
		switch {
		case c == '\n' || c == '\t':
			return c
		case c == '\r' || c == '\u2028' || c == '\u2029':
			return '\n'
		case unicode.IsControl(c), c >= 0x202A && c <= 0x202E, c >= 0x2066 && c <= 0x2069, c >= 0xE0000 && c <= 0xE0FFF, c == 0xFEFF:
			return -1
		}
		return c
	}, text))
}
