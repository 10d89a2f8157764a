package config_test

import (
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/config"
)

// TestModelsOff checks that a model that is switched off is known by its name, unless another model
// with that name is on.
func TestModelsOff(t *testing.T) {
	drawer := "\n:PROPERTIES:\n:BASE_URL: http://localhost:1/v1\n:EFFORT: low\n:END:\n"
	s := config.Parse("config.org", "* Models\n** a"+drawer+"** COMMENT a\n** COMMENT far away"+drawer+"*** COMMENT deep\n* COMMENT Models\n** b\n* Settings\n:PROPERTIES:\n:LLM: far away\n:END:\n")
	if len(s.Off) != 1 || s.Off["far away"] != 8 || s.Models[0].Effort != "low" {
		t.Errorf("off are %v, on %v", s.Off, s.Models)
	}
	if len(s.Diagnostics) != 1 || !strings.Contains(s.Diagnostics[0].String(), `"far away" is switched off in line 8`) {
		t.Errorf("the faults are %v", s.Diagnostics)
	}
	if s := config.Parse("config.org", "* Models\n** a\n:PROPERTIES:\n:BASE_URL: http://localhost:1/v1\n:EFFORT: very high\n:END:\n"); len(s.Models) > 0 || len(s.Diagnostics) != 1 {
		t.Errorf("an effort that there is not: %v", s.Diagnostics)
	}
}

// TestSeveralKeys checks that further keys are added as Org adds to a property, and that no key may
// be written out.
func TestSeveralKeys(t *testing.T) {
	model := func(rows string) string {
		return "* Models\n** remote\n:PROPERTIES:\n:BASE_URL: https://api.example.org/v1\n" + rows + ":END:\n"
	}
	first, second, third := config.KeySource{Env: "FIRST_KEY"}, config.KeySource{Command: "pass show second"}, config.KeySource{AuthSource: "example.org"}
	for rows, want := range map[string][]config.KeySource{
		"": {{}},
		":API_KEY: env:FIRST_KEY\n:API_KEY+: command: pass show second\n:api_key+: auth-source:example.org\n": {first, second, third},
		":API_KEY+: env:FIRST_KEY\n:API_KEY+: command: pass show second\n":                                    {first, second},
		":API_KEY+: env:FIRST_KEY\n": {first},
	} {
		s := config.Parse("config.org", model(rows))
		if len(s.Models) != 1 || len(s.Diagnostics) > 0 || !slices.Equal(s.Models[0].Keys(), want) {
			t.Errorf("%s: %v, %v", rows, s.Models, s.Diagnostics)
		}
	}
	if s := config.Parse("config.org", model(":API_KEY: env:A\n:API_KEY+: env:B\n")); !slices.Equal(s.KeyVariables(), []string{"A", "B"}) {
		t.Errorf("the variables are %v", s.KeyVariables())
	}
	for rows, want := range map[string]string{
		":API_KEY: env:A\n:API_KEY+: sk-canary-1234\n":                 "config.org:6:1: error: API_KEY+: do not write a key into a file",
		":API_KEY: env:A\n:API_KEY: env:B\n":                           "config.org:6:1: error: API_KEY is set twice",
		":API_KEY: env:A\n" + strings.Repeat(":API_KEY+: env:B\n", 32): "a server has at most 32 keys",
	} {
		s := config.Parse("config.org", model(rows))
		if len(s.Models) > 0 || len(s.Diagnostics) == 0 || !strings.Contains(s.Diagnostics[0].String(), want) || strings.Contains(s.Diagnostics[0].String(), "canary") {
			t.Errorf("%s: %v, %v", rows, s.Models, s.Diagnostics)
		}
	}
}

