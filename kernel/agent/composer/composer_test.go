package composer_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/act"
	"org-agent/kernel/agent/composer"
	"org-agent/kernel/agent/history"
	"org-agent/kernel/channel"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/llm"
	"org-agent/kernel/llm/dialect"
	"org-agent/kernel/memory"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
	"org-agent/kernel/settings"
	"org-agent/kernel/skill"
	"org-agent/kernel/skillmd"
	"org-agent/kernel/tool"
	"org-agent/skills"
)

// earlier has the earlier turns of a conversation, and nothing else that requests are made of.
type earlier []*journal.Exchange

func (e earlier) Branch(context.Context, string, string) ([]*journal.Exchange, error) { return e, nil }
func (e earlier) Correction(context.Context, string) (float64, error)                 { return 1, nil }
func (e earlier) Context(context.Context, string) ([]protocol.ContextItem, error)     { return nil, nil }

// notes finds the same records for every message.
type notes []memory.Found

func (n notes) Recall(context.Context, string, []string, int) ([]memory.Found, error) { return n, nil }

var stamp = time.Date(2026, 11, 23, 9, 30, 0, 0, time.UTC)

// turnOf returns a composer's turn with resolved settings.
func turnOf(t *testing.T, c *composer.Composer, record journal.Turn, program composer.Program) *composer.Turn {
	t.Helper()
	program.Settings = settings.Of(record)
	return c.Turn(t.Context(), record, program)
}

func newComposer(t *testing.T, past ...*journal.Exchange) *composer.Composer {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	live := skill.New(skill.Config{Shipped: skills.Notes(), Specs: kind.New(append(act.Kinds(act.Deps{}), channel.Known()...)...).Specs, Logger: log})
	live.Load(t.Context())
	type arguments struct {
		Path string `doc:"which file" required:"true"`
	}
	tools, err := tool.NewRegistry(tool.New(tool.Definition[arguments]{Name: "read", Manual: "# Read\n\nReads a file.\n",
		Perform: func(context.Context, *tool.Caller, arguments) (string, error) { return "", nil }}))
	if err != nil {
		t.Fatal(err)
	}
	library, faults := prompt.Load("")
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return &composer.Composer{
		Sources:  composer.Sources{Skills: live, Tools: tools, Prompts: skillmd.New(skillmd.Config{Logger: log}), Library: func() *prompt.Library { return library }, Dialect: plists, Logger: log},
		Branches: earlier(past), Corrections: earlier(past), Past: history.New(history.Journal{}, plists, composer.EarlierQuestion(earlier(past))), Model: func() string { return "test-model" }, HistoryTurns: func() int { return 0 },
	}
}

// functions returns the tools as what a model may call.
func functions(_ context.Context, tools []tool.Tool) (all []llm.Tool) {
	for _, t := range tools {
		all = append(all, llm.Tool{Name: t.Name(), Description: t.Does(), Schema: func() any { return t.Schema() }})
	}
	return all
}

// plists is the dialect of the tests.
var plists = dialect.NewPlist()

// record returns a turn with a question. Its earlier turns are those above its heading, so that it needs
// no journal.
func record(text string, set ...protocol.TurnSetting) journal.Turn {
	set = append(set, protocol.TurnSetting{Name: protocol.SettingHistory, Value: protocol.HistoryBranch})
	return journal.Turn{ID: "t", Session: "main", Event: "e", Stamp: stamp, Settings: set,
		Question: protocol.Event{ID: "e", Session: "main", Sensor: protocol.SensorChatMessage, Text: text, Route: protocol.LocalRoute(protocol.ChannelEmacs)}}
}

