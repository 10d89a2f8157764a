package skillmd

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"org-agent/kernel/skill"
	"org-agent/kernel/suggest"
	"org-agent/kernel/text"
)

// The limits of the front matter: bytes, levels and values. Real ones are a tenth of that. Longer
// ones are not parsed, because each value costs the parser time.
const (
	matterBytes  = 16 << 10
	matterDepth  = 32
	matterValues = 2000
)

// maximumFaults is how many faults are reported before warnings are dropped.
const maximumFaults = 50

// Matter holds the values of the front matter that have a meaning here. Other keys stay in the
// text.
type Matter struct {
	Name        string
	Description string
	License     string
	// Compatibility is the skill's own description of where it works.
	Compatibility string
	// AllowedTools are the tools that the skill expects. They are only shown and grant nothing: the
	// policy decides about each call.
	AllowedTools []string
	Version      string
	Author       string
	Homepage     string
	Emoji        string
	Tags         []string
	// Key is a second name by which settings may name the skill.
	Key string
	// PrimaryEnv is the variable that holds the skill's key.
	PrimaryEnv string
	// OnlyUser is true if the skill is not offered to the model (disable-model-invocation). NotUser
	// is true if it is not a command of the user (user-invocable: false).
	OnlyUser, NotUser bool
	Requires          Requirements
}

// Requirements are what a skill requires of the machine and the settings.
type Requirements struct {
	// Always is true if only the system is checked.
	Always bool
	// OS are the systems that the skill supports. Empty means all.
	OS []string
	// Bins are programs that must all exist. Of AnyBins one must exist.
	Bins, AnyBins []string
	// Env are variables that must have a value.
	Env []string
	// Config are settings of config.org that must have a value, as HEADING.PROPERTY.
	Config []string
}

// matterReader collects the values of the front matter.
type matterReader struct {
	file   string
	text   string // of the front matter
	line   int    // where it begins
	matter Matter
	faults []skill.Diagnostic
	seen   map[string]bool // keys, wherever they stood
}

func (r *matterReader) tell(node *yaml.Node, warning bool, format string, arguments ...any) {
	if len(r.faults) >= 2*maximumFaults || len(r.faults) >= maximumFaults && warning {
		return
	}
	line, column := place(r.text, node.Line, node.Column)
	r.faults = append(r.faults, skill.Diagnostic{
		File: r.file, Line: r.line - 1 + line, Column: column,
		Warning: warning, Message: fmt.Sprintf(format, arguments...),
	})
}

// lineEnd matches a line end of YAML. In the rest of the file only the line feed is one.
var lineEnd = regexp.MustCompile("\r\n|[\r\n\u0085\u2028\u2029]")

// place converts a place in YAML to a line and a column as editors count them, from 1.
func place(text string, line, column int) (int, int) {
	from := 0
	ends := lineEnd.FindAllStringIndex(text, max(line-1, 0))
	if len(ends) > 0 {
		from = ends[len(ends)-1][1]
	}
	start := strings.LastIndexByte(text[:from], '\n') + 1
	return 1 + strings.Count(text[:from], "\n"), utf8.RuneCountInString(text[start:from]) + max(column, 1)
}

// readMatter parses the front matter of a document.
func readMatter(file string, d Document) (Matter, []skill.Diagnostic) {
	r := &matterReader{file: file, text: d.Matter, line: d.matterLine(), seen: map[string]bool{}}
	if len(d.Matter) > matterBytes {
		r.tell(&yaml.Node{}, false, "the front matter has %d bytes; it may have %d: move the text below it", len(d.Matter), matterBytes)
		return r.matter, r.faults
	}
	var document yaml.Node
	if err := yaml.Load([]byte(d.Matter), &document); err != nil {
		if !emptyYAML(d.Matter) {
			r.broken(d.Matter, err)
			return r.matter, r.faults
		}
		document.Kind = 0
	}
	if values := 0; tooLarge(&document, 0, &values) {
		r.tell(&document, false, "the front matter is nested deeper than %d levels or has more than %d values", matterDepth, matterValues)
		return r.matter, r.faults
	}
	root := &yaml.Node{Kind: yaml.MappingNode}
	if len(document.Content) > 0 {
		root = target(document.Content[0])
	}
	if root.Kind != yaml.MappingNode && root.Tag != "!!null" {
		r.tell(root, false, "the front matter is no list of keys and values, such as \"name: %s\"", "my-skill")
		return r.matter, r.faults
	}
	r.mapping(root, topFields())
	return r.matter, r.faults
}

