package prompt

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Lint returns the tools that a composed prompt names and that are not offered, each with its
// section. A name counts as =name= or, if it has an underscore, as a plain word. Each tool is
// reported once for each section.
func (p Prompt) Lint(known, offered []string) []string {
	var faults []string
	for _, part := range p.Parts {
		if part.Trust == Data {
			continue // data is no instruction, and may name anything
		}
		for _, name := range named(part.Text, known) {
			if !slices.Contains(offered, name) {
				faults = append(faults, "the section "+part.Name+" names "+name+", which is not offered")
			}
		}
	}
	return faults
}

// LintFile returns a fault for each tool that a person's file names and that does not exist. It
// finds the names that [Prompt.Lint] finds, and those that the file calls a tool, as in
// "the tool =x=" and {{tool:x}}. A name is reported once for each line.
func LintFile(file, text string, known, there []string) []Fault {
	var faults []Fault
	for i, line := range strings.Split(text, "\n") {
		if comment := strings.TrimSpace(line); strings.HasSuffix(file, ".org") && (comment == "#" || strings.HasPrefix(comment, "# ")) {
			continue // no model sees this text
		}
		for _, name := range slices.Concat(named(line, known), calledTools(line)) {
			column := strings.Index(line, name)
			if slices.Contains(there, name) || slices.ContainsFunc(faults, func(f Fault) bool { return f.Line == i+1 && f.Column == column+1 }) {
				continue
			}
			faults = append(faults, Fault{File: file, Line: i + 1, Column: column + 1, Message: fmt.Sprintf("there is no tool %s", name)})
		}
	}
	return faults
}

// called matches a name that a line calls a tool.
var called = regexp.MustCompile(`(?i)\btools? [=~` + "`" + `"]([a-z][a-z0-9_]*)[=~` + "`" + `"]|[=~` + "`" + `]([a-z][a-z0-9_]*)[=~` + "`" + `] tool\b|\{\{ *tool: *([a-z0-9_]+) *\}\}`)

func calledTools(line string) []string {
	var names []string
	for _, match := range called.FindAllStringSubmatch(line, -1) {
		names = append(names, match[1]+match[2]+match[3])
	}
	return names
}

// ToolsNamed returns the tools that the sections name, whether they exist or not. A prompt has a
// line that names a tool only if the tool is offered.
func (l *Library) ToolsNamed() []string {
	var names []string
	for _, t := range l.templates {
		for _, p := range t.pieces {
			if p.tool != "" {
				names = append(names, p.tool)
			}
		}
	}
	for _, s := range sections() {
		names = append(names, s.Tools...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// named returns the tools that a text names, in order, each once.
func named(text string, known []string) []string {
	var names []string
	words := strings.FieldsFunc(text, func(c rune) bool {
		return c != '_' && c != '=' && !unicode.IsLetter(c) && !unicode.IsDigit(c)
	})
	for _, word := range words {
		name := strings.Trim(word, "=")
		plain := word == name && !strings.Contains(name, "_")
		if slices.Contains(known, name) && !plain && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
