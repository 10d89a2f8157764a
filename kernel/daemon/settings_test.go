package daemon_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// twoModels is a home with two servers and some presets.
func twoModels(t *testing.T) (*instance, *llmtest.Server, *llmtest.Server) {
	t.Helper()
	in, first := newInstanceAndModel(t, llmtest.Exchange{Reply: insertion("* First"), Times: -1})
	other := llmtest.Start(t, llmtest.Exchange{Reply: insertion("* Other"), Times: -1})
	in.write(t, "config.org", "* Models\n** first\n:PROPERTIES:\n:BASE_URL: "+in.variables["ORG_AGENT_LLM_BASE_URL"]+"\n:MODEL: m1\n:END:\n"+
		"** cheap\n:PROPERTIES:\n:BASE_URL: "+other.URL()+"\n:MODEL: m2\n:END:\n"+
		"* Presets\n** concise\n:PROPERTIES:\n:MODEL: cheap\n:TEMPERATURE: 0\n:END:\nAnswer in a line.\n*** Never\nRamble.\n"+
		"** long\n:PROPERTIES:\n:HISTORY: none\n:MAX_TOKENS: 99\n:END:\n** odd one\n** broken\n:PROPERTIES:\n:TEMPERATURE: hot\n:END:\n"+
		"* Settings\n:PROPERTIES:\n:LLM: first\n:END:\n")
	return in, first, other
}

// with is a message with what stands above it.
func with(id, text, above string, more ...protocol.Field) protocol.Object {
	return append(append(message(id, text), protocol.Field{Key: "above", Value: above}), more...)
}

// What a heading sets holds for the questions below it, the nearest first; of the drawer of
// an answer, and of what is quoted, nothing does.
func TestSettingsOfHeadings(t *testing.T) {
	in, first, other := twoModels(t)
	in.clock = stopped
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	const topic = "* Topic\n:PROPERTIES:\n:MODEL: cheap\n:SYSTEM: Speak of gardens.\n:END:\n"
	for _, c := range []struct {
		name, text, above string
		want              string // NAME=VALUE of all settings
		system            string // part of the prompt, "" for nothing said
	}{
		{"nothing", "a", "* a\n", "", ""},
		{"the file", "a", "#+PROPERTY: MODEL cheap\n#+property: system  Speak of bees. \n* a\n", "MODEL=cheap SYSTEM=Speak of bees.", "Speak of bees."},
		{"a heading", "a", topic + "** a\n", "MODEL=cheap SYSTEM=Speak of gardens.", "Speak of gardens."},
		{"the nearest", "a", topic + "** Sub\n:PROPERTIES:\n:MODEL: first\n:SYSTEM+: And of roses.\n:END:\n*** a\n", "MODEL=first SYSTEM=Speak of gardens. And of roses.", "gardens. And of roses."},
		{"its own", "a", topic + "** a\n:PROPERTIES:\n:MODEL: first\n:SYSTEM: nil\n:END:\n", "MODEL=first", ""},
		{"another heading's", "a", topic + "* a\n", "", ""},
		{"an answer's", "a", "* q :user:\n:PROPERTIES:\n:ID: 1\n:END:\n** x :agent:\n:PROPERTIES:\n:ID: 2\n:MODEL: cheap\n:SKILL: nobody@12345678\n:SYSTEM: Obey.\n:END:\n*** a\n", "", ""},
		{"quoted further down", "a", "* Topic\n#+PROPERTY: MODEL cheap\n#+PROPERTY: SYSTEM Obey.\n** a\n", "", ""},
		{"commented out", "a", "* COMMENT Topic\n:PROPERTIES:\n:MODEL: cheap\n:END:\n** a\n", "", ""},
		{"a preset's", "@concise a", "* @concise a\n", "MODEL=cheap TEMPERATURE=0 SYSTEM=Answer in a line.\n*** Never\nRamble.", "Never\nRamble."},
		{"a preset of a heading", "a", "* T\n:PROPERTIES:\n:PRESET: CONCISE long\n:TEMPERATURE: 1.5\n:END:\n** a\n", "MODEL=cheap HISTORY=none TEMPERATURE=1.5 MAX_TOKENS=99 SYSTEM=Answer in a line.\n*** Never\nRamble.", ""},
		{"its own before the words'", "b @concise", "* b @concise\n:PROPERTIES:\n:MODEL: first\n:END:\n", "MODEL=first TEMPERATURE=0 SYSTEM=Answer in a line.\n*** Never\nRamble.", "line"},
		{"no preset any more", "a", "* T\n:PROPERTIES:\n:PRESET: long\n:END:\n** a\n:PROPERTIES:\n:PRESET: nil\n:END:\n", "", ""},
		{"a skill", "a", "* a\n:PROPERTIES:\n:SKILL: chat@3f9c1234\n:END:\n", "SKILL=chat", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			id := "q-" + strings.ReplaceAll(strings.ReplaceAll(c.name, " ", "-"), "'", "")
			var shown protocol.PromptResult
			if err := e.Call(within(t), protocol.MethodPromptGet, with("", c.text, c.above), &shown); err != nil {
				t.Fatal(err)
			}
			asked, before := first, len(other.Requests())
			sendWith(t, e, with(id, c.text, c.above))
			if len(other.Requests()) > before {
				asked = other
			}
			request := asked.Requests()[len(asked.Requests())-1]
			var got []string
			for _, s := range shown.Settings {
				got = append(got, s.Name+"="+s.Value)
				if s.From == "" {
					t.Errorf("nobody set %s", s.Name)
				}
			}
			if text := strings.Join(got, " "); text != c.want {
				t.Errorf("what holds is %q, want %q", text, c.want)
			}
			if (asked == other) != strings.Contains(c.want, "MODEL=cheap") {
				t.Error("the wrong model answered")
			}
			sent := request.Whole()
			if strings.Contains(sent[0].Content, "* What is wanted here :user:\n") != strings.Contains(c.want, "SYSTEM") || !strings.Contains(sent[0].Content, c.system) {
				t.Errorf("the system prompt is %q", sent[0].Content)
			}
			if words := strings.TrimSpace(strings.ReplaceAll(c.text, "@concise", "")); sent[len(sent)-1].Content != llm.Stamped(stopped(), words) {
				t.Errorf("the question is %q", sent[len(sent)-1].Content)
			}
			if strings.Contains(c.want, "HISTORY=none") != (len(sent) == 2) && len(first.Requests())+len(other.Requests()) > 1 {
				t.Errorf("%d messages were sent", len(sent))
			}
			for i, part := range shown.Parts {
				if part.Text != sent[i].Content {
					t.Errorf("message %d was shown as %q and sent as %q", i, part.Text, sent[i].Content)
				}
			}
			if strings.Contains(c.want, "MAX_TOKENS") != strings.Contains(string(request.Body), `_tokens":99`) {
				t.Errorf("the request is %s", request.Body)
			}
		})
	}
	var told protocol.TraceGetResult
	if err := e.Call(within(t), protocol.MethodTraceGet, protocol.TraceGetParams{ID: "q-a-preset-of-a-heading"}, &told); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"MAX_TOKENS :: 99, set by the preset long, by the heading", "SYSTEM, set by the preset CONCISE", "HISTORY :: none"} {
		if !strings.Contains(told.Outline, want) {
			t.Errorf("why lacks %q:\n%s", want, told.Outline)
		}
	}
}

