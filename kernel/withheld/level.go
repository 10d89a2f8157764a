package withheld

import "strings"

// Level says from whom a text is withheld.
type Level int

// The levels, in order.
const (
	Shown   Level = iota // from nobody
	Private              // from every model; the person's own search finds it
	Sealed               // from every model, and from every index
)

// LevelOf returns the level of a text with these tags, in any case.
func LevelOf(tags []string) Level {
	level := Shown
	for _, tag := range tags {
		level = max(level, levelOf(tag))
	}
	return level
}

func levelOf(tag string) Level {
	switch {
	case strings.EqualFold(tag, "noagent"), strings.EqualFold(tag, "crypt"):
		return Sealed
	case strings.EqualFold(tag, "@private"):
		return Private
	}
	return Shown
}

// levelOfTags returns the level of tags between colons and blanks.
func levelOfTags(tags string) Level {
	return LevelOf(strings.FieldsFunc(tags, func(r rune) bool { return r == ':' || r == ' ' || r == '\t' || r == '\r' || r == '\n' }))
}

// headline returns the depth of a heading, or 0 for any other line, and the level of its own tags.
// Words between colons at the end are tags, even where Org reads them as the title.
func headline(line string) (depth int, level Level) {
	for depth < len(line) && line[depth] == '*' {
		depth++
	}
	if depth == 0 || depth == len(line) || line[depth] != ' ' {
		return 0, Shown
	}
	line = strings.TrimRight(line, " \t\r\n")
	if !strings.HasSuffix(line, ":") {
		return depth, Shown
	}
	word := line[strings.LastIndexAny(line, " \t")+1:]
	if !strings.HasPrefix(word, ":") {
		return depth, Shown
	}
	return depth, levelOfTags(word)
}

// keyword returns the value of a line that begins with name, in any case and after blanks.
func keyword(line, name string) (value string, ok bool) {
	line = strings.TrimLeft(line, " \t")
	if len(line) < len(name) || !strings.EqualFold(line[:len(name)], name) {
		return "", false
	}
	return strings.Trim(line[len(name):], " \t\r\n"), true
}
