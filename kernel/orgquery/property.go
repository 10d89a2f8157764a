package orgquery

import (
	"fmt"
	"slices"
	"strings"

	"org-agent/kernel/org"
)

// specialProperties are the property names that Org uses for parts of an entry and for computed values.
var specialProperties = [...]string{
	"ALLTAGS", "BLOCKED", "CLOCKSUM", "CLOCKSUM_T", "CLOSED", "DEADLINE", "FILE", "ITEM", "PRIORITY", "SCHEDULED",
	"TAGS", "TIMESTAMP", "TIMESTAMP_IA", "TODO",
}

// settable returns why a property must not be set from outside, or nil.
func settable(s Setting) error {
	name := strings.ToUpper(s.Name)
	switch {
	case name == "ID", name == "CRON", strings.HasPrefix(name, "HEADER-ARGS"), strings.Contains(name, "+"):
		return invalid("the property %s is not to be set from outside", s.Name)
	case slices.Contains(specialProperties[:], name):
		return invalid("%s is no property but a part of the entry, which has an argument of its own", s.Name)
	case name == "", name == "END", name == "PROPERTIES", strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c == ':' || c == 0x7f || c == 0xa0 }):
		return invalid("%q cannot name a property", s.Name)
	case strings.ContainsFunc(s.Value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f || c == 0x2028 || c == 0x2029 }):
		return invalid("the value of the property %s is to be one line", s.Name)
	}
	return nil
}

func (p *parts) setProperties(c Change) (string, error) {
	var done []string
	for _, s := range c.Properties {
		if err := settable(s); err != nil {
			return "", err
		}
		if err := p.setProperty(s.Name, s.Value); err != nil {
			return "", err
		}
		if s.Value == "" {
			done = append(done, "it loses the property "+s.Name)
		} else {
			done = append(done, fmt.Sprintf("its property %s becomes %s", s.Name, s.Value))
		}
	}
	if c.Rule == nil || *c.Rule == "" && !p.has("CRON") {
		return strings.Join(done, "; "), nil
	}
	if strings.ContainsAny(*c.Rule, "\n\r") {
		return "", invalid("a rule is one line")
	}
	return strings.Join(append(done, "its rule becomes "+*c.Rule), "; "), p.setProperty("CRON", strings.TrimSpace(*c.Rule))
}

// has reports whether the drawer has a property.
func (p *parts) has(name string) bool {
	return slices.ContainsFunc(p.drawer, func(line string) bool {
		key, _, isProperty := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), ":"), ":")
		return isProperty && strings.EqualFold(key, name)
	})
}

// setProperty sets a property in the drawer. Without a value it removes the property.
func (p *parts) setProperty(name, value string) error {
	at := slices.IndexFunc(p.drawer, func(line string) bool {
		key, _, isProperty := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), ":"), ":")
		return isProperty && strings.EqualFold(key, name)
	})
	switch {
	case at < 0 && value == "":
		return invalid("the entry has no property %s", name)
	case value == "":
		p.drawer = slices.Delete(p.drawer, at, at+1)
	case at < 0:
		indentation := ""
		if len(p.drawer) > 0 {
			indentation = p.drawer[0][:len(p.drawer[0])-len(strings.TrimLeft(p.drawer[0], " \t"))]
		}
		p.drawer = append(p.drawer, indentation+org.PropertyLine(name, value)+"\n")
	default:
		old := p.drawer[at]
		p.drawer[at] = old[:len(old)-len(strings.TrimLeft(old, " \t"))] + org.PropertyLine(name, value) + "\n"
	}
	return nil
}