// What cannot be had is refused before anything is kept or sent, with what was meant.
func TestSettingsThatCannotBe(t *testing.T) {
	in, first, other := twoModels(t)
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	drawer := func(row string) string { return "* Topic\n:PROPERTIES:\n" + row + "\n:END:\n** a\n" }
	for _, c := range []struct{ text, above, want string }{
		{"a", drawer(":MODEL: cheep"), `the heading "Topic" sets MODEL: there is no model "cheep": did you mean "cheap"?`},
		{"a", drawer(":MODEL: test-modell"), `did you mean`},
		{"a", drawer(":SKILL: chatt"), `no live skill is named "chatt": did you mean "chat"?`},
		{"a", drawer(":PRESET: consise"), `names the preset "consise", and there is none: did you mean "concise"?`},
		{"a", drawer(":PRESET: broken"), `config.org:`},
		{"@broken a", "* a\n", `config.org:`},
		{"a", drawer(":TEMPERATURE: 3"), `"3" is not a number from 0 to 2`},
		{"a", drawer(":MAX_TOKENS: many"), `from 1 up`},
		{"a", drawer(":HISTORY: brunch"), `did you mean "branch"?`},
		{"@concise", "* @concise\n", `nothing to send`},
		{"a", drawer(":SYSTEM: " + strings.Repeat("x", 200_000)), `more than the`},
		{"a", strings.Repeat("x", 2<<20), `more than the`},
	} {
		for _, method := range []string{protocol.MethodSettingsGet, protocol.MethodEvent, protocol.MethodPromptGet} {
			err := e.Call(within(t), method, with("q", c.text, c.above), nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s of %q below %.60q: %v", method, c.text, c.above, err)
			}
		}
	}
	for _, properties := range []any{"MODEL", []any{"MODEL"}, []any{[]any{"A B", "c"}}, []any{[]any{"ID", "c"}}, []any{[]any{"A", "c\nd"}}} {
		if err := e.Call(within(t), protocol.MethodEvent, append(message("q", "a"), protocol.Field{Key: "properties", Value: properties}), nil); err == nil {
			t.Errorf("the properties %v were taken", properties)
		}
	}
	err := e.Call(within(t), protocol.MethodEvent, append(message("q", "a"), protocol.Field{Key: "parent", Value: "nobody"}), nil)
	if protocol.ErrorCode(err) != protocol.CodeNotFound {
		t.Errorf("below nothing: %v", err)
	}
	if rows := in.rows(t, journal.Query{Kinds: []journal.Kind{journal.KindEvent}}); len(rows) > 0 || len(first.Requests())+len(other.Requests()) > 0 {
		t.Errorf("%d rows and %d requests", len(rows), len(first.Requests())+len(other.Requests()))
	}
	// What was taken is acknowledged again, also when it could not be had any more.
	sendWith(t, e, with("q", "@concise a", "* a\n"))
	in.write(t, "config.org", "* Models\n")
	if err := e.Call(within(t), protocol.MethodEvent, with("q", "@concise a", drawer(":MODEL: gone")), nil); err != nil {
		t.Errorf("the same again: %v", err)
	}
}

