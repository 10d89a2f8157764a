package memory

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/org"
	"org-agent/kernel/withheld"
)

// markdownEnding is the ending of a file that is read if there is no Org file with its name.
const markdownEnding = ".md"

// readsMarkdown reports whether a Markdown file of the memory is read. It is not if there is an Org
// file with its name.
func readsMarkdown(path string) bool {
	_, err := os.Lstat(strings.TrimSuffix(path, markdownEnding) + ".org")
	return os.IsNotExist(err)
}

// markdownParts returns the parts of a Markdown file that can be found: its headings, and the text
// before the first. Tags at the end of a heading count as they do in Org.
func markdownParts(root Root, path, text string) []journal.Part {
	name := strings.TrimSuffix(filepath.Base(path), markdownEnding)
	day, _ := time.ParseInLocation(time.DateOnly, name, time.Local)
	type section struct {
		level int
		title string
		tags  []string // with those of the headings above it
		line  int
		start int
	}
	sections, fence, at := []section{{title: name, line: 1}}, "", 0
	for number, line := range slices.Collect(strings.Lines(text)) {
		trimmed := strings.TrimSpace(line)
		marks := len(trimmed) - len(strings.TrimLeft(trimmed, "#"))
		switch {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
			}
		case strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~"):
			fence = trimmed[:3]
		case marks >= 1 && marks <= 6 && strings.HasPrefix(trimmed[marks:], " "):
			s := section{level: marks, line: number + 1, start: at}
			s.title = strings.TrimSpace(strings.TrimRight(trimmed[marks:], "# \t"))
			if h := org.Parse("* " + s.title).Headings; len(h) > 0 {
				s.title, s.tags = h[0].Title, h[0].Tags
			}
			for _, above := range slices.Backward(sections) {
				if above.level < s.level {
					s.tags = append(slices.Clip(above.tags), s.tags...)
					break
				}
			}
			sections = append(sections, s)
		}
		at += len(line)
	}
	var parts []journal.Part
	for i, s := range sections {
		end := len(text)
		if i+1 < len(sections) {
			end = sections[i+1].start
		}
		level := withheld.LevelOf(s.tags)
		p := journal.Part{Title: s.title, Tags: s.tags, Scope: scopeOf(root, level, ""), Day: day, Line: s.line, Start: s.start, End: end}
		p.Text = markdownBody(text[s.start:end])
		if (i > 0 || p.Text != "") && level < withheld.Sealed {
			parts = append(parts, p)
		}
	}
	return parts
}

// markdownBody returns the text of a part without its heading.
func markdownBody(text string) string {
	if strings.HasPrefix(strings.TrimSpace(text), "#") {
		_, text, _ = strings.Cut(strings.TrimLeft(text, " \t"), "\n")
	}
	return strings.TrimSpace(text)
}
