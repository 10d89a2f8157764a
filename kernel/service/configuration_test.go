package service_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/config"
	"org-agent/kernel/protocol"
	"org-agent/kernel/service"
	"org-agent/kernel/settings"
)

// reloaded are models that take any settings but those that fail.
type reloaded struct {
	model   string
	notice  string
	reloads int
	fail    error
}

func (r *reloaded) Model() string         { return r.model }
func (r *reloaded) Notice() string        { return r.notice }
func (r *reloaded) ConsentNeeded() string { return "" }
func (r *reloaded) Reload(_ context.Context, s config.Settings) error {
	r.reloads++
	if r.fail == nil {
		r.model = s.Models[0].Name
	}
	return r.fail
}

func none(string) string { return "" }

// noSpeech is the service without servers.
func noSpeech() service.Speech {
	no := func() *config.SpeechServer { return nil }
	return service.Speech{Transcription: service.NewSpeechServer("Transcription", no, nil), Voice: service.NewSpeechServer("Voice", no, nil), Logger: discardLogger}
}

func TestGreeting(t *testing.T) {
	models := &reloaded{model: "m1"}
	greeting := service.Greeting{
		Home: "/home", Models: models, Settings: func() config.Settings { return config.Settings{} }, Speech: noSpeech(), Token: "token", Unread: func() int { return 3 },
		Env: func(name string) string { return map[string]string{"ORG_AGENT_LLM": "mine"}[name] },
	}
	const rules = "that you always allowed are asked about again"
	for _, test := range []struct {
		found  string
		former int
		newer  bool
		want   string
	}{
		{"", 0, false, ""}, {"found m1", 0, false, "found m1"}, {"", 1, false, "1 action " + rules}, {"found m1", 2, false, "found m1; 2 actions " + rules},
		{"", 0, true, "the kernel's program was replaced"}, {"found m1", 0, true, "found m1; the kernel's program was replaced"},
	} {
		models.notice, greeting.Former, greeting.Replaced = test.found, test.former, func() bool { return test.newer }
		if got := greeting.Info().Notice; !strings.HasPrefix(got, test.want) || test.want == "" && got != "" {
			t.Errorf("the notice of %+v is %q", test, got)
		}
	}
	info := greeting.Info()
	if info.Home != "/home" || info.Model != "m1" || info.Unread != 3 {
		t.Errorf("a client is told %+v", info)
	}
	digests := map[string]string{}
	for _, v := range info.Variables {
		digests[v.Name] = v.Digest
	}
	if want := protocol.VariableDigest("token", "ORG_AGENT_LLM", "mine"); digests["ORG_AGENT_LLM"] != want {
		t.Errorf("of the variables a client is told %+v", info.Variables)
	}
}

// TestConfigurationReloads: each part gets each reading, also after one that fails, which is a fault; a
// part of a value is told only of changes of that, and clients only of what is new to them.
func TestConfigurationReloads(t *testing.T) {
	paths := config.Paths{Config: filepath.Join(t.TempDir(), "config.org")}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(paths.Config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	model := func(name string) string {
		return "* Models\n** " + name + "\n:PROPERTIES:\n:BASE_URL: http://localhost:1/v1\n:MODEL: m\n:END:\n"
	}
	write(model("first"))
	started, err := config.Load(paths)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	notify := func(method string, _ any) { told = append(told, method) }
	faults := &service.Faults{Logger: discardLogger, Notify: notify, Clients: func() int { return 1 }}
	models, live := &reloaded{model: "first"}, settings.NewLive(paths, started)
	greeting := service.Greeting{Home: "/home", Models: models, Settings: live.Last, Env: none, Speech: noSpeech(), Unread: func() int { return 0 }}
	var level slog.LevelVar
	var notes []string // that another part was set to
	configuration := service.NewConfiguration(service.ConfigurationConfig{
		Settings: live, Level: &level, Info: greeting.Info, Notify: notify, Faults: faults,
		Parts: []service.Part{service.ModelsPart(models), service.PartOf(started, func(s config.Settings) []string { return s.Notes }, func(now []string) { notes = append(notes, strings.Join(now, "+")) })},
	})

	for _, step := range []struct {
		name, text string
		fail       error
		reloads    int
		model      string
		told       string
		faults     string
	}{
		{"only the log", model("first") + "* Settings\n:PROPERTIES:\n:LOG_LEVEL: debug\n:END:\n", nil, 1, "first", "", ""},
		{"another model", model("second"), nil, 2, "second", protocol.MethodServerChanged, ""},
		{"one that fails", model("third") + "* Settings\n:PROPERTIES:\n:NOTES: a b\n:END:\n", errors.New("no such driver"), 3, "second", protocol.MethodNotice, "the models stay as they were: no such driver"},
		{"mended", model("third") + "* Settings\n:PROPERTIES:\n:NOTES: a b\n:END:\n", nil, 4, "third", protocol.MethodServerChanged, ""},
	} {
		told, models.fail = nil, step.fail
		level.Set(slog.LevelError)
		write(step.text)
		configuration.Reload(within(t))
		if models.reloads != step.reloads || models.model != step.model {
			t.Errorf("%s: made %d times, %s answers", step.name, models.reloads, models.model)
		}
		if want := map[bool]slog.Level{true: slog.LevelDebug}[strings.Contains(step.text, "debug")]; level.Level() != want {
			t.Errorf("%s: the level of the log is %v, want %v", step.name, level.Level(), want)
		}
		if got := strings.Join(told, " "); got != step.told {
			t.Errorf("%s: clients are told %q, want %q", step.name, got, step.told)
		}
		if got := strings.Join(faults.Current(), " "); got != step.faults {
			t.Errorf("%s: the faults are %q", step.name, got)
		}
		want := ""
		if strings.Contains(step.text, "NOTES") {
			want = "a+b"
		}
		if got := strings.Join(notes, " "); got != want {
			t.Errorf("%s: the part after the models was set to %q, want %q", step.name, got, want)
		}
	}
}

func TestWarning(t *testing.T) {
	clients := 0
	var told []string
	faults := &service.Faults{
		Logger: discardLogger, Clients: func() int { return clients },
		Notify: func(_ string, params any) { told = append(told, params.(protocol.Notice).Text) },
	}
	faults.Warn("a directory", "nobody is there")
	if got := faults.Current(); len(got) != 1 || got[0] != "nobody is there" {
		t.Errorf("the next client is told %q", got)
	}
	clients = 1
	faults.Warn("another", "one is there")
	if got := faults.Current(); len(got) != 1 || len(told) == 0 || told[len(told)-1] != "one is there" {
		t.Errorf("with a client it is told %q and the next %q", told, got)
	}
}