func compose(t *testing.T, turn *composer.Turn, ask skill.Ask) composer.Composition {
	t.Helper()
	composed, err := turn.Compose(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	return composed
}

func text(request llm.Request) string {
	var b strings.Builder
	for _, m := range request.Messages {
		b.WriteString(string(m.Role) + ": " + plists.Text(m) + "\n")
	}
	return b.String()
}

// TestCompose: the question, with its time, follows the earlier turns. The steps of the turn follow the
// question. The request has the settings of the turn.
func TestCompose(t *testing.T) {
	c := newComposer(t, &journal.Exchange{Turn: "t0", AnswerID: "a0", Question: "Where is the samovar?", Answer: "In Samarkand."})
	turn := turnOf(t, c, record("And the cups?", protocol.TurnSetting{Name: protocol.SettingTemperature, Value: "0"}, protocol.TurnSetting{Name: protocol.SettingMaxTokens, Value: "77"},
		protocol.TurnSetting{Name: protocol.SettingSystem, Value: "Answer in Uzbek."}), composer.Program{Functions: functions})
	first := compose(t, turn, skill.Ask{Text: "And the cups?", System: "You keep a house."})
	if got := text(first.Request); !strings.HasPrefix(got, "user: ") || strings.Index(got, "Where is the samovar?") > strings.Index(got, "In Samarkand.") || !strings.HasSuffix(got, llm.Stamped(stamp, "And the cups?")+"\n") {
		t.Errorf("it asks\n%s", got)
	}
	r := first.Request
	if r.Temperature == nil || *r.Temperature != 0 || r.MaxTokens != 77 || !strings.Contains(r.System(), "You keep a house.") || !strings.HasSuffix(r.System(), "Answer in Uzbek.") || !strings.Contains(r.System(), "- read (:path S): Reads a file.") {
		t.Errorf("it asks with %+v", r)
	}
	if first.Past == nil || first.Past.Turns != 1 || first.Question != "And the cups?" {
		t.Errorf("of the earlier turns are shown %+v, and the question is kept as %q", first.Past, first.Question)
	}
	turn.Exchange.Add(journal.ToolStep{Action: "(:type :request)", Verdict: "performed", Text: "six cups"})
	if len(r.Tools) != 1 || r.Tools[0].Name != "read" || r.Tools[0].Description != "Reads a file." || r.Tools[0].Schema() == nil {
		t.Errorf("the tools are %+v", r.Tools)
	}
	stable := map[string]bool{}
	for _, s := range r.Sections {
		stable[s.Name] = s.Stable
	}
	if !stable["identity"] || !stable["tools"] || stable["extra"] || stable["wishes"] || len(stable) != len(r.Sections) {
		t.Errorf("the sections are %+v", r.Sections)
	}
	second := compose(t, turn, skill.Ask{Text: "And the cups?", System: "You keep a house."})
	if second.Request.System() != r.System() || !strings.HasPrefix(text(second.Request), text(r)) || !strings.Contains(text(second.Request), "six cups") {
		t.Errorf("the second request is\n%s", text(second.Request))
	}
	if second.Past != nil || second.Reminders != nil {
		t.Error("what was found for the first request was found again")
	}
}

// TestComposeSilently: a silent ask of a skill has no time, no instructions of the person and no forms of
// actions.
func TestComposeSilently(t *testing.T) {
	turn := turnOf(t, newComposer(t), record("sort this", protocol.TurnSetting{Name: protocol.SettingSystem, Value: "Answer in Uzbek."}), composer.Program{})
	composed := compose(t, turn, skill.Ask{Text: "Which of these is first?", NoStream: true, NoHistory: true})
	if got := text(composed.Request); got != "user: Which of these is first?\n" || strings.Contains(composed.Request.System(), "Uzbek") || strings.Contains(composed.Request.System(), "- read (") || len(composed.Request.Tools) > 0 || composed.Question != "" {
		t.Errorf("it asks\n%s\n%s", composed.Request.System(), got)
	}
}

// TestComposeProgram: turns differ by the values of their programs. A subagent has a short prompt with its
// task and the forms of actions, and a mode that is set for every ask holds for every ask.
func TestComposeProgram(t *testing.T) {
	c := newComposer(t)
	forms := func(context.Context, []prompt.Tool) []string { return []string{"- (:type :form)"} }
	subagent := turnOf(t, c, record("count the cups"), composer.Program{Mode: prompt.Minimal, Restricted: true, Forms: forms,
		ChangeFacts: func(facts *prompt.Facts) {
			facts.Kind, facts.Delegation = prompt.Subagent, prompt.Delegation{Requester: "main", Subagent: "main.cups", Label: "cups", Task: "count the cups"}
		}})
	if got := compose(t, subagent, skill.Ask{Text: "count the cups"}).Request.System(); !strings.Contains(got, "main.cups") || !strings.Contains(got, "- (:type :form)") {
		t.Errorf("a subagent is told\n%s", got)
	}
	bare := turnOf(t, c, record("hello"), composer.Program{ForcedMode: prompt.None, Forms: forms})
	if got := compose(t, bare, skill.Ask{Text: "hello", Prompt: "full"}).Request.System(); strings.Contains(got, "(:type :form)") || strings.Contains(got, "- read (") {
		t.Errorf("with the mode none it is told\n%s", got)
	}
}

// TestComposeRecalls: reminders precede the message once. There is no search if an earlier attempt at the
// turn found nothing.
func TestComposeRecalls(t *testing.T) {
	c := newComposer(t)
	c.Index = notes{{Title: "Samovar", Text: "It stands in Samarkand.", Path: "/home/MEMORY.org"}}
	turn := turnOf(t, c, record("where is it?"), composer.Program{})
	first := compose(t, turn, skill.Ask{Text: "where is it?"})
	if first.Reminders == nil || len(first.Reminders.Items) != 1 || !strings.Contains(text(first.Request), "It stands in Samarkand.") {
		t.Fatalf("recalled is %+v\n%s", first.Reminders, text(first.Request))
	}
	if second := compose(t, turn, skill.Ask{Text: "where is it?"}); second.Reminders != nil || text(second.Request) != text(first.Request) {
		t.Errorf("the second request is\n%s", text(second.Request))
	}
	before := composer.Program{Reminders: func(context.Context) (*composer.Reminders, error) { return &composer.Reminders{}, nil }}
	if got := compose(t, turnOf(t, c, record("where is it?"), before), skill.Ask{Text: "where is it?"}); strings.Contains(text(got.Request), "Samarkand") {
		t.Errorf("an attempt that was reminded of nothing is reminded of\n%s", text(got.Request))
	}
}

// TestComposeShorter: a request that a model refused as too long is shortened once, in later turns too. A
// model whose window has no room for the system prompt is refused.
func TestComposeShorter(t *testing.T) {
	long := strings.Repeat("a line that says little and is long\n", 2000)
	c := newComposer(t, &journal.Exchange{Turn: "t0", AnswerID: "a0", Question: "one", Answer: long}, &journal.Exchange{Turn: "t1", AnswerID: "a1", Question: "two", Answer: "short"})
	window := composer.Program{Window: func(context.Context) llm.Window { return llm.Window{Tokens: 100_000, Reply: 1000, Source: "a test"} }}
	turn := turnOf(t, c, record("three"), window)
	first := compose(t, turn, skill.Ask{Text: "three"})
	turn.Exchange.Add(journal.ToolStep{Action: "(:type :request)", Verdict: "performed", Text: long})
	estimate := composer.Estimate(plists, compose(t, turn, skill.Ask{Text: "three"}).Request)
	if !turn.Shorten(t.Context(), estimate) || turn.Shorten(t.Context(), estimate) {
		t.Error("it is made shorter other than once")
	}
	if shorter := compose(t, turn, skill.Ask{Text: "three"}); composer.Estimate(plists, shorter.Request) >= estimate || turn.Window() >= 100_000 {
		t.Errorf("%d tokens are sent after %d, in a window of %d", composer.Estimate(plists, shorter.Request), estimate, turn.Window())
	}
	if next := turnOf(t, c, record("four"), window); len(compose(t, next, skill.Ask{Text: "four"}).Request.Messages) > len(first.Request.Messages) || next.Window() >= 100_000 {
		t.Error("the next turn does not know what was refused")
	}
	small := turnOf(t, newComposer(t), record("hello"), composer.Program{Window: func(context.Context) llm.Window { return llm.Window{Tokens: 2048, Source: "its server"} }})
	if _, err := small.Compose(t.Context(), skill.Ask{Text: "hello"}); llm.ClassOf(err) != llm.ClassTooLong {
		t.Errorf("the error is %v", err)
	}
}

// TestExplain: the parts that are shown of a request are those of the request.
func TestExplain(t *testing.T) {
	c := newComposer(t, &journal.Exchange{Turn: "t0", AnswerID: "a0", Question: "Where is the samovar?", Answer: "In Samarkand."})
	item := protocol.ContextItem{Kind: "file", Name: "cups.org", Text: "six", Bytes: 3}
	turn := turnOf(t, c, record("And these?"), composer.Program{Items: func(context.Context) ([]protocol.ContextItem, error) { return []protocol.ContextItem{item}, nil }})
	turn.Exchange.Add(journal.ToolStep{Steer: "and quickly"}, journal.ToolStep{Seq: 3, Action: "(:type :log)", Verdict: "performed", Text: "noted"})
	composed := compose(t, turn, skill.Ask{Text: "And these?"})
	var result protocol.PromptResult
	composed.Explain(plists, &result)
	var names []string
	for i, part := range result.Parts {
		names = append(names, string(part.Name))
		want := composed.Request.System()
		if i > 0 {
			want = plists.Text(composed.Request.Messages[i-1])
		}
		if part.Text != want {
			t.Errorf("part %d is shown as\n%s\nand sent as\n%s", i, part.Text, want)
		}
	}
	if got := strings.Join(names, " "); got != "system history history question exchange exchange exchange" || len(result.Parts[3].Context) != 1 || len(result.Sections) == 0 {
		t.Errorf("the parts are %s", got)
	}
}

// TestComposeFails: if a part of a request cannot be read, composing it fails with that error.
func TestComposeFails(t *testing.T) {
	gone := errors.New("it is gone")
	for name, program := range map[string]composer.Program{
		"items":    {Items: func(context.Context) ([]protocol.ContextItem, error) { return nil, gone }},
		"system":   {System: func(context.Context, string) (string, bool, error) { return "", false, gone }},
		"recalled": {Reminders: func(context.Context) (*composer.Reminders, error) { return nil, gone }},
	} {
		c := newComposer(t)
		c.Index = notes{}
		if _, err := turnOf(t, c, record("hello"), program).Compose(t.Context(), skill.Ask{Text: "hello"}); !errors.Is(err, gone) {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

// TestToolsThatFit: where all tools do not fit their share of the window, the model is told of those that fit the
// question, and of the others the names; all of it takes no more than the share. With room enough it is told of all.
func TestToolsThatFit(t *testing.T) {
	foreign := func(name, does string) tool.Tool {
		return tool.NewForeign(tool.Foreign{Name: name, Does: does, Form: "(:path S)", Digest: "d"})
	}
	var many []tool.Tool
	for i := range 300 {
		many = append(many, foreign(fmt.Sprintf("crm_%03d", i), "Does one of many things with customers, orders and invoices of the company."))
	}
	type arguments struct {
		ID string `doc:"which" required:"true"`
	}
	result := tool.New(tool.Definition[arguments]{Name: "earlier_result", Manual: "# earlier_result\n\nReturns an earlier result.\n",
		Perform: func(context.Context, *tool.Caller, arguments) (string, error) { return "", nil }})
	registry, err := tool.NewRegistry(append(many, result, foreign("weather_forecast", "Tells the weather of the next days at a place."))...)
	if err != nil {
		t.Fatal(err)
	}
	tell := func(question string, window int) (system string, tokens int, offered []llm.Tool) {
		c := newComposer(t)
		c.Sources.Tools = registry
		turn := turnOf(t, c, record(question), composer.Program{Functions: functions, Window: func(context.Context) llm.Window { return llm.Window{Tokens: window} }})
		composed := compose(t, turn, skill.Ask{Text: question})
		for _, s := range composed.Request.Sections {
			if s.Name == "tools" {
				tokens = prompt.Tokens(s.Text)
			}
		}
		return composed.Request.System(), tokens, composed.Request.Tools
	}
	system, tokens, offered := tell("What will the weather be in Bergen?", 16_000)
	if room := (llm.Window{Tokens: 16_000}).Room(); tokens > room/6+400 { // and the names of some others
		t.Errorf("the tools take %d tokens of %d", tokens, room)
	}
	if !strings.Contains(system, "- weather_forecast (:path S): Tells the weather") || !strings.Contains(system, "no room for here") || len(offered) > 120 {
		t.Errorf("the model is offered %d functions and told\n%.2000s", len(offered), system)
	}
	if system, _, _ := tell("What do customers order of the company, and which invoices?", 16_000); !strings.Contains(system, "- earlier_result (:id S): Returns") {
		t.Errorf("the tool that shortened results name is not told of:\n%.2000s", system)
	}
	if system, _, offered := tell("What will the weather be in Bergen?", 200_000); len(offered) != 302 || strings.Contains(system, "no room for here") {
		t.Errorf("with room the model is offered %d functions", len(offered))
	}
}
