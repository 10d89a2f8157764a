package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"org-agent/kernel/atomicfile"
	"org-agent/kernel/org"
)

// Written is a property as config.org has it.
type Written struct{ Name, Value string }

// NewChannel returns the channel with these properties, as config.org would have them. driver is "" for the one that the
// name says. The errors do not repeat a value, which may be a key.
func NewChannel(name, driver string, properties []Written) (Channel, error) {
	name, driver = strings.ToLower(strings.TrimSpace(name)), strings.ToLower(strings.TrimSpace(driver))
	if err := CheckChannelName(name); err != nil {
		return Channel{}, err
	}
	c := Channel{Name: name, Driver: driver, Properties: map[string]string{}, Keys: map[string]KeySource{}}
	if c.Driver == "" {
		c.Driver = name
	}
	if err := CheckChannelName(c.Driver); err != nil {
		return Channel{}, err
	}
	for _, p := range properties {
		key, value := strings.ToUpper(strings.TrimSpace(p.Name)), strings.TrimSpace(p.Value)
		switch {
		case value == "":
		case !isVariable(key) || ofOrg(key) || key == "DRIVER" || strings.ContainsAny(value, "\r\n"):
			return Channel{}, fmt.Errorf("%q cannot be a property of a channel, or its value is no line", key)
		case slices.Contains(channelKeys, key):
			source, err := parseKeySource(value)
			if err != nil {
				return Channel{}, fmt.Errorf("%s: %w", key, err)
			}
			c.Keys[key] = source
		default:
			c.Properties[key] = value
		}
	}
	return c, nil
}

// WriteChannel adds the channel to the config.org at path, as the last heading below "Channels", and returns it with its
// line. All other bytes stay. If there is a channel of its name, if the file cannot be written, or if the channel could
// not be read there, the file stays as it is; if it changed meanwhile, the error is [ErrChanged].
func WriteChannel(path string, c Channel) (Channel, error) {
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c, fmt.Errorf("read config.org: %w", err)
	}
	for _, known := range Parse(path, string(before)).Channels {
		if known.Name == c.Name {
			return c, fmt.Errorf("there is a channel %s in line %d of config.org already", c.Name, known.Line)
		}
	}
	after := addChannel(string(before), c)
	found := Parse(path, after).Channels
	at := slices.IndexFunc(found, func(f Channel) bool { return f.Name == c.Name })
	if at < 0 || !maps.Equal(found[at].Properties, c.Properties) || !maps.Equal(found[at].Keys, c.Keys) || found[at].Driver != c.Driver {
		return c, errors.New("the heading of the channel could not be read in config.org")
	}
	err = atomicfile.Replace(path, before, []byte(after), 0o600)
	if errors.Is(err, atomicfile.ErrChanged) {
		return c, ErrChanged
	}
	if err != nil {
		return c, fmt.Errorf("write config.org: %w", err)
	}
	return found[at], nil
}

// addChannel returns the text with a heading for the channel.
func addChannel(text string, c Channel) string {
	newline := "\n"
	if strings.Contains(text, "\r\n") {
		newline = "\r\n"
	}
	at, introduction := len(text), "* Channels\n"
	document := org.Parse(text)
	for i, h := range document.Headings {
		if h.Level != 1 || h.Hidden() || !strings.EqualFold(h.Title, "Channels") {
			continue
		}
		introduction = ""
		for _, next := range document.Headings[i+1:] {
			if next.Level == 1 {
				at = next.Start
				break
			}
		}
		break
	}
	before, after := text[:at], text[at:]
	if before != "" && !strings.HasSuffix(before, "\n") {
		introduction = "\n" + introduction
	}
	heading := introduction + c.heading()
	if after != "" {
		heading += "\n"
	}
	return before + strings.ReplaceAll(heading, "\n", newline) + after
}

// heading returns the heading of the channel with its drawer.
func (c Channel) heading() string {
	lines := []string{"** " + c.Name, ":PROPERTIES:"}
	add := func(name, value string) { lines = append(lines, fmt.Sprintf("%-10s %s", ":"+name+":", value)) }
	if c.Driver != c.Name {
		add("DRIVER", c.Driver)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Properties)) {
		add(name, c.Properties[name])
	}
	for _, name := range slices.Sorted(maps.Keys(c.Keys)) {
		add(name, c.Keys[name].Written())
	}
	return strings.Join(append(lines, ":END:"), "\n") + "\n"
}
