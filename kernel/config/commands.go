package config

import (
	"fmt"
	"strings"

	"org-agent/kernel/org"
)

// commands reads the heading "Commands".
func (p *settingsParser) commands(h *org.Heading) {
	p.drawer(h, []property{{"PROGRAMS", func(value string) error {
		var paths []string
		if err := setPaths(&paths, value); err != nil {
			return err
		}
		for _, path := range paths {
			if !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "~/") {
				return fmt.Errorf("%q is not a directory that begins with / or ~/", path)
			}
		}
		p.settings.Programs = paths
		return nil
	}}})
}
