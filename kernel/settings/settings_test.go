package settings_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"org-agent/kernel/config"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/settings"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// known provides the names that can be chosen: the models first and cheap, the skill chat and the
// profile poet. Its fields are a person's choices for the conversation.
type known struct{ model, preset string }

func (k *known) CurrentName(_ context.Context, session string) (string, error) {
	return strings.ReplaceAll(session, "once", "now"), nil
}

func (k *known) SessionModel(context.Context, string) (string, error)  { return k.model, nil }
func (k *known) SessionPreset(context.Context, string) (string, error) { return k.preset, nil }

func (k *known) Find(name string) error {
	if slices.Contains([]string{"first", "cheap"}, name) || strings.HasPrefix(name, "first:") {
		return nil
	}
	return protocol.Errorf(protocol.CodeNotFound, "there is no model %q", name)
}

func (k *known) Check(_ context.Context, name string) error {
	if name == "first:unlisted" {
		return protocol.Errorf(protocol.CodeNotFound, "its server has no %q", name)
	}
	return k.Find(name)
}

func (k *known) Has(name string) bool { return name == "chat" }
func (k *known) Names() []string      { return []string{"chat"} }

func (k *known) CheckProfile(name string) error {
	if name == "poet" {
		return nil
	}
	return protocol.Errorf(protocol.CodeNotFound, "there is no profile %q", name)
}

const presets = "* Presets\n** concise\n:PROPERTIES:\n:MODEL: cheap\n:TEMPERATURE: 0\n:END:\nAnswer in a line.\n" +
	"** long\n:PROPERTIES:\n:HISTORY: none\n:MAX_TOKENS: 99\n:END:\n** broken\n:PROPERTIES:\n:TEMPERATURE: hot\n:END:\n"

// home returns a resolver for a home with that config.org.
func home(t *testing.T, text string) (*settings.Resolver, *known, config.Paths) {
	t.Helper()
	directory := t.TempDir()
	paths := config.Paths{Home: directory, Config: filepath.Join(directory, "config.org"), Sessions: filepath.Join(directory, "sessions")}
	write(t, paths.Config, text)
	started, err := config.Load(paths)
	if err != nil {
		t.Fatal(err)
	}
	k := &known{}
	return &settings.Resolver{
		Live: settings.NewLive(paths, started), Directory: paths.Sessions, Names: k, Chosen: k, Models: k, Skills: k, Profiles: k,
	}, k, paths
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// message returns a chat message with the text above it.
func message(text, above string) protocol.Event {
	return protocol.Event{Session: "main", Sensor: protocol.SensorChatMessage, Text: text, Above: above}
}

// values returns the settings as NAME=VALUE, in one line.
func values(all protocol.TurnSettings) string {
	var list []string
	for _, s := range all {
		list = append(list, s.Name+"="+s.Value)
	}
	return strings.Join(list, " ")
}

func TestNearestPlaceCounts(t *testing.T) {
	const topic = "* Topic\n:PROPERTIES:\n:MODEL: cheap\n:SYSTEM: Speak of gardens.\n:END:\n"
	for _, c := range []struct {
		name, text, above string
		model, preset     string // a person's choices for the conversation
		want, from        string // from is the place of the first setting
	}{
		{"nothing", "a", "* a\n", "", "", "", ""},
		{"the file", "a", "#+PROPERTY: MODEL cheap\n* a\n", "", "", "MODEL=cheap", "the file"},
		{"a heading", "a", topic + "** a\n", "", "", "MODEL=cheap SYSTEM=Speak of gardens.", `the heading "Topic"`},
		{"what adds", "a", topic + "** Sub\n:PROPERTIES:\n:MODEL: first\n:SYSTEM+: And of roses.\n:END:\n*** a\n", "", "", "MODEL=first SYSTEM=Speak of gardens. And of roses.", `the heading "Sub"`},
		{"its own", "a", topic + "** a\n:PROPERTIES:\n:MODEL: first\n:SYSTEM: nil\n:END:\n", "", "", "MODEL=first", "the question's heading"},
		{"another heading's", "a", topic + "* a\n", "", "", "", ""},
		{"the conversation's", "a", "* a\n", "cheap", "", "MODEL=cheap", "the conversation"},
		{"a heading before it", "a", topic + "** a\n", "first", "", "MODEL=cheap SYSTEM=Speak of gardens.", `the heading "Topic"`},
		{"its preset", "a", "* a\n", "", "long", "HISTORY=none MAX_TOKENS=99", "the preset long, by the conversation"},
		{"the words'", "@concise a", "* @concise a\n", "first", "long", "MODEL=cheap HISTORY=none TEMPERATURE=0 MAX_TOKENS=99 SYSTEM=Answer in a line.", "the preset concise, by the question's heading"},
		{"its own before the words'", "b @concise", "* b @concise\n:PROPERTIES:\n:MODEL: first\n:END:\n", "", "", "MODEL=first TEMPERATURE=0 SYSTEM=Answer in a line.", "the question's heading"},
		{"presets of a heading", "a", "* T\n:PROPERTIES:\n:PRESET: CONCISE long\n:TEMPERATURE: 1.5\n:END:\n** a\n", "", "", "MODEL=cheap HISTORY=none TEMPERATURE=1.5 MAX_TOKENS=99 SYSTEM=Answer in a line.", `the preset CONCISE, by the heading "T"`},
		{"no preset any more", "a", "* T\n:PROPERTIES:\n:PRESET: long\n:END:\n** a\n:PROPERTIES:\n:PRESET: nil\n:END:\n", "", "concise", "", ""},
		{"an answer's skill", "a", "* a\n:PROPERTIES:\n:SKILL: chat@3f9c1234\n:PROFILE: poet\n:END:\n", "", "", "SKILL=chat PROFILE=poet", "the question's heading"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, k, _ := home(t, presets)
			k.model, k.preset = c.model, c.preset
			event := message(c.text, c.above)
			if err := r.Resolve(t.Context(), &event); err != nil || values(event.Settings) != c.want {
				t.Fatalf("what holds is %q, %v; want %q", values(event.Settings), err, c.want)
			}
			if len(event.Settings) > 0 && event.Settings[0].From != c.from {
				t.Errorf("it is set by %q, want %q", event.Settings[0].From, c.from)
			}
			// The turn is answered again with the same text above it and has the same settings.
			again, err := r.ResolveAgain(t.Context(), journal.Turn{Session: "main", Question: event}, c.above)
			if err != nil || values(again) != c.want {
				t.Errorf("again there holds %q, %v; want %q", values(again), err, c.want)
			}
		})
	}
}