func TestSettings(t *testing.T) {
	s := config.Parse("config.org", `#+TITLE: mine
Some prose.

* Models
Prose, again.
** local
:PROPERTIES:
:ID: 1
:BASE_URL: http://localhost:11434/v1
:MODEL: qwen3:8b
:TEMPERATURE: 0
:MAX_TOKENS: 4000
:GRAMMAR: grammar
:END:
*** notes on it
** COMMENT unused
:PROPERTIES:
:NONSENSE: yes
:END:
** TODO far away :remote:
:PROPERTIES:
:base_url: https://api.example.org/v1
:Api_Key: command: pass show "x: y"
:END:
* Settings
:PROPERTIES:
:LLM: far away
:IDLE_TIMEOUT: 90
:TURN_TIMEOUT: 1h30m
:HISTORY_TURNS: 12
:LOG_LEVEL: Warn
:SKILLS_DISABLED: weather, pdf-forms  old
:SKILLS_ALLOWED: notes
:TASK_TAG: :robot:
:END:
* Thoughts
** about models
* Calendar
:PROPERTIES:
:URL:  https://calendar.example.org
:END:
** Work
:PROPERTIES:
:Color: blue
:END:
** COMMENT Home
:PROPERTIES:
:COLOR: red
:END:
`)
	for path, value := range map[string]string{
		"calendar.url": "https://calendar.example.org", "Calendar.Work.COLOR": "blue", "calendar.home.color": "", "settings.llm": "far away", "LLM": "far away",
		"models.local.model": "qwen3:8b", "url": "", "": "",
	} {
		if got := s.Value(path); got != value {
			t.Errorf("the value of %s is %q, want %q", path, got, value)
		}
	}
	s = exported(s)
	zero := 0.0
	want := config.Settings{
		LLM: "far away",
		Models: []config.Model{
			{Name: "local", BaseURL: "http://localhost:11434/v1", Model: "qwen3:8b", Temperature: &zero, MaxTokens: 4000, Grammar: "grammar", Line: 6},
			{Name: "far away", BaseURL: "https://api.example.org/v1", Key: config.KeySource{Command: `pass show "x: y"`}, Line: 20},
		},
		Off:         map[string]int{"unused": 16},
		IdleTimeout: 90 * time.Second, TurnTimeout: 90 * time.Minute, HistoryTurns: 12, LogLevel: slog.LevelWarn,
		SkillsDisabled: []string{"weather", "pdf-forms", "old"}, SkillsAllowed: []string{"notes"}, TaskTag: "robot",
	}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("got  %+v\nwant %+v", s, want)
	}
}

