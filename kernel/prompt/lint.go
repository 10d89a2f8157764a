package prompt

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Lint returns what a composed prompt names and what is not there: tools, written as =name=
// or, when it has an underscore, as it is, that are not among those offered.
// Each is told once, with the section it stands in.
func (p Prompt) Lint(known, offered []string) []string {
	var faults []string
	for _, part := range p.Parts {
		if part.Trust == Data {
			continue // it speaks for nobody, and may tell of anything
		}
		for _, name := range named(part.Text, known) {
			if !slices.Contains(offered, name) {
				faults = append(faults, "the section "+part.Name+" names "+name+", which is not offered")
			}
		}
	}
	return faults
}

// LintFile returns, with their lines, the tools that a person's file names and that are not
// among those there are: those that [Prompt.Lint] finds, and what the file itself calls a tool, as in
// "the tool =x=" and {{tool:x}}. A name that is none is told once a line.
func LintFile(file, text string, known, there []string) []Fault {
	var faults []Fault
	for i, line := range strings.Split(text, "\n") {
		if comment := strings.TrimSpace(line); strings.HasSuffix(file, ".org") && (comment == "#" || strings.HasPrefix(comment, "# ")) {
			continue // no model is told it
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

// called finds what a line calls a tool.
var called = regexp.MustCompile(`(?i)\btools? [=~` + "`" + `"]([a-z][a-z0-9_]*)[=~` + "`" + `"]|[=~` + "`" + `]([a-z][a-z0-9_]*)[=~` + "`" + `] tool\b|\{\{ *tool: *([a-z0-9_]+) *\}\}`)

func calledTools(line string) []string {
	var names []string
	for _, match := range called.FindAllStringSubmatch(line, -1) {
		names = append(names, match[1]+match[2]+match[3])
	}
	return names
}

// ToolsNamed are the tools that the sections name, whether there are any of that name
// or not: a line that names one is told only where it is offered.
func (l *Library) ToolsNamed() []string {
	var names []string
	for _, t := range l.templates {
		for _, p := range t.pieces {
			if p.tool != "" {
				names = append(names, p.tool)
			}
		}
	}
	for _, s := range Sections() {
		names = append(names, s.Tools...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// named are the tools that a text names, in order and once.
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