func TestUnusableValues(t *testing.T) {
	r, _, _ := home(t, presets)
	drawer := func(row string) string { return "* Topic\n:PROPERTIES:\n" + row + "\n:END:\n** a\n" }
	for _, c := range []struct {
		text, above string
		code        protocol.Code
		want        string
	}{
		{"a", drawer(":MODEL: cheep"), protocol.CodeNotFound, `the heading "Topic" sets MODEL: there is no model "cheep"`},
		{"a", drawer(":MODEL: first:unlisted"), protocol.CodeNotFound, "its server has no"},
		{"a", drawer(":SKILL: chatt"), protocol.CodeNotFound, `no live skill is named "chatt": did you mean "chat"?`},
		{"a", drawer(":PROFILE: cook"), protocol.CodeNotFound, `there is no profile "cook"`},
		{"a", drawer(":PRESET: consise"), protocol.CodeNotFound, `names the preset "consise", and there is none: did you mean "concise"?`},
		{"@broken a", "* a\n", protocol.CodeNotFound, "config.org:"},
		{"a", drawer(":TEMPERATURE: 3"), protocol.CodeInvalidParams, `"3" is not a number from 0 to 2`},
		{"a", drawer(":HISTORY: brunch"), protocol.CodeInvalidParams, `did you mean "branch"?`},
		{"@concise", "* @concise\n", protocol.CodeInvalidParams, "nothing to send"},
		{"a", drawer(":SYSTEM: " + strings.Repeat("x", 200_000)), protocol.CodeTooLarge, "more than the"},
		{"a", "* a\n:PROPERTIES:\n" + many(70) + ":END:\n", protocol.CodeTooLarge, "more than the 64"},
	} {
		event := message(c.text, c.above)
		err := r.Resolve(t.Context(), &event)
		if protocol.ErrorCode(err) != c.code || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q below %.60q: %v", c.text, c.above, err)
		}
	}
	// A person chose this model by its name, so the list of its server is not consulted.
	r, k, _ := home(t, "")
	k.model = "first:unlisted"
	event := message("a", "* a\n")
	if err := r.Resolve(t.Context(), &event); err != nil {
		t.Error(err)
	}
}

// many returns n rows of a drawer.
func many(n int) string {
	var rows strings.Builder
	for i := range n {
		rows.WriteString(":N" + strings.Repeat("x", i+1) + ": 1\n")
	}
	return rows.String()
}

// TestFileOfTheConversation checks that the conversation's file is read, under its current name, if
// the client sends no text above the question.
func TestFileOfTheConversation(t *testing.T) {
	r, _, paths := home(t, presets)
	write(t, filepath.Join(paths.Sessions, "now.org"),
		"#+PROPERTY: SYSTEM Speak of bees.\n* q1\n:PROPERTIES:\n:ID: q1\n:MODEL: cheap\n:END:\n** Answer\n")
	event := message("a", "")
	event.Session = "once"
	if err := r.Resolve(t.Context(), &event); err != nil || event.Session != "now" || values(event.Settings) != "SYSTEM=Speak of bees." {
		t.Errorf("in %q there holds %q, %v", event.Session, values(event.Settings), err)
	}
	below := message("a", "")
	below.Session, below.Parent, below.Level = "now", "q1", 2
	below.Properties = []protocol.Property{{Name: "TEMPERATURE", Value: "0"}}
	if err := r.Resolve(t.Context(), &below); err != nil || values(below.Settings) != "MODEL=cheap TEMPERATURE=0 SYSTEM=Speak of bees." {
		t.Errorf("below q1 there holds %q, %v", values(below.Settings), err)
	}
	record := journal.Turn{Session: "now", Event: "q1", Question: message("a", "")}
	if again, err := r.ResolveAgain(t.Context(), record, ""); err != nil || values(again) != "MODEL=cheap SYSTEM=Speak of bees." {
		t.Errorf("again there holds %q, %v", values(again), err)
	}
}

