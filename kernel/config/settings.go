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

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/catalog"
	"org-agent/kernel/org"
	"org-agent/kernel/suggest"
)

// Settings is the content of config.org. The zero value of a field means that the file does not set
// it; the reader of the field then applies its own default.
type Settings struct {
	LLM    string // builtin, none, the name of one of Models, or ""
	Models []Model
	// Known is the person's table of prices and windows of models, below "Known models".
	Known catalog.Table
	// Off are the models that COMMENT or an archive tag switches off: their lines, by name.
	Off map[string]int
	// These models write completions, summaries of a long conversation's beginning, and proposals
	// for what to remember. "" means the conversation's own model.
	CompletionModel, SummaryModel, MemoryModel string

	IdleTimeout  time.Duration
	TurnTimeout  time.Duration
	HistoryTurns int
	// Subagents is how many subagents run at once; 0 means the default, a negative number none.
	Subagents int
	// Route is where results of tasks go while the person has not written in an editor: a conversation, or a channel and a
	// chat. "" is for the inbox.
	Route string
	// Reactions is how often an hour a skill may react to what happens in the person's Org files; 0 means the
	// default, a negative number never.
	Reactions int
	// History is which earlier turns a model is shown, unless a heading or a preset says otherwise:
	// all, branch, none, or "".
	History string
	// Budget is what a turn may use, unless a heading or a preset says otherwise. The values are as
	// the file writes them, by the names of settings.
	Budget   map[string]string
	Presets  []Preset
	LogLevel slog.Level
	// Transcription turns speech into text, and Voice text into speech; nil means none.
	Transcription *SpeechServer
	Voice         *SpeechServer
	// Embeddings is the server that computes the vectors of notes; nil means none.
	Embeddings *EmbeddingServer
	// Search is the server for web searches; nil means none.
	Search *SearchServer
	// MCP are the servers whose tools may be called beside the kernel's own.
	MCP []MCPServer
	// Channels are the chats by which people talk to the agent.
	Channels []Channel
	// Heartbeat says when the agent looks whether there is anything to do; nil means [Settings.Beats] has the defaults.
	Heartbeat *Heartbeat
	// Proxy is the proxy for web pages: an address, "environment" for the usual variables, "" for
	// none, or [proxyFaulty].
	Proxy string
	// Programs are directories that every command may read, as the file writes them.
	Programs []string
	// Notes are directories of the person's Org files that the agent may search, as the file writes
	// them.
	Notes []string
	// NotesSet reports whether the file sets Notes, possibly to none.
	NotesSet bool
	// TaskFiles are Org files of the person's with tasks that are done when they are armed, as the file writes them.
	TaskFiles []string
	// TaskTag is the tag of the headings of those files that are tasks, "" for the default.
	TaskTag string
	// ProposeAfter is how long a conversation must be quiet before the agent proposes what to
	// remember of it.
	ProposeAfter Delay
	// KeepRequests is how long the journal keeps what models were sent before it goes to the archive.
	KeepRequests Delay
	// SkillsDisabled are skills that are not used. If SkillsAllowed is not empty, only its skills
	// are used.
	SkillsDisabled []string
	SkillsAllowed  []string
	// Diagnostics are the faults of the file. The settings leave out whatever is at fault.
	Diagnostics []Diagnostic

	faulty  map[string]Diagnostic // faults of presets, by their names in lower case
	refused *Diagnostic           // the first fault that made a model unusable
	values  map[string]string     // properties, by path
}

// Model is a heading below "Models": a model on a server.
type Model struct {
	Name        string
	BaseURL     string
	Driver      string // the server's protocol; "" for the default, OpenAI's
	Dialect     string // how the model is shown actions and results; "" for the default
	Model       string // "" for the only one the server has
	Key         KeySource
	MoreKeys    []KeySource // tried in order when the server refuses Key
	Temperature *float64    // 0 to 2
	MaxTokens   int
	Window      int        // tokens of one request and its reply together; 0 when unknown
	Grammar     string     // the request's field for a grammar: grammar, structured_outputs, guided_grammar, json_schema, or ""
	Effort      string     // how much it reasons before it answers, in the server's own word, or ""
	Extras      Extras     // what the server wants beside the key
	Images      string     // what happens to images: send, omit or refuse; "" means send
	Price       *llm.Price // nil when unknown
	Line        int
}