func TestFaults(t *testing.T) {
	model := func(properties ...string) string {
		return "* Models\n** m\n:PROPERTIES:\n" + strings.Join(properties, "\n") + "\n:END:\n"
	}
	setting := func(line string) string { return "* Settings\n:PROPERTIES:\n" + line + "\n:END:\n" }
	const base = ":BASE_URL: http://localhost/v1"
	for _, test := range []struct{ source, want string }{
		{model(base, ":MODLE: x"), `c.org:5:1: error: there is no setting MODLE here: did you mean MODEL?`},
		{model(base, ":URL: x"), `did you mean BASE_URL?`},
		{model(base, ":API_KEY: sk-verysecret"), `c.org:5:1: error: API_KEY: do not write a key into a file`},
		{model(base, ":API_KEY: sk:verysecret"), `do not write a key into a file`},
		{model(base, ":API_KEY: env:"), `do not write a key into a file`},
		{model(base, ":API_KEY: env:$HOME"), `the name of a variable, without $`},
		{model(":BASE_URL: http://u:verysecret@host/v1"), `an address must not contain a password`},
		{model(":BASE_URL: http://host/v1?key=verysecret"), `an address must not contain a password`},
		{model(":BASE_URL: localhost:11434"), `this is not an address`},
		{model(":BASE_URL: ftp://localhost"), `this is not an address`},
		{model(":BASE_URL:"), `this is not an address`},
		{model(":MODEL: x"), `c.org:2:1: error: the model "m" needs a property BASE_URL`},
		{model(base, base), `BASE_URL is set twice`},
		{model(base, ":TEMPERATURE: hot"), `"hot" is not a number from 0 to 2`},
		{model(base, ":TEMPERATURE: NaN"), `"NaN" is not a number from 0 to 2`},
		{model(base, ":MAX_TOKENS: 0"), `"0" is not a number from 1 up`},
		{model(base, ":GRAMMAR: yes"), `"yes" is not "grammar"`},
		{"* Models\n** builtin\n:PROPERTIES:\n" + base + "\n:END:\n", `is reserved`},
		{"* Models\n** \n:PROPERTIES:\n" + base + "\n:END:\n", `a model needs a name`},
		{model(base) + "** m\n:PROPERTIES:\n" + base + "\n:END:\n", `c.org:6:1: error: the model "m" is in line 2 already`},
		{"* Model\n", `did you mean "Models"?`},
		{"* setings\n", `did you mean "Settings"?`},
		{setting(":IDLE_TIMEOUT: soon"), `"soon" is not a time`},
		{setting(":IDLE_TIMEOUT: -3s"), `"-3s" is not a time`},
		{setting(":TURN_TIMEOUT: 0"), `is not a time`},
		{setting(":HISTORY_TURNS: many"), `is not a number from 1 up`},
		{setting(":LOG_LEVEL: loud"), `"loud" is not debug, info, warn or error`},
		{setting(":REACTIONS: many"), `"many" is not a number from 1 to 1000, or off`},
		{setting(":KEEP_REQUESTS: 0d"), `"0d" is not a number of days such as 30d, or off`},
		{setting(":KEEP_REQUESTS: long"), `"long" is not a time such as 30d or 12h, or off`},
		{setting(":TASK_TAG: two words"), `c.org:3:1: error: TASK_TAG: "two words" is no tag: letters, digits, _, @, # and % make one`},
		{setting(":TASK_TAG: a:b"), `"a:b" is no tag`},
		{setting(":TASK_TAG:"), `"" is no tag`},
		{setting(":LOGLEVEL: info"), `did you mean LOG_LEVEL?`},
		{setting(":LLM: gpt"), `c.org:3:1: error: there is no model "gpt": use builtin or none`},
	} {
		s := config.Parse("c.org", test.source)
		var lines []string
		for _, d := range s.Diagnostics {
			lines = append(lines, d.String())
		}
		all := strings.Join(lines, "\n")
		if !strings.Contains(all, test.want) {
			t.Errorf("%s\nsaid %q\nwant %q", test.source, all, test.want)
		}
		if strings.Contains(all, "verysecret") {
			t.Errorf("the secret stands in %q", all)
		}
	}
}

func TestStarterSetsNothing(t *testing.T) {
	s := config.Parse("config.org", starterText(t))
	if s.Off = nil; !reflect.DeepEqual(s, config.Settings{}) { // its examples are switched off
		t.Errorf("the starter sets %+v", s)
	}
}

// TestStarterExamplesWork checks that the commented examples of the starter are valid.
func TestStarterExamplesWork(t *testing.T) {
	source := strings.NewReplacer("** COMMENT o", "** o", "** COMMENT T", "** T", "** COMMENT V", "** V").Replace(starterText(t))
	head, drawer, found := strings.Cut(source, "** COMMENT An example")
	if !found {
		t.Fatal("the starter has no example of settings")
	}
	_, drawer, _ = strings.Cut(drawer, "\n")
	s := config.Parse("config.org", strings.Replace(head, "* Settings\n", "* Settings\n"+drawer, 1))
	if len(s.Diagnostics) > 0 || len(s.Models) != 2 || s.IdleTimeout != 2*time.Minute || s.HistoryTurns != 40 ||
		s.Models[1].Key.AuthSource != "api.openai.com" || s.Transcription == nil || s.Voice == nil || s.Voice.Voice != "alloy" {
		t.Errorf("%+v", s)
	}
}

