package skillmd

import (
	"strings"

	"org-agent/kernel/text"
)

// heading is a heading of a Markdown text: # to ######.
type heading struct {
	level int
	title string
	from  int // byte offset of the heading's line
}

// headingsOf returns the headings of a text. It skips fenced code.
func headingsOf(text string) []heading {
	var all []heading
	open := "" // the fence of the open code block
	at := 0
	for line := range strings.Lines(text) {
		from := at
		at += len(line)
		indented := len(line) - len(strings.TrimLeft(line, " "))
		content := strings.TrimSpace(line)
		if code := codeFence(content); code != "" && indented < 4 {
			switch {
			case open == "":
				open = code
			case strings.HasPrefix(code, open) && code == content:
				open = ""
			}
			continue
		}
		if open != "" || indented > 3 {
			continue
		}
		marks := len(content) - len(strings.TrimLeft(content, "#"))
		title := content[marks:]
		if marks == 0 || marks > 6 || title != "" && title[0] != ' ' && title[0] != '\t' {
			continue
		}
		title = strings.TrimSpace(strings.TrimRight(strings.TrimSpace(title), "#"))
		all = append(all, heading{marks, title, from})
	}
	return all
}

// codeFence returns the run of ``` or ~~~ at the beginning of a line, or "".
func codeFence(line string) string {
	for _, mark := range []string{"`", "~"} {
		if run := line[:len(line)-len(strings.TrimLeft(line, mark))]; len(run) >= 3 {
			return run
		}
	}
	return ""
}

// plainHeading returns the text of a heading as people and models repeat it.
func plainHeading(title string) string {
	title = strings.Trim(strings.TrimLeft(strings.TrimSpace(title), "#"), " \t")
	return strings.ToLower(text.Line(strings.NewReplacer("*", "", "`", "", "_", "").Replace(title)))
}
