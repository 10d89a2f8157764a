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

// ReplyBytes is the maximum size of a text that [Skill.Read] returns.
const ReplyBytes = 64 << 10

// Read returns the text of the skill as its file holds it now. Without a file, that is the SKILL.md
// without front matter, followed by a list of the other files. With a file, it is that file beneath
// the skill's directory. With a section, it is only the text below that heading. A text longer than
// ReplyBytes is cut, with a note. An error says what to ask for instead.
func (k *Skill) Read(file, section string) (string, error) {
	files, err := k.origin.open(k.Name)
	if err != nil {
		return "", fmt.Errorf("read the skill %s: %w", k.Name, err)
	}
	defer files.close()
	if file = path.Clean(strings.ReplaceAll(file, `\`, "/")); file == "." || file == FileName {
		return k.readBody(files, section)
	}
	text, size, err := readNamed(files, file)
	if err != nil {
		return "", fmt.Errorf("read %s of the skill %s: %w%s", shown(file), k.Name, err, suggestFile(files, file))
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

// listing lists the files of a skill beside its SKILL.md, or returns "".
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

// readNamed reads a file that a model named.
func readNamed(files folder, name string) (string, int64, error) {
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
	// The limit may have cut the last character in two.
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

// suggestFile returns the name of the file that was probably meant.
func suggestFile(files folder, name string) string {
	names, _ := files.list()
	if near := suggest.Of(name, names); near != "" && near != name {
		return fmt.Sprintf("; did you mean %q?", text.PlainLine(near, 200))
	}
	if len(names) == 0 {
		return "; the skill has no files beside " + FileName
	}
	return "; there are " + listed(names)
}

// part returns a section of a text, or the whole text if section is "".
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

// cut limits a reply to ReplyBytes and says how much is missing.
func cut(source string, size int64) string {
	if len(source) <= ReplyBytes {
		return source
	}
	end := len(text.Prefix(source, ReplyBytes))
	if line := strings.LastIndexByte(source[:end], '\n'); line > ReplyBytes/2 {
		end = line + 1
	}
	note := fmt.Sprintf("[Cut here: these are the first %d of %d bytes.", end, max(size, int64(len(source))))
	if headings := headingsOf(source); len(headings) > 0 {
		var titles []string
		for _, h := range headings {
			titles = append(titles, h.title)
		}
		note += " Ask for a part with :section. There are: " + listed(titles) + "."
	}
	return source[:end] + note + "]"
}