func TestSpeech(t *testing.T) {
	const server = ":BASE_URL: http://localhost:8000/v1\n:API_KEY: env:SPEECH\n"
	heading := func(title, drawer string) string { return "** " + title + "\n:PROPERTIES:\n" + drawer + ":END:\n" }
	s := config.Parse("config.org", "* speech\n"+heading("transcription", server+":LANGUAGE: de\n:MODEL: whisper-1\n")+heading("Voice", server+":VOICE: alloy\n"))
	want := config.SpeechServer{BaseURL: "http://localhost:8000/v1", Model: "whisper-1", Key: config.KeySource{Env: "SPEECH"}, Language: "de"}
	if len(s.Diagnostics) > 0 || s.Transcription == nil || *s.Transcription != want || s.Voice == nil || s.Voice.Voice != "alloy" {
		t.Errorf("%+v %v", s.Transcription, s.Diagnostics)
	}
	if names := s.KeyVariables(); !slices.Contains(names, "SPEECH") {
		t.Errorf("the keys are in %v", names)
	}
	for text, says := range map[string]string{
		heading("Transcribe", server):                             "only Transcription and Voice are",
		heading("Transcription", ":MODEL: x\n"):                   "needs a property BASE_URL",
		heading("Transcription", server+":LANGUAGE: de, en\n"):    "written like en or de",
		heading("Transcription", ":BASE_URL: localhost\n"):        "not an address",
		heading("Transcription", server+":MODEL: x\n:MODEL: y\n"): "is set twice",
		heading("Voice", server):                                  "needs a property VOICE",
		heading("Voice", server+":COMMAND: say\n"):                "has a COMMAND and a BASE_URL",
		heading("Voice", ":COMMAND: say \"x\n"):                   "not closed",
	} {
		s := config.Parse("config.org", "* Speech\n"+text)
		if len(s.Diagnostics) != 1 || !strings.Contains(s.Diagnostics[0].String(), says) || s.Transcription != nil || s.Voice != nil {
			t.Errorf("%s: %v", text, s.Diagnostics)
		}
	}
	spoken := config.Parse("config.org", "* Speech\n"+heading("Voice", ":COMMAND: espeak-ng --stdout -v 'en gb' \"\"\n"))
	if len(spoken.Diagnostics) > 0 || spoken.Voice == nil || !slices.Equal(spoken.Voice.CommandLine(), []string{"espeak-ng", "--stdout", "-v", "en gb", ""}) {
		t.Errorf("%+v %v", spoken.Voice, spoken.Diagnostics)
	}
	twice := config.Parse("config.org", "* Speech\n"+heading("Transcription", server)+heading("Transcription", server))
	if len(twice.Diagnostics) != 1 || twice.Transcription == nil {
		t.Errorf("twice: %v", twice.Diagnostics)
	}
}

func TestLoad(t *testing.T) {
	paths := config.Paths{Config: filepath.Join(t.TempDir(), "config.org")}
	if s, err := config.Load(paths); err != nil || !reflect.DeepEqual(s, config.Settings{}) {
		t.Errorf("no file: %+v, %v", s, err)
	}
	must(t, os.WriteFile(paths.Config, []byte("* Settings\n:PROPERTIES:\n:LLM: none\n:END:\n"), 0o644))
	if s, err := config.Load(paths); err != nil || s.LLM != "none" {
		t.Errorf("%+v, %v", s, err)
	}
	must(t, os.Truncate(paths.Config, 4<<20+1))
	_, err := config.Load(paths)
	wantError(t, err, paths.Config, "more than")
	_, err = config.Load(config.Paths{Config: filepath.Join(paths.Config, "config.org")})
	wantError(t, err, "read the settings")
}

func FuzzParse(f *testing.F) {
	f.Add(starterText(f))
	f.Add("* Models\n** a\n:PROPERTIES:\n:BASE_URL: http://x/v1\n:API_KEY: env:K\n:END:\n")
	f.Add("* Settings\n:PROPERTIES:\n:LLM: a\n:LLM: b\n:IDLE_TIMEOUT: 9999999999999\n")
	f.Add("* Models\n** \n** builtin\n** COMMENT\n")
	f.Fuzz(func(t *testing.T, source string) {
		s := config.Parse("config.org", source)
		for _, m := range s.Models {
			if m.Name == "" || !usable(m.BaseURL) {
				t.Errorf("an unusable model: %+v", m)
			}
		}
		for _, d := range s.Diagnostics {
			if d.Line < 1 || d.Message == "" {
				t.Errorf("a fault without a place: %v", d)
			}
		}
	})
}

