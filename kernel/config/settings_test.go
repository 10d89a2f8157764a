package config

import (
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestSettings(t *testing.T) {
	s := Parse("config.org", `#+TITLE: mine
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
	s.values = nil
	zero := 0.0
	want := Settings{
		LLM: "far away",
		Models: []Model{
			{Name: "local", BaseURL: "http://localhost:11434/v1", Model: "qwen3:8b", Temperature: &zero, MaxTokens: 4000, Grammar: "grammar", Line: 6},
			{Name: "far away", BaseURL: "https://api.example.org/v1", Key: KeySource{Command: `pass show "x: y"`}, Line: 20},
		},
		IdleTimeout: 90 * time.Second, TurnTimeout: 90 * time.Minute, HistoryTurns: 12, LogLevel: slog.LevelWarn,
		SkillsDisabled: []string{"weather", "pdf-forms", "old"}, SkillsAllowed: []string{"notes"},
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
		{model(base, ":API_KEY: sk-verysecret"), `c.org:5:1: error: API_KEY: a key does not belong into a file`},
		{model(base, ":API_KEY: sk:verysecret"), `a key does not belong into a file`},
		{model(base, ":API_KEY: env:"), `a key does not belong into a file`},
		{model(base, ":API_KEY: env:$HOME"), `the name of a variable, without $`},
		{model(":BASE_URL: http://u:verysecret@host/v1"), `an address has no password`},
		{model(":BASE_URL: http://host/v1?key=verysecret"), `an address has no password`},
		{model(":BASE_URL: localhost:11434"), `this is not an address`},
		{model(":BASE_URL: ftp://localhost"), `this is not an address`},
		{model(":BASE_URL:"), `this is not an address`},
		{model(":MODEL: x"), `c.org:2:1: error: the model "m" needs a property BASE_URL`},
		{model(base, base), `BASE_URL stands twice`},
		{model(base, ":TEMPERATURE: hot"), `"hot" is not a number from 0 to 2`},
		{model(base, ":TEMPERATURE: NaN"), `"NaN" is not a number from 0 to 2`},
		{model(base, ":MAX_TOKENS: 0"), `"0" is not a number from 1 up`},
		{model(base, ":GRAMMAR: yes"), `"yes" is not "grammar"`},
		{"* Models\n** builtin\n:PROPERTIES:\n" + base + "\n:END:\n", `stands for itself`},
		{"* Models\n** \n:PROPERTIES:\n" + base + "\n:END:\n", `a model needs a name`},
		{model(base) + "** m\n:PROPERTIES:\n" + base + "\n:END:\n", `c.org:6:1: error: the model "m" is in line 2 already`},
		{"* Model\n", `did you mean "Models"?`},
		{"* setings\n", `did you mean "Settings"?`},
		{setting(":IDLE_TIMEOUT: soon"), `"soon" is not a time`},
		{setting(":IDLE_TIMEOUT: -3s"), `"-3s" is not a time`},
		{setting(":TURN_TIMEOUT: 0"), `is not a time`},
		{setting(":HISTORY_TURNS: many"), `is not a number from 1 up`},
		{setting(":LOG_LEVEL: loud"), `"loud" is not debug, info, warn or error`},
		{setting(":LOGLEVEL: info"), `did you mean LOG_LEVEL?`},
		{setting(":LLM: gpt"), `c.org:3:1: error: there is no model "gpt": use builtin or none`},
	} {
		s := Parse("c.org", test.source)
		var said []string
		for _, d := range s.Diagnostics {
			said = append(said, d.String())
		}
		all := strings.Join(said, "\n")
		if !strings.Contains(all, test.want) {
			t.Errorf("%s\nsaid %q\nwant %q", test.source, all, test.want)
		}
		if strings.Contains(all, "verysecret") {
			t.Errorf("the secret stands in %q", all)
		}
	}
}

func TestStarterSetsNothing(t *testing.T) {
	if s := Parse("config.org", Starter()); !reflect.DeepEqual(s, Settings{}) {
		t.Errorf("the starter sets %+v", s)
	}
}

// TestStarterExamplesWork: what the starter comments out is right as it stands.
func TestStarterExamplesWork(t *testing.T) {
	source := strings.ReplaceAll(Starter(), "** COMMENT o", "** o")
	head, drawer, found := strings.Cut(source, "** COMMENT An example")
	if !found {
		t.Fatal("the starter has no example of settings")
	}
	_, drawer, _ = strings.Cut(drawer, "\n")
	s := Parse("config.org", strings.Replace(head, "* Settings\n", "* Settings\n"+drawer, 1))
	if len(s.Diagnostics) > 0 || len(s.Models) != 2 || s.IdleTimeout != 2*time.Minute || s.HistoryTurns != 40 ||
		s.Models[1].Key.AuthSource != "api.openai.com" {
		t.Errorf("%+v", s)
	}
}

func TestLoad(t *testing.T) {
	paths := Paths{Config: filepath.Join(t.TempDir(), "config.org")}
	if s, err := Load(paths); err != nil || !reflect.DeepEqual(s, Settings{}) {
		t.Errorf("no file: %+v, %v", s, err)
	}
	must(t, os.WriteFile(paths.Config, []byte("* Settings\n:PROPERTIES:\n:LLM: none\n:END:\n"), 0o644))
	if s, err := Load(paths); err != nil || s.LLM != "none" {
		t.Errorf("%+v, %v", s, err)
	}
	must(t, os.Truncate(paths.Config, configLimit+1))
	_, err := Load(paths)
	wantError(t, err, paths.Config, "more than")
	_, err = Load(Paths{Config: filepath.Join(paths.Config, "config.org")})
	wantError(t, err, "read the settings")
}

func FuzzParse(f *testing.F) {
	f.Add(Starter())
	f.Add("* Models\n** a\n:PROPERTIES:\n:BASE_URL: http://x/v1\n:API_KEY: env:K\n:END:\n")
	f.Add("* Settings\n:PROPERTIES:\n:LLM: a\n:LLM: b\n:IDLE_TIMEOUT: 9999999999999\n")
	f.Add("* Models\n** \n** builtin\n** COMMENT\n")
	f.Fuzz(func(t *testing.T, source string) {
		s := Parse("config.org", source)
		for _, m := range s.Models {
			if m.Name == "" || checkBaseURL(m.BaseURL) != nil {
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