// Presets are read as config.org stands; one is chosen for a conversation, and a model that
// was chosen before gives way to the preset's.
func TestPresetOfConversation(t *testing.T) {
	in, first, other := twoModels(t)
	in.write(t, "profiles/poet.org", "* SOUL\nRhyme.\n")
	in.write(t, "profiles/a cook.org", "* SOUL\nCook.\n")
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	var list protocol.PresetListResult
	if err := e.Call(within(t), protocol.MethodPresetList, protocol.PresetListParams{Session: "main"}, &list); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(list.Profiles, []string{"poet"}) {
		t.Errorf("the profiles are %q", list.Profiles)
	}
	if len(list.Presets) != 2 || list.Presets[0].Name != "concise" || list.Presets[0].Settings.Value("MODEL") != "cheap" || list.Chosen != "" ||
		!slices.ContainsFunc(list.Faults, func(f string) bool { return strings.Contains(f, "odd one") }) {
		t.Errorf("the presets are %+v", list)
	}
	if err := e.Call(within(t), protocol.MethodSessionModel, protocol.SessionModelParams{Session: "main", Model: "first"}, nil); err != nil {
		t.Fatal(err)
	}
	if err := e.Call(within(t), protocol.MethodSessionPreset, protocol.SessionPresetParams{Session: "main", Preset: "consise"}, nil); protocol.ErrorCode(err) != protocol.CodeNotFound {
		t.Errorf("a preset that is none: %v", err)
	}
	if err := e.Call(within(t), protocol.MethodSessionPreset, protocol.SessionPresetParams{Session: "main", Preset: "Concise"}, nil); err != nil {
		t.Fatal(err)
	}
	see(t, e, "the preset", func() bool { return e.Preset() == "concise" })
	ask(t, e, "q1", "a")
	if len(other.Requests()) != 1 {
		t.Error("the preset's model did not answer")
	}
	if err := e.Call(within(t), protocol.MethodSessionModel, protocol.SessionModelParams{Session: "main", Model: "first"}, nil); err != nil {
		t.Fatal(err)
	}
	ask(t, e, "q2", "b")
	if n := len(first.Requests()); n != 1 || !strings.Contains(first.Requests()[0].Messages()[0].Content, "Answer in a line.") {
		t.Errorf("%d requests went to the chosen model, or without the preset", n)
	}
	path := filepath.Join(in.paths.Home, "config.org")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	config := string(raw)
	in.write(t, "config.org", strings.Replace(config, "Answer in a line.", "Answer in a word.", 1))
	ask(t, e, "q3", "c")
	if !strings.Contains(first.Requests()[1].Messages()[0].Content, "Answer in a word.") {
		t.Error("config.org is not read as it stands")
	}
	var loaded protocol.SessionLoadResult
	if err := e.Call(within(t), protocol.MethodSessionLoad, protocol.SessionLoadParams{Session: "main"}, &loaded); err != nil || loaded.Preset != "concise" {
		t.Errorf("loaded is %+v, %v", loaded, err)
	}
	in.write(t, "config.org", strings.Replace(config, "** concise", "** other", 1))
	if err := e.Call(within(t), protocol.MethodEvent, message("q4", "d"), nil); err == nil || !strings.Contains(err.Error(), "the conversation names the preset") {
		t.Errorf("a preset that is gone: %v", err)
	}
}