// TestNotesSet checks that NOTES can say that there are none, which differs from not being set.
func TestNotesSet(t *testing.T) {
	for value, want := range map[string]config.Settings{
		"none":           {NotesSet: true},
		`~/org "/a b/c"`: {NotesSet: true, Notes: []string{"~/org", "/a b/c"}},
	} {
		got := config.Parse("config.org", "* Settings\n:PROPERTIES:\n:NOTES: "+value+"\n:END:\n")
		if got.NotesSet != want.NotesSet || !slices.Equal(got.Notes, want.Notes) || len(got.Diagnostics) > 0 {
			t.Errorf("%s is %+v", value, got)
		}
	}
	if config.Parse("config.org", "* Settings\n").NotesSet {
		t.Error("nothing is said, and it counts as said")
	}
}

// TestMCPServers checks that an MCP server is a program or a web server, and that faults are
// reported with their line and without a key.
func TestMCPServers(t *testing.T) {
	server := func(rows string) config.Settings {
		return config.Parse("config.org", "* MCP\n** My Files!\n:PROPERTIES:\n"+rows+":END:\n")
	}
	s := server(":COMMAND: npx -y \"a b\" 'c\"d' ~/notes\n:ENVIRONMENT: A=1\n:ENVIRONMENT+: B=x y\n:SECRET: TOKEN env:MY_TOKEN\n:SECRET+: OTHER command: pass show x\n:TIMEOUT: 5s\n")
	want := config.MCPServer{Name: "my_files", Command: []string{"npx", "-y", "a b", `c"d`, "~/notes"}, Variables: []string{"A=1", "B=x y"},
		Secrets: []config.NamedKey{{Name: "TOKEN", Key: config.KeySource{Env: "MY_TOKEN"}}, {Name: "OTHER", Key: config.KeySource{Command: "pass show x"}}}, Timeout: 5 * time.Second, Line: 2}
	if len(s.MCP) != 1 || !reflect.DeepEqual(s.MCP[0], want) || len(s.Diagnostics) > 0 || !slices.Contains(s.KeyVariables(), "MY_TOKEN") {
		t.Errorf("%+v, %v", s.MCP, s.Diagnostics)
	}
	if s = server(":URL: https://example.org/mcp\n:API_KEY: env:K\n:HEADER: X-Key env:H\n:TRANSPORT: sse\n"); len(s.MCP) != 1 || !s.MCP[0].Old || len(s.MCP[0].Headers) != 1 || len(s.Diagnostics) > 0 {
		t.Errorf("%+v, %v", s.MCP, s.Diagnostics)
	}
	for rows, want := range map[string]string{
		"":                                       `config.org:2:1: error: the MCP server "My Files!" needs a property COMMAND`,
		":COMMAND: a\n:URL: http://localhost/\n": "has both a COMMAND and a URL",
		":COMMAND: a \"b\n":                      "config.org:4:1: error: COMMAND: the quote \" is not closed",
		":COMMAND: a\n:API_KEY: env:K\n":         "put a key into SECRET",
		":URL: http://localhost/\n:SECRET: A env:B\n": "put a key into API_KEY or HEADER",
		":COMMAND: a\n:SECRET: TOKEN sk-canary\n":     "config.org:5:1: error: SECRET: this is not a name and the source of its key",
		":COMMAND: a\n:SECRET: sk-canary\n":           "do not write a key into a file",
		":COMMAND: a\n:ENVIRONMENT: sk-canary\n":      "this is not NAME=VALUE",
		":COMAND: a\n":                                "did you mean COMMAND?",
		":COMMAND: a\n:DIRECTORY: notes\n":            `"notes" is not a directory such as`,
		":URL: http://u:p@localhost/\n":               "an address must not contain a password",
	} {
		s := server(rows)
		if len(s.MCP) > 0 || len(s.Diagnostics) == 0 || !strings.Contains(s.Diagnostics[0].String(), want) || strings.Contains(s.Diagnostics[0].String(), "canary") {
			t.Errorf("%s: %v, %v", rows, s.MCP, s.Diagnostics)
		}
	}
	if s := config.Parse("config.org", "* MCP\n** a b\n:PROPERTIES:\n:COMMAND: x\n:END:\n** A-B\n:PROPERTIES:\n:COMMAND: y\n:END:\n** COMMENT off\n:PROPERTIES:\n:COMMAND: z\n:END:\n"); len(s.MCP) != 1 || len(s.Diagnostics) != 1 ||
		!strings.Contains(s.Diagnostics[0].String(), "config.org:6:1: error: the MCP server \"A-B\" has the same name as the one in line 2") {
		t.Errorf("two of one name: %v, %v", s.MCP, s.Diagnostics)
	}
}