// TestDraftIsResolvedOnce checks that a sent message has the settings of its draft, and that
// another message is resolved anew.
func TestDraftIsResolvedOnce(t *testing.T) {
	r, k, _ := home(t, presets)
	draft := message("@long a", "* @long a\n:PROPERTIES:\n:NOTE: mine\n:END:\n")
	draft.ID = "q1"
	if err := r.ResolveDraft(t.Context(), &draft); err != nil {
		t.Fatal(err)
	}
	k.model = "cheap" // chosen after the draft
	sent := message("@long a", "")
	sent.ID = "q1"
	if err := r.ResolveSent(t.Context(), &sent); err != nil || values(sent.Settings) != "HISTORY=none MAX_TOKENS=99" || len(sent.Properties) != 1 || len(sent.Presets) != 1 {
		t.Errorf("sent is %+v, %v", sent, err)
	}
	again := message("a", "* a\n")
	again.ID = "q1"
	if err := r.ResolveSent(t.Context(), &again); err != nil || values(again.Settings) != "MODEL=cheap" {
		t.Errorf("another holds %q, %v", values(again.Settings), err)
	}
	// A draft that was refused is refused when it is sent, too.
	bad := message("@broken a", "* @broken a\n")
	bad.ID = "q2"
	if r.ResolveDraft(t.Context(), &bad) == nil || r.ResolveSent(t.Context(), &bad) == nil {
		t.Error("an unusable setting was accepted")
	}
	for i := range 40 { // drafts that are never sent are dropped
		other := message("a", "* a\n")
		other.ID = strings.Repeat("x", i+1)
		if err := r.ResolveDraft(t.Context(), &other); err != nil {
			t.Fatal(err)
		}
	}
	k.model = ""
	first := message("a", "* a\n")
	first.ID = "x"
	if err := r.ResolveSent(t.Context(), &first); err != nil || len(first.Settings) > 0 {
		t.Errorf("an old draft was used: %+v, %v", first.Settings, err)
	}
}

func TestPreset(t *testing.T) {
	r, _, paths := home(t, presets)
	if preset, err := r.Preset(t.Context(), "Concise", "the command"); err != nil || preset.Name != "concise" || values(settings.PresetSettings(preset)) != "MODEL=cheap TEMPERATURE=0 SYSTEM=Answer in a line." {
		t.Errorf("%+v, %v", preset, err)
	}
	if _, err := r.Preset(t.Context(), "shrot", "the command"); protocol.ErrorCode(err) != protocol.CodeNotFound || !strings.HasPrefix(err.Error(), "the command names") {
		t.Error(err)
	}
	write(t, paths.Config, strings.Replace(presets, "MODEL: cheap", "MODEL: gone", 1))
	if _, err := r.Preset(t.Context(), "concise", "the command"); err == nil || !strings.Contains(err.Error(), "the preset concise, by the command sets MODEL") {
		t.Error(err)
	}
}

// TestLive checks that the last settings that could be read stay in force while config.org cannot
// be read, or is gone for a moment.
func TestLive(t *testing.T) {
	r, _, paths := home(t, presets)
	if faults := r.Live.Faults(); len(faults) != 1 || !strings.Contains(faults[0], "hot") {
		t.Errorf("the faults are %q", faults)
	}
	write(t, paths.Config, strings.Replace(presets, "hot", "1", 1)+"* Settings\n:PROPERTIES:\n:LOG_LEVEL: debug\n:SUBAGENTS: 2\n:END:\n")
	if faults := r.Live.Faults(); len(faults) > 0 {
		t.Errorf("the faults are %q", faults)
	}
	if r.Live.Last().Preset("broken") != nil || r.Live.Now().Preset("broken") == nil || r.Live.Last().Preset("broken") == nil {
		t.Error("the current config.org is not read")
	}
	if err := os.Remove(paths.Config); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(paths.Config, 0o700); err != nil {
		t.Fatal(err)
	}
	if r.Live.Now().Preset("broken") == nil || len(r.Live.Faults()) != 1 {
		t.Error("the last settings that could be read are not in force")
	}
	if err := os.Remove(paths.Config); err != nil {
		t.Fatal(err)
	}
	if r.Live.Now().Preset("broken") == nil {
		t.Error("a file that is gone for a moment counts")
	}
	write(t, paths.Config, "")
	if r.Live.Now().Preset("broken") == nil {
		t.Error("a file that is empty for a moment counts")
	}
	for end := time.Now().Add(10 * time.Second); r.Live.Now().Preset("broken") != nil; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("an empty file never counts")
		}
	}
	write(t, paths.Config, presets)
	if r.Live.Now().Preset("concise") == nil {
		t.Error("the file that is there again does not count at once")
	}
}
