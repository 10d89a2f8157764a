package skill

import (
	"fmt"
	"slices"
	"strings"

	"org-agent/kernel/nearest"
	"org-agent/kernel/org"
)

// capabilityKinds are what a note can ask for in #+CAPABILITIES.
var capabilityKinds = []string{"read", "write", "net", "exec", "env"}

// capabilities reads the #+CAPABILITIES lines: words KIND:WHAT. They are declared, and
// shown to the person; a function that needs one is there only once it is granted.
func capabilities(file string, doc *org.Document) ([]string, []Diagnostic) {
	var declared []string
	var faults []Diagnostic
	for _, keyword := range doc.Keywords {
		if keyword.Key != "CAPABILITIES" {
			continue
		}
		for _, word := range strings.Fields(keyword.Value) {
			kind, what, ok := strings.Cut(word, ":")
			if !ok || what == "" || !slices.Contains(capabilityKinds, kind) {
				faults = append(faults, Diagnostic{File: file, Line: keyword.Line, Column: 1, Message: capabilityFault(word, kind)})
				continue
			}
			declared = append(declared, word)
		}
	}
	return declared, faults
}

func capabilityFault(word, kind string) string {
	message := fmt.Sprintf("%q is no capability; write read:DIR write:DIR net:HOST exec:PROGRAM or env:NAME", word)
	if near := nearest.Of(kind, capabilityKinds); near != "" && near != kind {
		message += fmt.Sprintf(" (did you mean %q?)", near)
	}
	return message
}
