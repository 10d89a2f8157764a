package skillmd

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"org-agent/kernel/skill"
	"org-agent/kernel/suggest"
	"org-agent/kernel/text"
)

// ReplyBytes is the most text that [Skill.Read] returns of a file.
const ReplyBytes = 64 << 10

// Read returns the text of the skill: of its SKILL.md without the front matter, with what
// other files there are, or of the file of that name beneath its directory; and of a section
// only what stands below the heading of that name. What is longer than ReplyBytes is cut,
// and says so. It reads what the file holds now. An error says what to ask for instead.
func (k *Skill) Read(file, section string) (string, error) {
	files, err := k.origin.open(k.Name)
	if err != nil {
		return "", fmt.Errorf("read the skill %s: %w", k.Name, err)
	}
	defer files.close()
	if file = path.Clean(strings.ReplaceAll(file, `\`, "/")); file == "." || file == FileName {
		return k.readBody(files, section)
	}
	text, size, err := beneath(files, file)
	if err != nil {
		return "", fmt.Errorf("read %s of the skill %s: %w%s", shown(file), k.Name, err, insteadOf(files, file))
	}
	text, size, err = part(text, size, section)
	if err != nil {
		return "", fmt.Errorf("read %s of the skill %s: %w", shown(file), k.Name, err)
	}
	return cut(text, size), nil
}

func (k *Skill) readBody(files folder, section string) (string, error) {
	source, size, err := files.read(FileName, fileBytes)
	if err != nil {
		return "", fmt.Errorf("read the skill %s: %w", k.Name, err)
	}
	if size > fileBytes {
		return "", fmt.Errorf("read the skill %s: %w", k.Name, skill.Faults(tooLong(k.File, size)))
	}
	document, _, faults := examine(k.File, k.Name, source)
	for _, fault := range faults {
		if !fault.Warning {
			return "", fmt.Errorf("the skill %s has changed and cannot be used now: %s", k.Name, fault)
		}
	}
	text, size, err := part(document.Body, int64(len(document.Body)), section)
	if err != nil {
		return "", fmt.Errorf("read the skill %s: %w", k.Name, err)
	}
	if section != "" {
		return cut(text, size), nil
	}
	return cut(listing(files)+strings.TrimLeft(text, "\r\n"), size), nil
}

// listing says which files a skill has beside its SKILL.md, "" for none.
func listing(files folder) string {
	names, more := files.list()
	if len(names) == 0 {
		return ""
	}
	for i, name := range names {
		names[i] = text.PlainLine(name, 200)
	}
	end := "\n\n"
	if more {
		end = " and more\n\n"
	}
	return "Files of this skill: " + strings.Join(names, ", ") + end
}

// beneath reads a file that a model names.
func beneath(files folder, name string) (string, int64, error) {
	if !fs.ValidPath(name) {
		return "", 0, errors.New("only files beneath the skill's directory are read")
	}
	for element := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(element, ".") {
			return "", 0, errors.New("hidden files are not read")
		}
	}
	text, size, err := files.read(name, fileBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", 0, errors.New("there is no such file")
	case err != nil:
		return "", 0, err
	}
	// A character may have been cut in two at the end of what was read.
	for range utf8.UTFMax {
		if r, n := utf8.DecodeLastRuneInString(text); r == utf8.RuneError && n == 1 && size > int64(len(text)) {
			text = text[:len(text)-1]
		}
	}
	if encoding(name, text) != nil {
		return "", 0, errors.New("it is no text in UTF-8")
	}
	return text, size, nil
}

// insteadOf names the file that was probably meant.
func insteadOf(files folder, name string) string {
	names, _ := files.list()
	if near := suggest.Of(name, names); near != "" && near != name {
		return fmt.Sprintf("; did you mean %q?", text.PlainLine(near, 200))
	}
	if len(names) == 0 {
		return "; the skill has no files beside " + FileName
	}
	return "; there are " + listed(names)
}

// part is the section of a text, or all of it without a section's name.
func part(text string, size int64, section string) (string, int64, error) {
	if strings.TrimSpace(section) == "" {
		return text, size, nil
	}
	headings := headingsOf(text)
	wanted := plainHeading(section)
	var titles []string
	for i, h := range headings {
		titles = append(titles, h.title)
		if plainHeading(h.title) != wanted {
			continue
		}
		end := len(text)
		for _, later := range headings[i+1:] {
			if later.level <= h.level {
				end = later.from
				break
			}
		}
		return text[h.from:end], int64(end - h.from), nil
	}
	if len(titles) == 0 {
		return "", 0, fmt.Errorf("there is no section %q, and no heading at all: ask without :section", shown(section))
	}
	if near := suggest.Of(section, titles); near != "" {
		return "", 0, fmt.Errorf("there is no section %q; did you mean %q?", shown(section), shown(near))
	}
	return "", 0, fmt.Errorf("there is no section %q; there are: %s", shown(section), listed(titles))
}

// cut keeps a reply within ReplyBytes, and says what is missing.
func cut(text string, size int64) string {
	if len(text) <= ReplyBytes {
		return text
	}
	end := ReplyBytes
	for !utf8.RuneStart(text[end]) {
		end--
	}
	if line := strings.LastIndexByte(text[:end], '\n'); line > ReplyBytes/2 {
		end = line + 1
	}
	note := fmt.Sprintf("[Cut here: these are the first %d of %d bytes.", end, max(size, int64(len(text))))
	if headings := headingsOf(text); len(headings) > 0 {
		var titles []string
		for _, h := range headings {
			titles = append(titles, h.title)
		}
		note += " Ask for a part with :section. There are: " + listed(titles) + "."
	}
	return text[:end] + note + "]"
}
