package config

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"org-agent/kernel/nearest"
	"org-agent/kernel/org"
)

// Settings is what config.org says. The zero value of a field means that it
// says nothing and the reader's own default holds.
type Settings struct {
	LLM          string // builtin, none, the name of one of Models, or ""
	Models       []Model
	IdleTimeout  time.Duration
	TurnTimeout  time.Duration
	HistoryTurns int
	LogLevel     slog.Level
	// SkillsDisabled are skills that do not count. SkillsAllowed, if there are any,
	// are the only ones that do.
	SkillsDisabled []string
	SkillsAllowed  []string
	// Diagnostics are the faults of the file; what is at fault was left out.
	Diagnostics []Diagnostic

	refused *Diagnostic       // the first fault that made a model unusable
	values  map[string]string // by path
}

// Model is a heading below "Models": a server that speaks OpenAI's protocol.
type Model struct {
	Name        string
	BaseURL     string
	Model       string // "" for the only one the server has
	Key         KeySource
	Temperature *float64 // 0 to 2
	MaxTokens   int
	Grammar     string // the request's field for a grammar: grammar, guided_grammar, or ""
	Images      string // what becomes of images: send, omit or refuse; "" for send
	Price       *Price // nil when it is not known
	Line        int
}

// Price is what a model costs, in US dollars for a million tokens.
type Price struct{ Input, Output float64 }

// Of is the price of so many tokens.
func (p Price) Of(input, output int) float64 {
	return (p.Input*float64(input) + p.Output*float64(output)) / 1e6
}

// KeyVariables are the environment variables that hold keys of the models.
func (s Settings) KeyVariables() []string {
	var names []string
	for _, m := range s.Models {
		if m.Key.Env != "" {
			names = append(names, m.Key.Env)
		}
	}
	return names
}

// Diagnostic is a fault in config.org.
type Diagnostic struct {
	File string
	org.Diagnostic
}

// String is FILE:LINE:COLUMN: SEVERITY: MESSAGE.
func (d Diagnostic) String() string { return d.File + ":" + d.Diagnostic.String() }

// configLimit is the largest config.org, in bytes.
const configLimit = 4 << 20

// Load reads the instance's config.org; without one nothing is set. Faults in
// it are in the Diagnostics, an error means that it could not be read.
func Load(paths Paths) (Settings, error) {
	info, err := os.Stat(paths.Config)
	if errors.Is(err, fs.ErrNotExist) {
		return Settings{}, nil
	}
	if err == nil && info.Size() > configLimit {
		err = fmt.Errorf("it has %d bytes, more than %d", info.Size(), configLimit)
	}
	if err != nil {
		return Settings{}, fmt.Errorf("read the settings %s: %w", paths.Config, err)
	}
	source, err := os.ReadFile(paths.Config)
	if err != nil {
		return Settings{}, fmt.Errorf("read the settings: %w", err)
	}
	return Parse(paths.Config, string(source)), nil
}

// Parse reads settings from the text of a config.org; file names it in the
// diagnostics.
func Parse(file, source string) Settings {
	document := org.Parse(source)
	p := &settingsParser{file: file, names: map[string]int{}}
	for _, d := range document.Diagnostics {
		p.settings.Diagnostics = append(p.settings.Diagnostics, Diagnostic{file, d})
	}
	for _, h := range document.Headings {
		switch {
		case h.Hidden():
			continue
		case h.Level == 1 && strings.EqualFold(h.Title, "Settings"):
			p.section(h)
		case h.Level == 1 && !strings.EqualFold(h.Title, "Models"):
			p.misspelt(h)
		case h.Level == 2 && h.Parent != nil && strings.EqualFold(h.Parent.Title, "Models"):
			p.model(h)
		}
		p.values(h)
	}
	if p.llmLine > 0 && p.settings.LLM != nameBuiltin && p.settings.LLM != nameNone && p.names[p.settings.LLM] == 0 {
		p.fault(p.llmLine, "there is no model %q: %s", p.settings.LLM, knownModels(modelNames(p.settings.Models)))
	}
	return p.settings
}

// Value is the property of a heading by its path, "calendar.url" for URL of the
// heading "Calendar", in any case; of the heading Settings the property's name
// alone is enough. It is "" where there is none.
func (s Settings) Value(path string) string { return s.values[strings.ToLower(path)] }