// Keys returns the sources of all its keys, in the order in which they are tried.
func (m Model) Keys() []KeySource { return append([]KeySource{m.Key}, m.MoreKeys...) }

// KeyVariables returns the environment variables that hold the servers' keys.
func (s Settings) KeyVariables() []string {
	var names []string
	for _, m := range s.Models {
		for _, key := range m.Keys() {
			if key.Env != "" {
				names = append(names, key.Env)
			}
		}
	}
	if s.Embeddings != nil && s.Embeddings.Key.Env != "" {
		names = append(names, s.Embeddings.Key.Env)
	}
	if s.Search != nil && s.Search.Key.Env != "" {
		names = append(names, s.Search.Key.Env)
	}
	for _, server := range s.MCP {
		for _, key := range server.Keys() {
			if key.Env != "" {
				names = append(names, key.Env)
			}
		}
	}
	for _, c := range s.Channels {
		for _, key := range c.Keys {
			if key.Env != "" {
				names = append(names, key.Env)
			}
		}
	}
	for _, server := range []*SpeechServer{s.Transcription, s.Voice} {
		if server != nil && server.Key.Env != "" {
			names = append(names, server.Key.Env)
		}
	}
	return names
}

// Diagnostic is a fault in config.org.
type Diagnostic struct {
	File string
	org.Diagnostic
}

// String returns the diagnostic as FILE:LINE:COLUMN: SEVERITY: MESSAGE.
func (d Diagnostic) String() string { return d.File + ":" + d.Diagnostic.String() }

// configLimit is the largest config.org, in bytes.
const configLimit = 4 << 20

