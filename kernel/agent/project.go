package agent

import (
	"os"
	"path/filepath"
	"strings"

	"org-agent/kernel/protocol"
)

// placed is the file or the directory of an item that a person sent along, read from its place, which
// is written for people: "lines 3-9 of ~/src/a.go, not saved". It is "" for an item without a file,
// and for one of another machine.
func placed(item protocol.ContextItem) string {
	if item.Kind == protocol.ContextMemory {
		return ""
	}
	place := item.Place
	if strings.HasPrefix(place, "line") {
		if _, of, found := strings.Cut(place, " of "); found {
			place = of
		}
	}
	if rest, ok := strings.CutPrefix(place, "~/"); ok {
		user, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		place = filepath.Join(user, rest)
	}
	if !filepath.IsAbs(place) {
		return ""
	}
	for { // the name of a file may contain ", " itself
		if _, err := os.Lstat(place); err == nil {
			return place
		}
		at := strings.LastIndex(place, ", ")
		if at < 0 {
			return ""
		}
		place = place[:at]
	}
}