// settingsParser gathers what a config.org says.
type settingsParser struct {
	file     string
	settings Settings
	names    map[string]int // the line of each model
	llmLine  int
}

func (p *settingsParser) fault(line int, format string, args ...any) {
	p.settings.Diagnostics = append(p.settings.Diagnostics,
		Diagnostic{p.file, org.Diagnostic{Line: line, Column: 1, Severity: org.Error, Message: fmt.Sprintf(format, args...)}})
}

// values keeps the properties of a heading for whoever asks for one by its path.
func (p *settingsParser) values(h *org.Heading) {
	path := strings.ToLower(h.Title) + "."
	for above := h.Parent; above != nil; above = above.Parent {
		path = strings.ToLower(above.Title) + "." + path
	}
	for _, property := range h.Properties {
		if p.settings.values == nil {
			p.settings.values = map[string]string{}
		}
		key, value := strings.ToLower(property.Key), strings.TrimSpace(property.Value)
		p.settings.values[path+key] = value
		if path == "settings." {
			p.settings.values[key] = value
		}
	}
}

// misspelt complains about a heading that was probably meant to be one of ours.
// Other headings are the person's.
func (p *settingsParser) misspelt(h *org.Heading) {
	for _, name := range []string{"Models", "Settings"} {
		if nearest.Distance(strings.ToLower(h.Title), strings.ToLower(name)) <= 2 {
			p.fault(h.Line, "the heading %q is not read: did you mean %q?", h.Title, name)
		}
	}
}

// property is one row of what may stand in a drawer: set reads the value into
// where it belongs.
type property struct {
	key string
	set func(value string) error
}

// drawer reads the properties of a heading, and reports whether none was at
// fault.
func (p *settingsParser) drawer(h *org.Heading, table []property) bool {
	whole, seen := true, map[string]bool{}
	for _, found := range h.Properties {
		key := strings.ToUpper(found.Key)
		if seen[key] {
			p.fault(found.Line, "%s stands twice", key)
			whole = false
			continue
		}
		seen[key] = true
		row, ok := findRow(table, key)
		switch {
		case ok:
			if err := row.set(strings.TrimSpace(found.Value)); err != nil {
				p.fault(found.Line, "%s: %v", key, err)
				whole = false
			}
		case !ofOrg(key):
			p.fault(found.Line, "there is no setting %s here: did you mean %s?", key, nearestKey(table, key))
		}
	}
	return whole
}

func findRow(table []property, key string) (property, bool) {
	for _, row := range table {
		if row.key == key {
			return row, true
		}
	}
	return property{}, false
}

// ofOrg reports whether Org itself or its users keep this property anywhere.
func ofOrg(key string) bool {
	switch key {
	case "ID", "CUSTOM_ID", "CATEGORY", "VISIBILITY", "CREATED", "DESCRIPTION":
		return true
	}
	return false
}

func (p *settingsParser) section(h *org.Heading) {
	s := &p.settings
	p.drawer(h, []property{
		{"LLM", func(value string) error {
			s.LLM = value
			for _, line := range h.Properties {
				if strings.EqualFold(line.Key, "LLM") && value != "" {
					p.llmLine = line.Line
				}
			}
			return nil
		}},
		{"IDLE_TIMEOUT", func(value string) error { return setDuration(&s.IdleTimeout, value) }},
		{"TURN_TIMEOUT", func(value string) error { return setDuration(&s.TurnTimeout, value) }},
		{"HISTORY_TURNS", func(value string) error { return setCount(&s.HistoryTurns, value) }},
		{"SKILLS_DISABLED", func(value string) error { return setNames(&s.SkillsDisabled, value) }},
		{"SKILLS_ALLOWED", func(value string) error { return setNames(&s.SkillsAllowed, value) }},
		{"LOG_LEVEL", func(value string) error {
			if err := s.LogLevel.UnmarshalText([]byte(value)); err != nil {
				return fmt.Errorf("%q is not debug, info, warn or error", value)
			}
			return nil
		}},
	})
}