// Load reads the instance's config.org. Without the file nothing is set. Faults in the file are in
// Diagnostics; an error means that the file could not be read.
func Load(paths Paths) (Settings, error) {
	info, err := os.Stat(paths.Config)
	if errors.Is(err, fs.ErrNotExist) {
		return Settings{}, nil
	}
	if err == nil && info.Size() > configLimit {
		err = fmt.Errorf("it has %d bytes, more than the limit of %d", info.Size(), configLimit)
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

// Parse reads settings from the text of a config.org. The diagnostics name it by file.
func Parse(file, source string) Settings {
	document := org.Parse(source)
	p := &settingsParser{file: file, names: map[string]int{}}
	for _, d := range document.Diagnostics {
		p.settings.Diagnostics = append(p.settings.Diagnostics, Diagnostic{file, d})
	}
	for _, h := range document.Headings {
		switch {
		case h.Hidden():
			p.off(h)
			continue
		case h.Level == 1 && strings.EqualFold(h.Title, "Settings"):
			p.section(h)
		case h.Level == 1 && strings.EqualFold(h.Title, "Web"):
			p.web(h)
		case h.Level == 1 && strings.EqualFold(h.Title, "Heartbeat"):
			p.heartbeat(h)
		case h.Level == 1 && strings.EqualFold(h.Title, "Known models"):
			p.known(h, source)
		case h.Level == 1 && strings.EqualFold(h.Title, "Commands"):
			p.commands(h)
		case h.Level == 1 && !strings.EqualFold(h.Title, "Models") && !strings.EqualFold(h.Title, "Presets"):
			p.misspelt(h)
		case h.Level == 2 && h.Parent != nil && strings.EqualFold(h.Parent.Title, "Presets"):
			p.preset(h, source)
		case h.Level == 2 && h.Parent != nil && strings.EqualFold(h.Parent.Title, "Models"):
			p.model(h)
		case h.Level == 2 && h.Parent != nil && strings.EqualFold(h.Parent.Title, "Speech"):
			p.speech(h)
		case h.Level == 2 && h.Parent != nil && strings.EqualFold(h.Parent.Title, "Memory"):
			p.embeddings(h)
		case h.Level == 2 && h.Parent != nil && strings.EqualFold(h.Parent.Title, "Web"):
			p.search(h)
		case h.Level == 2 && h.Parent != nil && strings.EqualFold(h.Parent.Title, "MCP"):
			p.mcp(h)
		case h.Level == 2 && h.Parent != nil && strings.EqualFold(h.Parent.Title, "Channels"):
			p.channel(h)
		}
		p.values(h)
	}
	for name := range p.names {
		delete(p.settings.Off, name) // another model of that name is on
	}
	if line := p.settings.Off[p.settings.LLM]; p.llmLine > 0 && line > 0 {
		p.fault(p.llmLine, "the model %q is switched off in line %d: remove the word COMMENT there", p.settings.LLM, line)
	} else if p.llmLine > 0 && p.settings.LLM != nameBuiltin && p.settings.LLM != nameNone && p.names[p.settings.LLM] == 0 {
		p.fault(p.llmLine, "there is no model %q: %s", p.settings.LLM, knownModels(modelNames(p.settings.Models)))
	}
	return p.settings
}

// off records a model that is switched off. A request for it fails and does not go to another
// model.
func (p *settingsParser) off(h *org.Heading) {
	if h.Level != 2 || h.Title == "" || h.Parent == nil || h.Parent.Hidden() || !strings.EqualFold(h.Parent.Title, "Models") {
		return
	}
	if p.settings.Off == nil {
		p.settings.Off = map[string]int{}
	}
	p.settings.Off[h.Title] = h.Line
}

// Value returns a property by the path of its heading: "calendar.url" is the property URL of the
// heading "Calendar", in any case. Properties of the heading Settings need only their name. Value
// returns "" if there is none.
func (s Settings) Value(path string) string { return s.values[strings.ToLower(path)] }

// settingsParser collects the settings of a config.org.
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

// values records a heading's properties for [Settings.Value].
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

// misspelt reports a heading that is close to one of the known names. Other headings belong to the
// person.
func (p *settingsParser) misspelt(h *org.Heading) {
	for _, name := range []string{"Models", "Known models", "Presets", "Settings", "Heartbeat"} {
		if suggest.Distance(strings.ToLower(h.Title), strings.ToLower(name)) <= 2 {
			p.fault(h.Line, "the heading %q is not read: did you mean %q?", h.Title, name)
		}
	}
}

// property is one property that a drawer may contain. set parses its value and stores it.
type property struct {
	key string
	set func(value string) error
}

// drawer reads the properties of a heading and reports whether all are valid.
func (p *settingsParser) drawer(h *org.Heading, table []property) bool {
	whole, seen := true, map[string]bool{}
	for _, found := range h.Properties {
		key := strings.ToUpper(found.Key)
		if seen[key] && !strings.HasSuffix(key, "+") { // Org's way to add to a property
			p.fault(found.Line, "%s is set twice", key)
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

// ofOrg reports whether Org or its users write this property on any heading.
func ofOrg(key string) bool {
	switch key {
	case "ID", "CUSTOM_ID", "CATEGORY", "VISIBILITY", "CREATED", "DESCRIPTION":
		return true
	}
	return false
}

func (p *settingsParser) section(h *org.Heading) {
	s := &p.settings
	p.drawer(h, append(budgetDrawer(&s.Budget), []property{
		{"LLM", func(value string) error {
			s.LLM = value
			for _, line := range h.Properties {
				if strings.EqualFold(line.Key, "LLM") && value != "" {
					p.llmLine = line.Line
				}
			}
			return nil
		}},
		{"COMPLETION_MODEL", func(value string) error { s.CompletionModel = value; return nil }},
		{"SUMMARY_MODEL", func(value string) error { s.SummaryModel = value; return nil }},
		{"MEMORY_MODEL", func(value string) error { s.MemoryModel = value; return nil }},
		{"IDLE_TIMEOUT", func(value string) error { return setDuration(&s.IdleTimeout, value) }},
		{"TURN_TIMEOUT", func(value string) error { return setDuration(&s.TurnTimeout, value) }},
		{"HISTORY_TURNS", func(value string) error { return setCount(&s.HistoryTurns, value) }},
		{"ROUTE", func(value string) error { s.Route = value; return nil }},
		{"SUBAGENTS", func(value string) error { return setLimit(&s.Subagents, value, mostSubagents) }},
		{"REACTIONS", func(value string) error { return setLimit(&s.Reactions, value, mostReactions) }},
		{"PROPOSE_AFTER", func(value string) error { return s.ProposeAfter.set(value) }},
		{"KEEP_REQUESTS", func(value string) error { return s.KeepRequests.setDays(value) }},
		{"NOTES", func(value string) error {
			if s.NotesSet = true; value == "none" {
				return nil
			}
			return setPaths(&s.Notes, value)
		}},
		{"TASK_FILES", func(value string) error { return setPaths(&s.TaskFiles, value) }},
		{"TASK_TAG", func(value string) error {
			tag := strings.Trim(value, ":")
			if err := org.CheckTag(tag); err != nil {
				return err
			}
			s.TaskTag = tag
			return nil
		}},
		{"HISTORY", func(value string) error { s.History = value; return CheckHistory(value) }},
		{"SKILLS_DISABLED", func(value string) error { return setNames(&s.SkillsDisabled, value) }},
		{"SKILLS_ALLOWED", func(value string) error { return setNames(&s.SkillsAllowed, value) }},
		{"LOG_LEVEL", func(value string) error {
			if err := s.LogLevel.UnmarshalText([]byte(value)); err != nil {
				return fmt.Errorf("%q is not debug, info, warn or error", value)
			}
			return nil
		}},
	}...))
}

// model reads a heading below "Models". A heading with a fault is left out: half a model might send
// words or keys to the wrong server.
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
		{"DRIVER", func(value string) error { m.Driver = value; return nil }},
		{"DIALECT", func(value string) error { m.Dialect = value; return nil }},
		{"MODEL", func(value string) error { m.Model = value; return nil }},
		{"API_KEY", func(value string) (err error) { m.Key, err = parseKeySource(value); return err }},
		{"API_KEY+", func(value string) error {
			key, err := parseKeySource(value)
			if m.MoreKeys = append(m.MoreKeys, key); err == nil && len(m.MoreKeys) >= keysLimit {
				err = fmt.Errorf("a server has at most %d keys", keysLimit)
			}
			return err
		}},
		{"TEMPERATURE", func(value string) error { return setTemperature(&m.Temperature, value) }},
		{"WINDOW", func(value string) error { return setCount(&m.Window, value) }},
		{"MAX_TOKENS", func(value string) error { return setCount(&m.MaxTokens, value) }},
		{"EFFORT", func(value string) error { m.Effort = value; return checkEffort(value) }},
		{"HEADERS", func(value string) error { return setHeader(&m.Extras.Headers, value) }},
		{"HEADERS+", func(value string) error { return setHeader(&m.Extras.Headers, value) }},
		{"QUERY", func(value string) error { return setQuery(&m.Extras.Query, value) }},
		{"BODY", func(value string) error { return setBody(&m.Extras.Body, value) }},
		{"IMAGES", func(value string) error {
			if m.Images = value; value != "send" && value != "omit" && value != "refuse" {
				return fmt.Errorf("%q is not \"send\", \"omit\" (a line replaces each image) or \"refuse\"", value)
			}
			return nil
		}},
		{"PRICE", func(value string) error { return setPrice(&m.Price, value) }},
		{"GRAMMAR", func(value string) error {
			if m.Grammar = value; value != "grammar" && value != "structured_outputs" && value != "guided_grammar" && value != "json_schema" {
				return fmt.Errorf("%q is not \"grammar\" (llama.cpp), \"structured_outputs\" (vLLM), \"guided_grammar\" (vLLM before 0.12) or \"json_schema\" (a server that takes a JSON schema)", value)
			}
			return nil
		}},
	})
	if m.Key == (KeySource{}) && len(m.MoreKeys) > 0 && whole {
		m.Key, m.MoreKeys = m.MoreKeys[0], m.MoreKeys[1:]
	}
	switch {
	case m.Name == "":
		p.fault(h.Line, "a model needs a name: its heading is empty")
	case m.Name == nameBuiltin || m.Name == nameNone:
		p.fault(h.Line, "the name %q is reserved: give the model another name", m.Name)
	case p.names[m.Name] > 0:
		p.fault(h.Line, "the model %q is in line %d already", m.Name, p.names[m.Name])
	case m.BaseURL == "" && whole:
		p.fault(h.Line, "the model %q needs a property BASE_URL, such as :BASE_URL: http://localhost:11434/v1", m.Name)
	case whole:
		p.names[m.Name] = h.Line
		p.settings.Models = append(p.settings.Models, m)
	}
}

// keysLimit is how many keys one server may have.
const keysLimit = 32

// checkBaseURL returns what is wrong with a server's address. The error does not repeat the
// address, which may contain a key.
func checkBaseURL(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return errors.New("this is not an address such as http://localhost:11434/v1")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("an address must not contain a password, ? or #: put a key into API_KEY")
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
		return fmt.Errorf("%q is not a time such as 90s or 2m", value)
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

// The greatest numbers of subagents at once and of reactions of a skill in an hour, and the numbers that
// apply where the file says nothing.
const (
	mostSubagents    = 32
	defaultSubagents = 4
	mostReactions    = 1000
	defaultReactions = 12
)

// setLimit reads a number from 1 to most; it is negative for off.
func setLimit(to *int, value string, most int) error {
	if strings.EqualFold(value, "off") {
		*to = -1
		return nil
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > most {
		return fmt.Errorf("%q is not a number from 1 to %d, or off", value, most)
	}
	*to = n
	return nil
}

// SubagentsAtOnce returns how many subagents may run at once; 0 means that none may.
func (s Settings) SubagentsAtOnce() int {
	if s.Subagents == 0 {
		return defaultSubagents
	}
	return max(s.Subagents, 0)
}

// ReactionsPerHour returns how often an hour a skill may react to what happens in Org files; 0 means never.
func (s Settings) ReactionsPerHour() int {
	if s.Reactions == 0 {
		return defaultReactions
	}
	return max(s.Reactions, 0)
}

// setNames reads names separated by blanks or commas.
func setNames(to *[]string, value string) error {
	*to = strings.FieldsFunc(value, func(c rune) bool { return c == ',' || c == ' ' || c == '\t' })
	if len(*to) == 0 {
		return errors.New("it contains no name")
	}
	return nil
}

// setPaths reads paths separated by blanks or commas. A path that contains blanks stands in quotes.
func setPaths(to *[]string, value string) error {
	for i, part := range strings.Split(value, `"`) {
		if i%2 == 1 {
			*to = append(*to, part)
			continue
		}
		*to = append(*to, strings.FieldsFunc(part, func(c rune) bool { return c == ',' || c == ' ' || c == '\t' })...)
	}
	if len(*to) == 0 {
		return errors.New("it names nothing")
	}
	return nil
}

// setPrice reads "0.15 0.60": the prices of a million tokens of input and of output. A third number is the
// price of input that is read from the server's cache, a fourth that of input that is written into it.
func setPrice(to **llm.Price, value string) error {
	parts := strings.FieldsFunc(value, func(c rune) bool { return strings.ContainsRune(" \t,/$", c) })
	var numbers []float64
	for _, part := range parts {
		f, err := strconv.ParseFloat(part, 64)
		if err != nil || !(f >= 0 && f <= 1e6) {
			break
		}
		numbers = append(numbers, f)
	}
	if len(parts) < 2 || len(parts) > 4 || len(numbers) != len(parts) {
		return fmt.Errorf("%q is not a price such as 0.15 0.60: dollars per million tokens of input and of output, and then of cached input and of input that is written into the cache", value)
	}
	price := llm.Price{Input: numbers[0], Output: numbers[1]}
	if len(numbers) > 2 {
		price.Cached = &numbers[2]
	}
	if len(numbers) > 3 {
		price.Written = &numbers[3]
	}
	*to = &price
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
