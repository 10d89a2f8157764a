package subagent_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/act"
	"org-agent/kernel/action"
	"org-agent/kernel/agent/subagent"
	"org-agent/kernel/config"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/policy"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
	"org-agent/kernel/tool"
)

// TestRestrictions: a subagent calls only its own tools, in any spelling of their names, and answers. It
// asks no questions and starts no subagents, even if it has every tool.
func TestRestrictions(t *testing.T) {
	some := subagent.Turn{Row: journal.Subagent{Tools: []string{"web_fetch"}}, Kinds: kind.New(act.Kinds(act.Deps{})...)}
	all := some
	all.Row.Tools = nil
	for _, c := range []struct {
		work subagent.Turn
		does string
		why  string // "" where it may
	}{
		{some, `(:type :response :text "done")`, ""},
		{some, `(:type :request :target :tool :action :call :tool "Web-Fetch")`, ""},
		{some, `(:type :request :target :tool :action :call :tool "read")`, "was not given to this subagent: it has web_fetch"},
		{all, `(:type :request :target :tool :action :call :tool "read")`, ""},
		{all, `(:type :request :target :tool :action :call :tool "ask_user")`, "nobody answers its questions"},
		{all, `(:type :request :target :tool :action :call :tool "start_subagent")`, "starts no subagents"},
		{some, `(:type :request :target :tool :action :batch :calls ((:tool "web_fetch") (:tool "read")))`, "was not given"},
		{all, `(:type :request :target :peer :action :message :to "x" :text "y")`, "a subagent"},
	} {
		proposed, err := action.Read(c.does)
		if err != nil {
			t.Fatal(err)
		}
		why := c.work.Refuses(proposed.Action(), policy.Where{Session: "s", Route: protocol.Route{Kind: protocol.RouteSubagent}})
		if (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
			t.Errorf("%s is refused with %q and not %q", c.does, why, c.why)
		}
	}
}

// TestFacts: a subagent's prompt has the task and its own tools only. Without the tool that reads skills
// it lists no skills.
func TestFacts(t *testing.T) {
	tools := []prompt.Tool{{Name: "read"}, {Name: "use_skill"}, {Name: "ask_user"}, {Name: "web_fetch"}}
	for _, c := range []struct{ handed, has []string }{
		{nil, []string{"read", "use_skill", "web_fetch"}},
		{[]string{"read"}, []string{"read"}},
	} {
		facts := prompt.Facts{Kind: prompt.Chat, Tools: slices.Clone(tools), Skills: "a list", MoreSkills: 3}
		subagent.Turn{Row: journal.Subagent{Session: "main", Conversation: "main.look-1", Label: "look", Task: "look it up", Tools: c.handed}}.Facts(&facts)
		var has []string
		for _, one := range facts.Tools {
			has = append(has, one.Name)
		}
		listed := slices.Contains(c.has, "use_skill")
		if !slices.Equal(has, c.has) || facts.Delegation.Task != "look it up" || (facts.Skills != "") != listed || (facts.MoreSkills > 0) != listed {
			t.Errorf("%v: it has %v, %+v", c.handed, has, facts)
		}
	}
}

// scene is the scene of a turn without projects and other authors.
type scene struct{}

func (scene) Projects(context.Context) []string { return []string{"/home/ada/engine"} }
func (scene) Outside() string                   { return "what web_fetch returned" }

// starter returns the spawner of a running turn, on a pool that is not run.
func starter(t *testing.T) (*subagent.Spawner, *kernel) {
	t.Helper()
	k := start(t, t.TempDir(), 1, nil)
	t.Cleanup(func() { close(k.answered); k.close() })
	tools, err := tool.NewRegistry(tool.New(tool.Definition[struct{}]{Name: "read", Manual: "Reads.", Perform: func(context.Context, *tool.Caller, struct{}) (string, error) { return "", nil }}))
	if err != nil {
		t.Fatal(err)
	}
	return &subagent.Spawner{
		Pool: k.pool, Turn: k.ask("q1"), Skill: "plain", Model: "large", Tools: tools, Scene: scene{},
		Budget: config.Budget{Rounds: 10, Tokens: 1000, Time: time.Hour}, BeforeStart: func() {},
		CheckModel: func(_ context.Context, name string) error {
			if name == "none" {
				return errors.New("there is no model none")
			}
			return nil
		},
		Hide:  func(text string) string { return strings.ReplaceAll(text, "swordfish", "REDACTED") },
		NewID: func() string { return "0123456789" }, Now: time.Now,
	}, k
}