// exported returns the settings without what only the package reads.
func exported(s config.Settings) config.Settings {
	var shown config.Settings
	for field := range reflect.TypeFor[config.Settings]().Fields() {
		if field.IsExported() {
			reflect.ValueOf(&shown).Elem().FieldByIndex(field.Index).Set(reflect.ValueOf(s).FieldByIndex(field.Index))
		}
	}
	return shown
}

// usable reports whether the address of a server can be called, and holds nothing that belongs
// into a key.
func usable(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == ""
}

// TestKeepRequests: what models were sent stays for 30 days, as long as the file says, or for ever.
func TestKeepRequests(t *testing.T) {
	for value, want := range map[string]time.Duration{"": 720 * time.Hour, ":KEEP_REQUESTS: 90d\n": 2160 * time.Hour, ":KEEP_REQUESTS: 12h\n": 12 * time.Hour, ":KEEP_REQUESTS: off\n": 0} {
		s := config.Parse("c.org", "* Settings\n:PROPERTIES:\n"+value+":END:\n")
		if got := s.RequestAge(); got != want || len(s.Diagnostics) > 0 {
			t.Errorf("%s is %v, %v", value, got, s.Diagnostics)
		}
	}
}

// A table of models is the person's own; a row with a fault is told by its line in the file.
func TestKnownModels(t *testing.T) {
	s := config.Parse("config.org", "* Settings\n* Known models\n:PROPERTIES:\n:ID: x\n:END:\nMine:\n| model | window | in | out |\n|-\n| a | 1k | 1 | 2 |\n| b | much | 1 | 2 |\n| c | 3 |\n* COMMENT Known models\n| x |\n")
	if len(s.Known) != 2 || s.Known[0].Name != "a" || s.Known[0].Line != 9 || s.Known[1].Window != 3 {
		t.Errorf("known is %+v", s.Known)
	}
	if len(s.Diagnostics) != 1 || !strings.HasPrefix(s.Diagnostics[0].String(), `config.org:10:1: error: window: "much"`) {
		t.Errorf("the faults are %v", s.Diagnostics)
	}
	if s.SameModels(config.Parse("config.org", "* Settings\n")) {
		t.Error("another table does not count until the kernel starts again")
	}
}

// A price has two to four numbers.
func TestPrice(t *testing.T) {
	for value, want := range map[string][]float64{"1 2": {1, 2}, "$1, $2": {1, 2}, "1 2 0.1": {1, 2, 0.1}, "1 2 0.1 1.25": {1, 2, 0.1, 1.25}, "1": nil, "1 2 3 4 5": nil, "1 x": nil, "1 -2": nil} {
		s := config.Parse("config.org", "* Models\n** m\n:PROPERTIES:\n:BASE_URL: http://localhost/v1\n:PRICE: "+value+"\n:END:\n")
		var got []float64
		if len(s.Models) == 1 && s.Models[0].Price != nil {
			p := s.Models[0].Price
			got = append(got, p.Input, p.Output)
			for _, more := range []*float64{p.Cached, p.Written} {
				if more != nil {
					got = append(got, *more)
				}
			}
		}
		if !slices.Equal(got, want) || (want == nil) != (len(s.Diagnostics) > 0) {
			t.Errorf("%q is %v, %v", value, got, s.Diagnostics)
		}
	}
}

// TestReactions checks how often an hour a skill may react.
func TestReactions(t *testing.T) {
	for value, want := range map[string]int{"": 12, ":REACTIONS: 100\n": 100, ":REACTIONS: off\n": 0} {
		s := config.Parse("config.org", "* Settings\n:PROPERTIES:\n"+value+":LOG_LEVEL: info\n:END:\n")
		if got := s.ReactionsPerHour(); got != want || len(s.Diagnostics) > 0 {
			t.Errorf("%q: %d, %v", value, got, s.Diagnostics)
		}
	}
}