// model reads a heading below "Models". One that is at fault is left out: half
// a model might send words or keys where they do not belong.
func (p *settingsParser) model(h *org.Heading) {
	m := Model{Name: h.Title, Line: h.Line}
	before := len(p.settings.Diagnostics)
	defer func() {
		if faults := p.settings.Diagnostics; p.names[m.Name] != h.Line && p.settings.refused == nil {
			p.settings.refused = &faults[before]
		}
	}()
	whole := p.drawer(h, []property{
		{"BASE_URL", func(value string) error { m.BaseURL = value; return checkBaseURL(value) }},
		{"MODEL", func(value string) error { m.Model = value; return nil }},
		{"API_KEY", func(value string) (err error) { m.Key, err = ParseKeySource(value); return err }},
		{"TEMPERATURE", func(value string) error { return setTemperature(&m.Temperature, value) }},
		{"MAX_TOKENS", func(value string) error { return setCount(&m.MaxTokens, value) }},
		{"IMAGES", func(value string) error {
			if m.Images = value; value != "send" && value != "omit" && value != "refuse" {
				return fmt.Errorf("%q is not \"send\", \"omit\" (a line stands for each) or \"refuse\"", value)
			}
			return nil
		}},
		{"PRICE", func(value string) error { return setPrice(&m.Price, value) }},
		{"GRAMMAR", func(value string) error {
			if m.Grammar = value; value != "grammar" && value != "guided_grammar" {
				return fmt.Errorf("%q is not \"grammar\" (llama.cpp) or \"guided_grammar\" (vLLM)", value)
			}
			return nil
		}},
	})
	switch {
	case m.Name == "":
		p.fault(h.Line, "a model needs a name: its heading is empty")
	case m.Name == nameBuiltin || m.Name == nameNone:
		p.fault(h.Line, "%q stands for itself: give the model another name", m.Name)
	case p.names[m.Name] > 0:
		p.fault(h.Line, "the model %q is in line %d already", m.Name, p.names[m.Name])
	case m.BaseURL == "" && whole:
		p.fault(h.Line, "the model %q needs a property BASE_URL, as :BASE_URL: http://localhost:11434/v1", m.Name)
	case whole:
		p.names[m.Name] = h.Line
		p.settings.Models = append(p.settings.Models, m)
	}
}

// checkBaseURL says what is wrong with a server's address, without repeating
// it: it may hold a key.
func checkBaseURL(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return errors.New("this is not an address as http://localhost:11434/v1")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("an address has no password and no ? or # here: a key belongs to API_KEY")
	}
	return nil
}

// setDuration reads "90s", "2m", "1h30m", or a number of seconds.
func setDuration(to *time.Duration, value string) error {
	if seconds, err := strconv.Atoi(value); err == nil {
		value = fmt.Sprint(seconds, "s")
	}
	duration, err := time.ParseDuration(value)
	if err != nil || duration <= 0 {
		return fmt.Errorf("%q is not a time as 90s or 2m", value)
	}
	*to = duration
	return nil
}

func setCount(to *int, value string) error {
	n, err := strconv.Atoi(value)
	if err != nil || n <= 0 {
		return fmt.Errorf("%q is not a number from 1 up", value)
	}
	*to = n
	return nil
}

// setNames reads names with blanks or commas between.
func setNames(to *[]string, value string) error {
	*to = strings.FieldsFunc(value, func(c rune) bool { return c == ',' || c == ' ' || c == '\t' })
	if len(*to) == 0 {
		return errors.New("there is no name")
	}
	return nil
}

// setPrice reads "0.15 0.60": input and output, for a million tokens.
func setPrice(to **Price, value string) error {
	parts := strings.FieldsFunc(value, func(c rune) bool { return strings.ContainsRune(" \t,/$", c) })
	var numbers []float64
	for _, part := range parts {
		f, err := strconv.ParseFloat(part, 64)
		if err != nil || !(f >= 0 && f <= 1e6) {
			break
		}
		numbers = append(numbers, f)
	}
	if len(parts) != 2 || len(numbers) != 2 {
		return fmt.Errorf("%q is not a price as 0.15 0.60: dollars for a million tokens of input and of output", value)
	}
	*to = &Price{numbers[0], numbers[1]}
	return nil
}

func setTemperature(to **float64, value string) error {
	f, err := strconv.ParseFloat(value, 64)
	if err != nil || !(f >= 0 && f <= 2) {
		return fmt.Errorf("%q is not a number from 0 to 2", value)
	}
	*to = &f
	return nil
}