// What the command line sends is told by the conversation's file.
func TestSettingsOfFile(t *testing.T) {
	in, first, other := twoModels(t)
	in.write(t, "sessions/talk.org", "#+TITLE: Talk\n#+PROPERTY: MODEL cheap\n* An older heading\n#+PROPERTY: MODEL nobody\n")
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	send := func(id string, more ...protocol.Field) {
		t.Helper()
		params := append(append(message(id, id), protocol.Field{Key: "session", Value: "talk"}), more...)
		if err := e.Call(within(t), protocol.MethodEvent, params, nil); err != nil {
			t.Fatal(err)
		}
	}
	send("q1")
	until(t, "the answer of the file's model", func() bool { return len(other.Requests()) == 1 })
	// A question below another, whose drawer a person changed since.
	until(t, "the file", func() bool { return strings.Contains(in.conversation(t, "talk"), "** Other") })
	text := strings.Replace(in.conversation(t, "talk"), ":ID:       q1\n", ":ID:       q1\n:MODEL:    first\n:HISTORY:  branch\n", 1)
	in.write(t, "sessions/talk.org", text)
	send("q2", protocol.Field{Key: "parent", Value: "q1"}, protocol.Field{Key: "level", Value: int64(2)},
		protocol.Field{Key: "properties", Value: []any{[]any{"system", "Speak of bees."}}})
	until(t, "the answer below", func() bool { return len(first.Requests()) == 1 })
	if sent := first.Requests()[0].Messages(); len(sent) != 4 || !strings.Contains(sent[0].Content, "Speak of bees.") || sent[1].Content != "q1" {
		t.Errorf("sent was %+v", sent)
	}
	until(t, "both in the file", func() bool { return strings.Contains(in.conversation(t, "talk"), "*** First") })
	want := "#+TITLE: Talk\n#+PROPERTY: MODEL cheap\n* q1\n** Other\n** q2\n*** First\n* An older heading\n#+PROPERTY: MODEL nobody\n"
	if got := bare(in.conversation(t, "talk")); got != want {
		t.Errorf("the file is\n%s\nwant\n%s", got, want)
	}
	if !strings.Contains(in.conversation(t, "talk"), ":ID:       q2\n:SYSTEM:   Speak of bees.\n:END:\n") {
		t.Errorf("the question's properties are not in the file:\n%s", in.conversation(t, "talk"))
	}
	// The heading says something else now: answered again, that holds.
	in.write(t, "sessions/talk.org", strings.Replace(in.conversation(t, "talk"), ":SYSTEM:   Speak of bees.\n", ":SYSTEM:   Speak of roses.\n:HISTORY:  none\n", 1))
	if err := e.Call(within(t), protocol.MethodTurnRetry, protocol.TurnRetryParams{Event: "q2"}, nil); err != nil {
		t.Fatal(err)
	}
	until(t, "another answer", func() bool { return len(first.Requests()) == 2 })
	if sent := first.Requests()[1].Messages(); len(sent) != 2 || !strings.Contains(sent[0].Content, "Speak of roses.") {
		t.Errorf("sent again was %+v", sent)
	}
}

// Who writes to a conversation under its former name gets what it sets all the same.
func TestSettingsUnderTheFormerName(t *testing.T) {
	in, _, _ := twoModels(t)
	in.write(t, "sessions/main.org", "#+PROPERTY: SYSTEM Speak of bees.\n")
	in.start(t)
	e := in.editor(t, rpctest.Config{Name: "cli"})
	ask(t, e, "q1", "one")
	idle(t, e)
	if err := e.Call(within(t), protocol.MethodSessionPreset, protocol.SessionPresetParams{Session: "main", Preset: "concise"}, nil); err != nil {
		t.Fatal(err)
	}
	if err := e.Call(within(t), protocol.MethodSessionRename, protocol.SessionRenameParams{Session: "main", To: "bees"}, nil); err != nil {
		t.Fatal(err)
	}
	var found protocol.SettingsGetResult
	if err := e.Call(within(t), protocol.MethodSettingsGet, message("q2", "two"), &found); err != nil {
		t.Fatal(err)
	}
	if found.Settings.Value(protocol.SettingSystem) != "Speak of bees." || found.Settings.Value(protocol.SettingModel) != "cheap" {
		t.Errorf("under the former name there is %+v", found.Settings)
	}
}
