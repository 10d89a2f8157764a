package subagent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"org-agent/kernel/config"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
	"org-agent/kernel/tool"
)

// labelLimit is the largest number of characters of a label.
const labelLimit = 40

// Spawner starts subagents for a turn. It implements [tool.Subagents]. It is safe for the concurrent
// calls of a batch. All exported fields are required, except where noted.
type Spawner struct {
	Pool *Pool // nil if no subagents can be started
	// Turn is the turn, and Skill the name of the skill that answers it. If Skill is "", the turn can
	// start no subagent.
	Turn  journal.Turn
	Skill string
	// Group is set if others take part in the conversation.
	Group bool
	// Model and Budget are those of the turn. A subagent gets them unless its task sets others.
	Model  string
	Budget config.Budget
	Tools  Tools
	Scene  Scene
	// SpawnError is the error of starting a subagent, and BackgroundError that of starting one without
	// waiting for it. Both are nil if the turn may.
	SpawnError, BackgroundError error
	// CheckModel returns an error if there is no model of that name. nil accepts any name.
	CheckModel func(ctx context.Context, name string) error
	// BeforeStart is called before each start of a subagent.
	BeforeStart func()
	Hide        func(text string) string
	NewID       func() string
	Now         func() time.Time

	mu sync.Mutex // guards Scene and BeforeStart, which are not safe for concurrent use
}

// Scene has the projects of a turn, and names the text of other authors that its model was shown, "" if
// there is none.
type Scene interface {
	Projects(ctx context.Context) []string
	Outside() string
}

// Tools finds tools by their names. Nearest returns the most similar name, "" if none is similar.
type Tools interface {
	Find(name string) (written string, effect protocol.ToolEffect, found bool)
	Nearest(name string) string
}

// Start implements [tool.Subagents]: it starts a subagent for a task. If the task says so, it blocks
// until the subagent has ended.
func (sp *Spawner) Start(ctx context.Context, wanted tool.SubagentTask) (string, error) {
	switch {
	case sp.SpawnError != nil:
		return "", sp.SpawnError
	case !wanted.Wait && sp.BackgroundError != nil:
		return "", sp.BackgroundError
	case sp.Pool == nil || sp.Skill == "":
		return "", protocol.ToolErrorf(protocol.ToolRefused, "no subagent can be started here: only a conversation with a model starts subagents")
	}
	s, err := sp.describe(ctx, wanted)
	if err != nil {
		return "", err
	}
	if err := sp.Pool.Start(ctx, s); err != nil {
		return "", fmt.Errorf("start the subagent: %w", err)
	}
	if !wanted.Wait {
		return fmt.Sprintf("[%s was started as %s, in the conversation %q; you get a report when it has ended]", s.Label, s.ID, s.Conversation), nil
	}
	outcome, err := sp.Pool.Await(ctx, s.ID)
	if err != nil {
		return "", err
	}
	return resultText(outcome, 0)
}

// describe returns the record of a subagent for a task. It fails if there is no such tool or model.
func (sp *Spawner) describe(ctx context.Context, wanted tool.SubagentTask) (journal.Subagent, error) {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	sp.BeforeStart()
	s := journal.Subagent{
		ID: sp.NewID(), Session: sp.Turn.Session, Turn: sp.Turn.ID, Event: sp.Turn.Event, Label: labelOf(wanted), Task: sp.Hide(wanted.Task), Skill: sp.Skill,
		Projects: slices.Clone(sp.Scene.Projects(ctx)), Outside: sp.Scene.Outside(), Fork: wanted.Fork, Wait: wanted.Wait,
		Route: sp.Turn.Question.Route, Group: sp.Group,
	}
	s.Conversation = conversationName(s)
	for _, name := range wanted.Tools {
		written, _, found := sp.Tools.Find(name)
		if !found {
			return s, protocol.ToolErrorf(protocol.ToolNotFound, "there is no tool named %q for the subagent%s", name, suggestion(sp.Tools.Nearest(name)))
		}
		s.Tools = append(s.Tools, written)
	}
	if wanted.Model != "" && sp.CheckModel != nil {
		if err := sp.CheckModel(ctx, wanted.Model); err != nil {
			return s, protocol.ToolErrorf(protocol.ToolNotFound, "%w", err)
		}
	}
	s.Settings = settingsOf(sp.Turn, sp.Model, sp.Budget, wanted)
	return s, nil
}

func suggestion(near string) string {
	if near == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", near)
}

