package files

import (
	"regexp"
	"strings"

	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// Pattern is a pattern for names of files below a directory. * and ? match within one name, **
// matches any directories, [a-z] one of these characters, and {a,b} one of these texts. A pattern
// without / matches a name in any directory.
type Pattern struct {
	all      *regexp.Regexp
	nameOnly bool
}

// patternBytes is the maximum length of a pattern in bytes.
const patternBytes = 1000

// ParsePattern reads a pattern.
func ParsePattern(source string) (Pattern, error) {
	fault := func(what string) (Pattern, error) {
		return Pattern{}, protocol.ToolErrorf(protocol.ToolArguments, "the pattern %q %s; an example is src/**/*.{go,md}", text.Prefix(source, patternBytes), what)
	}
	switch {
	case source == "":
		return fault("is empty")
	case len(source) > patternBytes:
		return fault("is too long")
	case strings.HasPrefix(source, "/") || source == ".." || strings.HasPrefix(source, "../") || strings.Contains(source, "/../"):
		return fault("leaves the directory; give that as :path")
	}
	pattern := strings.TrimPrefix(source, "./")
	source, err := translate(pattern)
	if err != "" {
		return fault(err)
	}
	all, failed := regexp.Compile(`\A(?:` + source + `)\z`)
	if failed != nil {
		return fault("cannot be read")
	}
	return Pattern{all: all, nameOnly: !strings.Contains(pattern, "/")}, nil
}

// Matches reports whether the pattern matches a name below the directory, with / between its parts.
func (p Pattern) Matches(name string) bool {
	if p.nameOnly {
		name = name[strings.LastIndexByte(name, '/')+1:]
	}
	return p.all.MatchString(name)
}

// translate returns a pattern as a regular expression. fault says what is wrong with the pattern,
// or is "".
func translate(p string) (source, fault string) {
	var b strings.Builder
	open := 0
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case strings.HasPrefix(p[i:], "**/") && (i == 0 || p[i-1] == '/'):
			b.WriteString(`(?:[^/]+/)*`)
			i += 2
		case strings.HasPrefix(p[i:], "**"):
			b.WriteString(`.*`)
			i++
		case c == '*':
			b.WriteString(`[^/]*`)
		case c == '?':
			b.WriteString(`[^/]`)
		case c == '[':
			end := strings.IndexByte(p[i+1:], ']')
			if end < 1 {
				return "", "has a [ without its ]"
			}
			class := strings.NewReplacer(`\`, `\\`, `[`, `\[`, `/`, ``).Replace(p[i+1 : i+1+end])
			if strings.HasPrefix(class, "!") {
				class = "^" + class[1:]
			}
			b.WriteString("[" + class + "]")
			i += end + 1
		case c == '{':
			open++
			b.WriteString(`(?:`)
		case c == '}' && open > 0:
			open--
			b.WriteString(`)`)
		case c == ',' && open > 0:
			b.WriteString(`|`)
		case c == '\\' && i+1 < len(p):
			i++
			b.WriteString(regexp.QuoteMeta(p[i : i+1]))
		default:
			b.WriteString(regexp.QuoteMeta(p[i : i+1]))
		}
	}
	if open > 0 {
		return "", "has a { without its }"
	}
	return b.String(), ""
}
