package config

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"org-agent/kernel/atomicfile"
	"org-agent/kernel/org"
)

// WriteDialect sets the dialect of a model in the config.org at path. All other bytes stay. It reports
// whether anything changed, and the line of the model's heading.
func WriteDialect(path, model, dialect string) (changed bool, line int, err error) {
	before, err := os.ReadFile(path)
	if err != nil {
		return false, 0, fmt.Errorf("read config.org: %w", err)
	}
	after, line, err := SetDialect(string(before), model, dialect)
	if err != nil || after == string(before) {
		return false, line, err
	}
	err = atomicfile.Replace(path, before, []byte(after), 0o600)
	if errors.Is(err, atomicfile.ErrChanged) {
		return false, line, ErrChanged
	}
	if err != nil {
		return false, line, fmt.Errorf("write config.org: %w", err)
	}
	return true, line, nil
}

// SetDialect returns the text of a config.org in which the model has the dialect, and the line of its
// heading. All other bytes stay.
func SetDialect(text, model, dialect string) (changed string, line int, err error) {
	heading, err := modelHeading(text, model)
	if err != nil {
		return text, 0, err
	}
	lines := strings.SplitAfter(text, "\n")
	for _, p := range heading.Properties {
		if !strings.EqualFold(p.Key, "DIALECT") {
			continue
		}
		written := lines[p.Line-1]
		behind := strings.Index(strings.ToUpper(written), ":DIALECT:") + len(":DIALECT:")
		value := strings.TrimSpace(written[behind:])
		if value == "" {
			written = strings.TrimRight(written[:behind], " \t") + " " + dialect + strings.TrimLeft(written[behind:], " \t")
		} else {
			written = written[:behind] + strings.Replace(written[behind:], value, dialect, 1)
		}
		lines[p.Line-1] = written
		return checkedDialect(text, strings.Join(lines, ""), model, dialect, heading.Line)
	}
	last := heading.Properties[len(heading.Properties)-1].Line // a model has at least an address
	above := lines[last-1]
	indent := above[:len(above)-len(strings.TrimLeft(above, " \t"))]
	newline := "\n"
	if strings.HasSuffix(above, "\r\n") {
		newline = "\r\n"
	}
	lines[last-1] = above + indent + ":DIALECT: " + dialect + newline
	return checkedDialect(text, strings.Join(lines, ""), model, dialect, heading.Line)
}

// checkedDialect returns the changed text, or the former one and an error if the dialect cannot be read in it.
func checkedDialect(before, after, model, dialect string, line int) (string, int, error) {
	for _, m := range Parse("config.org", after).Models {
		if m.Name == model && m.Dialect == dialect {
			return after, line, nil
		}
	}
	return before, line, fmt.Errorf("the dialect of %s could not be written into config.org", model)
}

// modelHeading returns the heading of a model in the text of a config.org.
func modelHeading(text, name string) (*org.Heading, error) {
	for _, m := range Parse("config.org", text).Models {
		if m.Name != name {
			continue
		}
		for _, h := range org.Parse(text).Headings {
			if h.Line == m.Line {
				return h, nil
			}
		}
	}
	return nil, fmt.Errorf("config.org has no model %q that can be used", name)
}
