package skillmd

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"
)

// matterField is a key of the front matter. Case, hyphens and underscores in keys do not matter.
type matterField struct {
	name string
	// once is true if only the first occurrence of the key counts. Otherwise all do.
	once bool
	// cosmetic is true if a value of the wrong kind is only a warning.
	cosmetic bool
	read     func(r *matterReader, value *yaml.Node) error
}

func findField(fields []matterField, key string) (matterField, bool) {
	key = folded(key)
	for _, field := range fields {
		if folded(field.name) == key {
			return field, true
		}
	}
	return matterField{}, false
}

// folded returns a key without case, hyphens and underscores.
func folded(key string) string {
	return strings.Map(func(c rune) rune {
		if c == '-' || c == '_' {
			return -1
		}
		return unicode.ToLower(c)
	}, key)
}

func fieldNames(fields []matterField) []string {
	var names []string
	for _, field := range fields {
		names = append(names, field.name)
	}
	return names
}

// topFields returns the keys at the top of the front matter. Some keys stand under "metadata" in
// some programs and here in others; an older format has both.
func topFields() []matterField {
	return append([]matterField{
		textField("name", func(m *Matter) *string { return &m.Name }, false),
		textField("description", func(m *Matter) *string { return &m.Description }, false),
		textField("license", func(m *Matter) *string { return &m.License }, true),
		textField("compatibility", func(m *Matter) *string { return &m.Compatibility }, true),
		wordsField("allowed-tools", func(m *Matter) *[]string { return &m.AllowedTools }, true),
		flagField("user-invocable", func(m *Matter, on bool) { m.NotUser = !on }),
		flagField("disable-model-invocation", func(m *Matter, on bool) { m.OnlyUser = on }),
		{name: "metadata", read: func(r *matterReader, value *yaml.Node) error {
			return r.section(value, metadataFields(true))
		}},
	}, metadataFields(false)...)
}

// metadataFields returns the keys of "metadata". Other programs keep their own keys there, each in
// its own section. Sections that state the requirements of a skill are read too.
func metadataFields(sections bool) []matterField {
	fields := []matterField{
		textField("version", func(m *Matter) *string { return &m.Version }, true),
		textField("author", func(m *Matter) *string { return &m.Author }, true),
		textField("homepage", func(m *Matter) *string { return &m.Homepage }, true),
		textField("emoji", func(m *Matter) *string { return &m.Emoji }, true),
		textField("skillKey", func(m *Matter) *string { return &m.Key }, false),
		textField("primaryEnv", func(m *Matter) *string { return &m.PrimaryEnv }, true),
		wordsField("tags", func(m *Matter) *[]string { return &m.Tags }, true),
		wordsField("os", func(m *Matter) *[]string { return &m.Requires.OS }, false),
		wordsField("platforms", func(m *Matter) *[]string { return &m.Requires.OS }, false),
		flagField("always", func(m *Matter, on bool) { m.Requires.Always = on }),
		wordsField("requiresBinaries", func(m *Matter) *[]string { return &m.Requires.Bins }, false),
		wordsField("requiresEnv", func(m *Matter) *[]string { return &m.Requires.Env }, false),
		{name: "install", read: func(*matterReader, *yaml.Node) error { return nil }}, // the kernel installs nothing
		{name: "requires", read: func(r *matterReader, value *yaml.Node) error {
			return r.section(value, requiredFields())
		}},
	}
	if sections {
		for _, program := range []string{"openclaw", "clawdbot", "org-agent"} {
			fields = append(fields, matterField{name: program, read: func(r *matterReader, value *yaml.Node) error {
				return r.section(value, metadataFields(false))
			}})
		}
	}
	return fields
}

func requiredFields() []matterField {
	return []matterField{
		wordsField("bins", func(m *Matter) *[]string { return &m.Requires.Bins }, false),
		wordsField("anyBins", func(m *Matter) *[]string { return &m.Requires.AnyBins }, false),
		wordsField("env", func(m *Matter) *[]string { return &m.Requires.Env }, false),
		wordsField("config", func(m *Matter) *[]string { return &m.Requires.Config }, false),
	}
}

func (r *matterReader) section(value *yaml.Node, fields []matterField) error {
	if value.Kind != yaml.MappingNode {
		return errors.New("this holds keys and values")
	}
	r.mapping(value, fields)
	return nil
}

func textField(name string, where func(*Matter) *string, cosmetic bool) matterField {
	return matterField{name: name, once: true, cosmetic: cosmetic, read: func(r *matterReader, value *yaml.Node) error {
		if value.Kind != yaml.ScalarNode {
			return errors.New("this is one text")
		}
		*where(&r.matter) = value.Value
		return nil
	}}
}

func flagField(name string, set func(*Matter, bool)) matterField {
	return matterField{name: name, once: true, read: func(r *matterReader, value *yaml.Node) error {
		switch strings.ToLower(value.Value) {
		case "true", "yes", "on":
			set(&r.matter, true)
		case "false", "no", "off":
			set(&r.matter, false)
		default:
			return errors.New("this is true or false")
		}
		return nil
	}}
}

// wordsField returns a field whose value is a list of words, or one text with blanks or commas
// between them. It appends the words.
func wordsField(name string, where func(*Matter) *[]string, cosmetic bool) matterField {
	return matterField{name: name, cosmetic: cosmetic, read: func(r *matterReader, value *yaml.Node) error {
		list := where(&r.matter)
		switch value.Kind {
		case yaml.ScalarNode:
			*list = append(*list, splitWords(value.Value)...)
			return nil
		case yaml.SequenceNode:
			for _, item := range value.Content {
				if item = target(item); item.Kind != yaml.ScalarNode {
					return fmt.Errorf("line %d is no word of a list", r.line-1+item.Line)
				}
				if word := strings.TrimSpace(item.Value); word != "" {
					*list = append(*list, word)
				}
			}
			return nil
		}
		return errors.New("this is a list of words")
	}}
}

// splitWords splits at blanks and commas outside of parentheses: "Read, Bash(git add)".
func splitWords(text string) []string {
	depth := 0
	return strings.FieldsFunc(text, func(c rune) bool {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		return depth <= 0 && (c == ',' || c == ' ' || c == '\t' || c == '\n' || c == '\r')
	})
}
