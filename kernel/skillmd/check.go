package skillmd

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"org-agent/kernel/skill"
	"org-agent/kernel/suggest"
	"org-agent/kernel/text"
)

// The limits of the format of agentskills.io, in characters, and of a file that is read here, in
// bytes.
const (
	nameLength          = 64
	descriptionLength   = 1024
	compatibilityLength = 500
	fileBytes           = 1 << 20
)

var skillName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// systems maps the names of operating systems to Go's names.
var systems = map[string]string{
	"linux": "linux", "darwin": "darwin", "macos": "darwin", "mac": "darwin", "osx": "darwin",
	"windows": "windows", "win32": "windows", "freebsd": "freebsd", "openbsd": "openbsd", "netbsd": "netbsd",
}

// Check returns all faults and warnings of the text of a SKILL.md in the directory with that name.
// A skill with a fault is not effective. file is the name of the file in diagnostics.
func Check(file, directory, source string) []skill.Diagnostic {
	_, matter, faults := examine(file, directory, source)
	return append(faults, advise(file, matter, Split(source))...)
}

// examine parses a skill and returns its faults, and the warnings about its front matter.
func examine(file, directory, source string) (Document, Matter, []skill.Diagnostic) {
	at := func(line int, format string, arguments ...any) []skill.Diagnostic {
		return []skill.Diagnostic{{File: file, Line: line, Column: 1, Message: fmt.Sprintf(format, arguments...)}}
	}
	d := Split(source)
	if len(source) > fileBytes {
		return d, Matter{}, tooLong(file, int64(len(source)))
	}
	if fault := encoding(file, source); fault != nil {
		return d, Matter{}, fault
	}
	switch {
	case d.Open == "":
		return d, Matter{}, at(1, "there is no front matter: begin with the lines ---, name: %s, description: …, ---", shown(directory))
	case d.Close == "":
		return d, Matter{}, at(1, "the front matter that begins here has no end: close it with a line ---")
	}
	matter, faults := readMatter(file, d)
	if slices.ContainsFunc(faults, func(f skill.Diagnostic) bool { return !f.Warning }) {
		return d, matter, faults
	}
	for _, objection := range objections(matter, directory) {
		faults = append(faults, skill.Diagnostic{File: file, Line: lineOf(d, objection.key), Column: 1, Message: objection.message})
	}
	return d, matter, faults
}

func tooLong(file string, size int64) []skill.Diagnostic {
	return []skill.Diagnostic{{File: file, Line: 1, Column: 1, Message: fmt.Sprintf(
		"the file has %d bytes; a skill may have %d: put the rest into files beside it", size, fileBytes)}}
}

// objection is a rule that a value violates, with the key of the value.
type objection struct{ key, message string }

func objections(m Matter, directory string) []objection {
	var all []objection
	add := func(key, format string, arguments ...any) {
		all = append(all, objection{key, fmt.Sprintf(format, arguments...)})
	}
	switch {
	case m.Name == "":
		add("name", "the skill has no name: write name: %s", shown(directory))
	case utf8.RuneCountInString(m.Name) > nameLength:
		add("name", "the name has %d characters; it may have %d", utf8.RuneCountInString(m.Name), nameLength)
	case !skillName.MatchString(m.Name):
		add("name", "%q is no name of a skill: use small letters, digits and single hyphens between them, such as pdf-forms", text.Clip(m.Name, 60))
	case m.Name != directory:
		add("name", "the name is %q and the directory %q: they must be the same", m.Name, shown(directory))
	}
	switch length := utf8.RuneCountInString(m.Description); {
	case strings.TrimSpace(m.Description) == "":
		add("description", "the skill has no description: say what it does and when it is wanted, that is what it is chosen by")
	case length > descriptionLength:
		add("description", "the description has %d characters; it may have %d", length, descriptionLength)
	}
	return all
}

// lineOf returns the line of a key in the front matter, or the line of the opening fence. A key
// that is not indented is preferred.
func lineOf(d Document, key string) int {
	found, number := 1, d.matterLine()
	for line := range strings.Lines(d.Matter) {
		name, _, ok := strings.Cut(line, ":")
		indented := strings.TrimLeft(name, " \t") != name
		if ok && folded(strings.Trim(name, " \t\"'")) == folded(key) && (!indented || found == 1) {
			if found = number; !indented {
				break
			}
		}
		number++
	}
	return found
}

// advise returns warnings about possible improvements.
func advise(file string, m Matter, d Document) []skill.Diagnostic {
	var all []skill.Diagnostic
	warn := func(line int, format string, arguments ...any) {
		all = append(all, skill.Diagnostic{File: file, Line: line, Column: 1, Warning: true, Message: fmt.Sprintf(format, arguments...)})
	}
	if d.Close == "" {
		return nil
	}
	if n := utf8.RuneCountInString(m.Compatibility); n > compatibilityLength {
		warn(lineOf(d, "compatibility"), "the compatibility has %d characters; it may have %d", n, compatibilityLength)
	}
	for _, system := range m.Requires.OS {
		if systems[strings.ToLower(system)] == "" {
			warn(lineOf(d, "os"), "%q is no operating system that is known here%s", text.Clip(system, 60), suggestSystem(system))
		}
	}
	if strings.TrimSpace(d.Body) == "" {
		warn(d.bodyLine(), "there is nothing below the front matter: a model that reads this learns nothing")
	}
	if len(d.Body) > ReplyBytes {
		warn(d.bodyLine(), "the text has %d bytes and a model is given %d at a time: put parts of it into files beside it", len(d.Body), ReplyBytes)
	}
	return all
}

// suggestSystem suggests the most similar operating system, for the end of a message.
func suggestSystem(system string) string {
	var names []string
	for name := range systems {
		names = append(names, name)
	}
	slices.Sort(names)
	return suggest.Question(suggest.Of(strings.ToLower(system), names), "%q")
}

// encoding reports the first place that is not UTF-8, or a control character that cannot stand in a
// text.
func encoding(file, source string) []skill.Diagnostic {
	line, column := 1, 1
	for i := 0; i < len(source); {
		c, size := utf8.DecodeRuneInString(source[i:])
		if c == utf8.RuneError && size == 1 || c == 0 {
			return []skill.Diagnostic{{File: file, Line: line, Column: column, Message: fmt.Sprintf(
				"the byte 0x%02x is no text in UTF-8; save the file in that encoding", source[i])}}
		}
		if c == '\n' {
			line, column = line+1, 0
		}
		column++
		i += size
	}
	return nil
}