// emptyYAML reports whether a text has only blanks and comments.
func emptyYAML(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return false
		}
	}
	return true
}

// tooLarge counts the values as they are written and reports whether there are too many. It does
// not follow aliases.
func tooLarge(node *yaml.Node, depth int, values *int) bool {
	if *values++; depth > matterDepth || *values > matterValues {
		return true
	}
	for _, child := range node.Content {
		if tooLarge(child, depth+1, values) {
			return true
		}
	}
	return false
}

// broken reports an error of the YAML parser.
func (r *matterReader) broken(text string, err error) {
	at := yaml.Node{Line: 1, Column: 1}
	message := err.Error()
	var fault *yaml.LoadError
	if errors.As(err, &fault) {
		message = fault.Message
		if fault.ContextMsg != "" {
			message += " " + fault.ContextMsg
		}
		place := fault.Mark
		if strings.Contains(fault.Message, "unexpected end of stream") && fault.ContextMark.Line > 0 {
			place = fault.ContextMark
		}
		if at.Line, at.Column = place.Line, place.Column; at.Line == 0 && place.Index > 0 && place.Index <= len(text) {
			before := text[:place.Index]
			at.Line = 1 + strings.Count(before, "\n")
			at.Column = 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
		}
	}
	r.tell(&at, false, "the front matter is no YAML: %s%s", message, hint(message, lineAt(text, at.Line)))
}

// hint returns the usual cause of an error message of the YAML parser.
func hint(message, line string) string {
	switch {
	case strings.Contains(message, "mapping values are not allowed"):
		return "; a text with a colon in it stands between quotation marks"
	case strings.Contains(message, "cannot start any token") && strings.HasPrefix(line, "\t"):
		return "; indent with blanks, not with a tab"
	}
	return ""
}

func lineAt(text string, number int) string {
	for line := range strings.Lines(text) {
		if number--; number == 0 {
			return line
		}
	}
	return ""
}

// target returns the node to which an alias refers, or the node itself.
func target(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode && node.Alias != nil {
		return node.Alias
	}
	return node
}

// mapping reads the keys of a mapping according to a table of fields.
func (r *matterReader) mapping(node *yaml.Node, fields []matterField) {
	here := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], target(node.Content[i+1])
		field, ok := findField(fields, key.Value)
		if !ok {
			if near := misspelt(key.Value, fields); near != "" {
				r.tell(key, true, "the key %q has no meaning here; did you mean %q?", text.Clip(key.Value, 60), near)
			}
			continue
		}
		if here[field.name] {
			r.tell(key, false, "%q stands twice", text.Clip(key.Value, 60))
			continue
		}
		here[field.name] = true
		if field.once && r.seen[field.name] {
			continue // the earlier occurrence counts
		}
		r.seen[field.name] = true
		if value.Kind == yaml.ScalarNode && value.Tag == "!!null" {
			continue
		}
		if err := field.read(r, value); err != nil {
			r.tell(value, field.cosmetic, "%s: %v", text.Clip(key.Value, 60), err)
		}
	}
}

// misspelt returns the key that was probably meant, or "". A word that resembles no key is the
// person's own and is allowed.
func misspelt(key string, fields []matterField) string {
	near := suggest.Of(key, fieldNames(fields))
	if near == "" || len(key) < 4 || suggest.Distance(folded(key), folded(near)) > 2 {
		return ""
	}
	return near
}