// TestSpawn: a subagent has the turn's skill, settings and scene, a budget no larger than the turn's, and
// no secret.
func TestSpawn(t *testing.T) {
	sp, k := starter(t)
	sp.Turn.Settings = protocol.TurnSettings{{Name: protocol.SettingSystem, Value: "Be brief."}, {Name: protocol.SettingHistory, Value: "none"}, {Name: protocol.SettingModel, Value: "old"}}
	began := false
	sp.BeforeStart = func() { began = true }
	text, err := sp.Start(t.Context(), tool.SubagentTask{Task: "Look up swordfish.", Label: "look up", Tools: []string{"READ"}, Rounds: 50, Tokens: 100})
	if err != nil || !strings.Contains(text, "[look up was started") || !began {
		t.Fatal(text, err)
	}
	s, err := k.journal.Subagents.Subagent(t.Context(), "0123456789")
	if err != nil {
		t.Fatal(err)
	}
	if s.Task != "Look up REDACTED." || s.Skill != "plain" || !slices.Equal(s.Tools, []string{"read"}) || s.Conversation != "main.look-up-01234567" ||
		!slices.Equal(s.Projects, []string{"/home/ada/engine"}) || s.Outside != "what web_fetch returned" || s.Turn != sp.Turn.ID {
		t.Errorf("%+v", s)
	}
	for name, want := range map[string]string{
		protocol.SettingSystem: "Be brief.", protocol.SettingHistory: "", protocol.SettingModel: "large", protocol.SettingBudgetRounds: "10",
		protocol.SettingBudgetTokens: "100", protocol.SettingBudgetTime: "1h0m0s", protocol.SettingBudgetCost: "off",
	} {
		if got := s.Settings.Value(name); got != want {
			t.Errorf("%s is %q and not %q", name, got, want)
		}
	}
	if list, err := sp.Report(t.Context(), "", 0); err != nil || !strings.Contains(list, "| look up |") {
		t.Errorf("%s, %v", list, err)
	}
	if _, err := sp.Report(t.Context(), "none", 0); protocol.ToolErrorOf(err).Code != protocol.ToolNotFound {
		t.Errorf("one that is none: %v", err)
	}
}

// TestSpawnRefused: if the turn may start no subagent, or a tool or a model is missing, none is started and
// the error says why.
func TestSpawnRefused(t *testing.T) {
	for why, change := range map[string]func(sp *subagent.Spawner, w *tool.SubagentTask){
		"it may not":                      func(sp *subagent.Spawner, _ *tool.SubagentTask) { sp.SpawnError = errors.New("it may not") },
		"it may not leave":                func(sp *subagent.Spawner, _ *tool.SubagentTask) { sp.BackgroundError = errors.New("it may not leave") },
		"a conversation with":             func(sp *subagent.Spawner, _ *tool.SubagentTask) { sp.Skill = "" },
		`did you mean "read"?`:            func(_ *subagent.Spawner, w *tool.SubagentTask) { w.Tools = []string{"raed"} },
		"there is no model none":          func(_ *subagent.Spawner, w *tool.SubagentTask) { w.Model = "none" },
		"no subagent can be started here": func(sp *subagent.Spawner, _ *tool.SubagentTask) { sp.Pool = nil },
	} {
		t.Run(why, func(t *testing.T) {
			sp, k := starter(t)
			wanted := tool.SubagentTask{Task: "look"}
			change(sp, &wanted)
			if _, err := sp.Start(t.Context(), wanted); err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("%v", err)
			}
			if list, err := k.journal.Subagents.List(t.Context(), "main"); err != nil || len(list) > 0 {
				t.Errorf("%+v, %v", list, err)
			}
		})
	}
}
