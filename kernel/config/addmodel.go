package config

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"

	"org-agent/kernel/atomicfile"
	"org-agent/kernel/org"
)

// NewModel returns the model with these values of its properties. key is where the key is, or "". The
// address of a maker with a protocol of its own chooses that protocol. The errors do not repeat the
// address or the key.
func NewModel(name, address, model, key string) (Model, error) {
	m := Model{Name: strings.TrimSpace(name), BaseURL: strings.TrimSpace(address), Model: strings.TrimSpace(model)}
	if strings.ContainsAny(m.Name+m.Model+m.BaseURL+key, "\r\n") {
		return m, errors.New("a name, an address and a key's place are one line each")
	}
	if err := checkBaseURL(m.BaseURL); err != nil {
		return m, err
	}
	m.Driver = driverOf(m.BaseURL)
	if strings.TrimSpace(key) != "" {
		var err error
		if m.Key, err = parseKeySource(key); err != nil {
			return m, err
		}
	}
	return m, nil
}

// driverOf returns the driver of an address, "" for the default.
func driverOf(address string) string {
	for _, m := range makers {
		if u, err := url.Parse(address); err == nil && strings.EqualFold("https://"+u.Host, m.address) {
			return m.driver
		}
	}
	return ""
}

// ErrChanged is the error of [WriteModel] if the file changed while it was read.
var ErrChanged = errors.New("config.org changed meanwhile")

// WriteModel adds the model to the config.org at path as [AddModel] does. If the file cannot be
// written, or the model could not be read there, the file stays as it is.
func WriteModel(path string, m Model) (Model, error) {
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("read config.org: %w", err)
	}
	added, after := AddModel(string(before), m)
	if after == string(before) {
		return added, nil
	}
	if found := Parse(path, after).Models; len(found) == 0 || found[0].Name != added.Name || found[0].BaseURL != m.BaseURL {
		return m, errors.New("the heading of the model could not be read in config.org")
	}
	err = atomicfile.Replace(path, before, []byte(after), 0o600)
	if errors.Is(err, atomicfile.ErrChanged) {
		return m, ErrChanged
	}
	if err != nil {
		return m, fmt.Errorf("write config.org: %w", err)
	}
	return added, nil
}

// AddModel returns the text of a config.org with a heading for the model, which is the first below
// "Models", and the line of the heading. All other bytes stay. A model that has the same server, the
// same name there and the same key is not added again. The heading gets another name if there is one
// of that name.
func AddModel(text string, m Model) (added Model, changed string) {
	settings := Parse("config.org", text)
	for _, known := range settings.Models {
		if known.BaseURL == m.BaseURL && known.Model == m.Model && known.Driver == m.Driver && slices.Equal(known.Keys(), m.Keys()) {
			return known, text
		}
	}
	name := m.Name
	for i := 2; name == nameBuiltin || name == nameNone || slices.Contains(modelNames(settings.Models), name); i++ {
		name = fmt.Sprintf("%s-%d", m.Name, i)
	}
	m.Name = name
	newline := "\n"
	if strings.Contains(text, "\r\n") {
		newline = "\r\n"
	}
	at, introduction := modelsPlace(text)
	before, after := text[:at], text[at:]
	if before != "" && !strings.HasSuffix(before, "\n") {
		introduction = "\n" + introduction
	}
	heading := introduction + m.heading()
	if after != "" {
		heading += "\n"
	}
	heading = strings.ReplaceAll(heading, "\n", newline)
	m.Line = strings.Count(before+heading[:strings.Index(heading, "** ")], "\n") + 1
	return m, before + heading + after
}

// modelsPlace returns where the first heading below "Models" begins or would begin, and what has to
// be before it there.
func modelsPlace(text string) (at int, introduction string) {
	document := org.Parse(text)
	for i, h := range document.Headings {
		switch {
		case h.Level != 1 || h.Hidden() || !strings.EqualFold(h.Title, "Models"):
		case i+1 < len(document.Headings):
			return document.Headings[i+1].Start, ""
		default:
			return len(text), ""
		}
	}
	return len(text), "* Models\n"
}

// heading returns the heading of the model with its drawer.
func (m Model) heading() string {
	lines := []string{"** " + m.Name, ":PROPERTIES:", ":BASE_URL: " + m.BaseURL}
	if m.Driver != "" {
		lines = append(lines, ":DRIVER:   "+m.Driver)
	}
	if m.Model != "" {
		lines = append(lines, ":MODEL:    "+m.Model)
	}
	if key := m.Key.Written(); key != "" {
		lines = append(lines, ":API_KEY:  "+key)
	}
	return strings.Join(append(lines, ":END:"), "\n") + "\n"
}
