package mcp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"org-agent/kernel/text"
	"org-agent/kernel/tool"
)

// Limits of what a prompt shows of a foreign tool.
const (
	descriptionLimit = 600 // characters of its description
	formLimit        = 600 // bytes of its arguments
	formDepth        = 3
)

// form writes the arguments of a call as a plist, required ones first.
func (s schema) form(depth int) string {
	properties, _ := s.of["properties"].(map[string]any)
	required, _ := s.of["required"].([]any)
	var first, then []tool.FormArgument
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		a := tool.FormArgument{Name: tool.Hyphenated(name), Sample: s.at(properties[name]).sample(depth + 1), Required: slices.Contains(required, any(name))}
		if a.Required {
			first = append(first, a)
		} else {
			then = append(then, a)
		}
	}
	return tool.Form(append(first, then...), formLimit)
}

// sample writes a placeholder for a value.
func (s schema) sample(depth int) string {
	if s = s.resolved(); !s.visit() {
		return "…"
	}
	if words, ok := s.of["enum"].([]any); ok && len(words) > 0 {
		var shown []string
		for _, word := range words[:min(len(words), 12)] {
			shown = append(shown, text.PlainLine(fmt.Sprintf("%q", fmt.Sprint(word)), 40))
		}
		return strings.Join(shown, "|")
	}
	if choices := s.choices(); choices != nil && depth < formDepth {
		return choices[0].sample(depth + 1)
	}
	kind, _ := s.of["type"].(string)
	switch kind {
	case "integer":
		return tool.SampleWhole
	case "number":
		return tool.SampleNumber
	case "boolean":
		return tool.SampleYes
	case "array":
		if items := s.at(s.of["items"]); items.of != nil && depth < formDepth {
			return "(" + items.sample(depth+1) + " …)"
		}
		return "(…)"
	case "object":
		if s.of["properties"] != nil && depth < formDepth {
			return s.form(depth)
		}
		return `((S value) …)`
	}
	return tool.SampleText
}
