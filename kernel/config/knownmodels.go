package config

import (
	"strings"

	"org-agent/kernel/llm/catalog"
	"org-agent/kernel/org"
)

// known reads the person's table of models. A row with a fault is left out, and the others count.
func (p *settingsParser) known(h *org.Heading, source string) {
	table, faults := catalog.Parse(source[h.Body:h.End])
	before := strings.Count(source[:h.Body], "\n")
	for _, m := range table {
		m.Line += before
		p.settings.Known = append(p.settings.Known, m)
	}
	for _, f := range faults {
		p.fault(f.Line+before, "%s", f.Message)
	}
}