// settingsOf returns the settings of a subagent: those of the turn with those of the task. No limit of
// its budget is larger than that of the turn.
func settingsOf(record journal.Turn, model string, budget config.Budget, wanted tool.SubagentTask) protocol.TurnSettings {
	const from = "the task"
	var settings protocol.TurnSettings
	for _, set := range record.Settings {
		if set.Name != protocol.SettingModel && set.Name != protocol.SettingHistory && !slices.Contains(config.BudgetNames(), set.Name) {
			settings = append(settings, set)
		}
	}
	put := func(name, value string) {
		if value != "" {
			settings = append(settings, protocol.TurnSetting{Name: name, Value: value, From: from})
		}
	}
	put(protocol.SettingModel, cmp.Or(wanted.Model, model))
	put(protocol.SettingBudgetRounds, strconv.Itoa(smallerLimit(budget.Rounds, wanted.Rounds)))
	if tokens := smallerLimit(budget.Tokens, wanted.Tokens); tokens > 0 {
		put(protocol.SettingBudgetTokens, strconv.Itoa(tokens))
	} else {
		put(protocol.SettingBudgetTokens, "off")
	}
	if within := smallerLimit(budget.Time, time.Duration(wanted.Minutes)*time.Minute); within > 0 {
		put(protocol.SettingBudgetTime, within.String())
	} else {
		put(protocol.SettingBudgetTime, "off")
	}
	if budget.Cost > 0 {
		put(protocol.SettingBudgetCost, strconv.FormatFloat(budget.Cost, 'f', -1, 64))
	} else {
		put(protocol.SettingBudgetCost, "off")
	}
	return settings
}

// smallerLimit returns the smaller of two limits. 0 is no limit.
func smallerLimit[N int | time.Duration](a, b N) N {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// labelOf returns the label of a task, or the first words of a task without one.
func labelOf(wanted tool.SubagentTask) string {
	return text.Clip(text.Line(cmp.Or(strings.TrimSpace(wanted.Label), wanted.Task)), labelLimit)
}

// conversationName returns the unique name of a subagent's conversation. It consists of the name of the
// starting conversation, the label and the id.
func conversationName(s journal.Subagent) string {
	word := strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			return unicode.ToLower(c)
		}
		return '-'
	}, s.Label)
	cut := func(text string, most int) string {
		if runes := []rune(text); len(runes) > most {
			text = string(runes[:most])
		}
		return strings.Trim(text, "-. ")
	}
	name := cut(s.Session, 30) + "." + cut(word, 20)
	return strings.TrimRight(name, ".") + "-" + s.ID[:min(8, len(s.ID))]
}

// resultText returns the result of a call that waited for a subagent or asks about one. It returns an
// error if the subagent ended without an answer.
func resultText(o Outcome, from int) (string, error) {
	if !o.State.Final() {
		return fmt.Sprintf("[%s is %s]", o.Label, o.State), nil
	}
	if o.State != protocol.SubagentDone {
		code := protocol.ToolFailed
		if o.State == protocol.SubagentCancelled {
			code = protocol.ToolCancelled
		}
		return "", protocol.ToolErrorf(code, "the subagent %s ended without an answer: %s%s", o.Label, o.State, prefixed(": ", o.Notice))
	}
	line := fmt.Sprintf("[%s is %s, %d tokens%s]\n", o.Label, o.State, o.Tokens, prefixed("; ", o.Notice))
	return line + o.FindingsFrom(from), nil
}

func prefixed(mark, text string) string {
	if text == "" {
		return ""
	}
	return mark + text
}

// Report implements [tool.Subagents].
func (sp *Spawner) Report(ctx context.Context, id string, from int) (string, error) {
	pool, session := sp.Pool, sp.Turn.Session
	if sp.SpawnError != nil || pool == nil {
		return "", protocol.ToolErrorf(protocol.ToolRefused, "no subagent can be started here")
	}
	if id != "" {
		o, err := pool.Outcome(ctx, id)
		if protocol.ErrorCode(err) == protocol.CodeNotFound || err == nil && o.Session != session {
			return "", protocol.ToolErrorf(protocol.ToolNotFound, "this conversation has no subagent %q: without an id all are listed", id)
		}
		if err != nil {
			return "", err
		}
		text, err := resultText(o, from)
		if err != nil { // the subagent failed, this call did not
			return err.Error(), nil
		}
		return text, nil
	}
	list, err := pool.List(ctx, session)
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "This conversation has started no subagents.", nil
	}
	return table(list, sp.Now().Location()), nil
}

// table returns the list as an Org table.
func table(list []protocol.Subagent, where *time.Location) string {
	var b strings.Builder
	b.WriteString("| run | label | status | started | took | tokens | cost |\n|-+-+-+-+-+-+-|\n")
	for _, s := range list {
		started, took, cost := "", "", ""
		if at, err := time.Parse(time.RFC3339, s.Started); err == nil {
			started = at.In(where).Format("2006-01-02 15:04")
			took = text.Duration(time.Duration(s.Seconds * float64(time.Second)).Round(100 * time.Millisecond))
		}
		if s.Cost != nil {
			cost = text.Dollars(*s.Cost)
		}
		label := strings.ReplaceAll(s.Label, "|", "¦")
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", s.ID, label, s.State, started, took, text.Thousands(s.Tokens), cost)
	}
	return b.String()
}
