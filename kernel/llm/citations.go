package llm

import (
	"fmt"
	"net/url"
	"strings"

	"org-agent/kernel/text"
)

// The most sources of a reply that are kept, and the longest address of one, in bytes.
const (
	citationsLimit = 50
	citationLimit  = 2000
)

// Citations are the sources that a server names beside a reply. The zero value is ready.
type Citations struct {
	list  []citation
	reply strings.Builder
}

type citation struct{ address, title string }

// Wrote adds a piece of the reply's text.
func (c *Citations) Wrote(piece string) { c.reply.WriteString(piece) }

// Add adds a source. What is no address of the web, or was added before, is ignored.
func (c *Citations) Add(address, title string) {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" || len(address) > citationLimit || len(c.list) == citationsLimit {
		return
	}
	address = parsed.String()
	for _, known := range c.list {
		if known.address == address {
			return
		}
	}
	c.list = append(c.list, citation{address, title})
}

// Text returns the sources as a list of links, to stand behind the reply. Those that the reply has as links
// are left out. It is "" for a reply that is not text for a person but an action in notation.
func (c *Citations) Text() string {
	reply := c.reply.String()
	if begun := strings.TrimSpace(reply); begun == "" || strings.HasPrefix(begun, "(:") || begun[0] == '{' {
		return ""
	}
	var b strings.Builder
	for _, one := range c.list {
		if strings.Contains(reply, one.address) {
			continue
		}
		title := strings.NewReplacer("[", "", "]", "").Replace(text.PlainLine(one.title, 200))
		if title = strings.TrimSpace(title); title == "" {
			title = one.address
		}
		if b.Len() == 0 {
			b.WriteString("\n\nSources:\n")
		}
		fmt.Fprintf(&b, "\n- [%s](%s)", title, strings.NewReplacer("(", "%28", ")", "%29", "[", "%5B", "]", "%5D").Replace(one.address))
	}
	return b.String()
}
