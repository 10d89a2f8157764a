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

// labelLimit is how many characters a subagent's label has.
const labelLimit = 40

// Spawner starts subagents for a turn. It implements [tool.Subagents]. The calls of a batch use it at the
// same time. All of it is required but where it says so.
type Spawner struct {
	Pool *Pool // nil: no work is handed on
	// Turn is the turn, and Skill the name of the skill that answers it; "" for none, and then it
	// starts no subagent.
	Turn  journal.Turn
	Skill string
	// Group is set if others take part in the conversation.
	Group bool
	// Model and Budget are those of the turn, which a subagent gets where nothing else is wanted.
	Model  string
	Budget config.Budget
	Tools  Tools
	Scene  Scene
	// MayNot is the error of starting a subagent, and MayNotLeave that of starting one without waiting
	// for it. Both are nil where the turn may.
	MayNot, MayNotLeave error
	// CheckModel is the error of asking for a model of that name. nil: any name may be one.
	CheckModel func(ctx context.Context, name string) error
	// Began is called before a subagent is started.
	Began func()
	Hide  func(text string) string
	NewID func() string
	Now   func() time.Time

	mu sync.Mutex // held while a subagent is described, as neither Scene nor Began is for many at once
}

// Scene is where a turn takes place: which projects it is about, and what others may have written of what
// its model is shown.
type Scene interface {
	Projects(ctx context.Context) []string
	Outside() string
}

// Tools finds tools by their names.
type Tools interface {
	Find(name string) (written string, effect protocol.ToolEffect, found bool)
	Nearest(name string) string
}

// Start implements [tool.Subagents]: a subagent does a part of the turn's work. If the call says so, it
// blocks until the subagent has ended.
func (sp *Spawner) Start(ctx context.Context, wanted tool.SubagentTask) (string, error) {
	switch {
	case sp.MayNot != nil:
		return "", sp.MayNot
	case !wanted.Wait && sp.MayNotLeave != nil:
		return "", sp.MayNotLeave
	case sp.Pool == nil || sp.Skill == "":
		return "", protocol.ToolErrorf(protocol.ToolRefused, "no work is handed on here: it is handed on by a conversation with a model")
	}
	s, err := sp.describe(ctx, wanted)
	if err != nil {
		return "", err
	}
	if err := sp.Pool.Start(ctx, s); err != nil {
		return "", fmt.Errorf("hand on the work: %w", err)
	}
	if !wanted.Wait {
		return fmt.Sprintf("[%s is begun as %s, in the conversation %q; you are told when it has ended]", s.Label, s.ID, s.Conversation), nil
	}
	outcome, err := sp.Pool.Await(ctx, s.ID)
	if err != nil {
		return "", err
	}
	return endOf(outcome, 0)
}

// describe returns the subagent that is wanted. It fails if a tool or the model is not there.
func (sp *Spawner) describe(ctx context.Context, wanted tool.SubagentTask) (journal.Subagent, error) {
	sp.mu.Lock()
	defer sp.mu.Unlock()
	sp.Began()
	s := journal.Subagent{
		ID: sp.NewID(), Session: sp.Turn.Session, Turn: sp.Turn.ID, Event: sp.Turn.Event, Label: labelOf(wanted), Task: sp.Hide(wanted.Task), Skill: sp.Skill,
		Projects: slices.Clone(sp.Scene.Projects(ctx)), Outside: sp.Scene.Outside(), Fork: wanted.Fork, Wait: wanted.Wait,
		Route: sp.Turn.Question.Route, Group: sp.Group,
	}
	s.Conversation = conversationName(s)
	for _, name := range wanted.Tools {
		written, _, found := sp.Tools.Find(name)
		if !found {
			return s, protocol.ToolErrorf(protocol.ToolNotFound, "there is no tool named %q to hand on%s", name, didYouMean(sp.Tools.Nearest(name)))
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

func didYouMean(near string) string {
	if near == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", near)
}

// settingsOf are the settings of the turn with those that are wanted for the subagent. No part
// of its budget is larger than that of the turn.
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
	put(protocol.SettingBudgetRounds, strconv.Itoa(narrower(budget.Rounds, wanted.Rounds)))
	if tokens := narrower(budget.Tokens, wanted.Tokens); tokens > 0 {
		put(protocol.SettingBudgetTokens, strconv.Itoa(tokens))
	} else {
		put(protocol.SettingBudgetTokens, "off")
	}
	if within := narrower(budget.Time, time.Duration(wanted.Minutes)*time.Minute); within > 0 {
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

// narrower is the smaller of two bounds. 0 is no bound.
func narrower[N int | time.Duration](a, b N) N {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// labelOf is the label that is wanted for the work, or else the first words of the task.
func labelOf(wanted tool.SubagentTask) string {
	label := strings.Join(strings.Fields(cmp.Or(strings.TrimSpace(wanted.Label), wanted.Task)), " ")
	if runes := []rune(label); len(runes) > labelLimit {
		label = strings.TrimSpace(string(runes[:labelLimit-1])) + "…"
	}
	return label
}

// conversationName is the name of a subagent's conversation. It has the name of the conversation that starts
// the subagent, the label and the id, so that no other conversation has it.
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

// endOf is the result of a call that waited for a subagent or asks about one. It is an error if the
// subagent ended without an answer.
func endOf(o Outcome, from int) (string, error) {
	if !o.State.Final() {
		return fmt.Sprintf("[%s is %s]", o.Label, o.State), nil
	}
	if o.State != protocol.SubagentDone {
		code := protocol.ToolFailed
		if o.State == protocol.SubagentCancelled {
			code = protocol.ToolCancelled
		}
		return "", protocol.ToolErrorf(code, "the subagent %s ended without an answer: %s%s", o.Label, o.State, behind(": ", o.Notice))
	}
	line := fmt.Sprintf("[%s is %s, %d tokens%s]\n", o.Label, o.State, o.Tokens, behind("; ", o.Notice))
	return line + o.FindingsFrom(from), nil
}

func behind(mark, text string) string {
	if text == "" {
		return ""
	}
	return mark + text
}

// Report implements [tool.Subagents].
func (sp *Spawner) Report(ctx context.Context, id string, from int) (string, error) {
	pool, session := sp.Pool, sp.Turn.Session
	if sp.MayNot != nil || pool == nil {
		return "", protocol.ToolErrorf(protocol.ToolRefused, "no work is handed on here")
	}
	if id != "" {
		o, err := pool.Outcome(ctx, id)
		if protocol.ErrorCode(err) == protocol.CodeNotFound || err == nil && o.Session != session {
			return "", protocol.ToolErrorf(protocol.ToolNotFound, "this conversation has no subagent %q: without an id all are listed", id)
		}
		if err != nil {
			return "", err
		}
		text, err := endOf(o, from)
		if err != nil { // the subagent failed, and not this call
			return err.Error(), nil
		}
		return text, nil
	}
	list, err := pool.List(ctx, session)
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "This conversation has handed on no work.", nil
	}
	return table(list, sp.Now().Location()), nil
}

// table is the list as an Org table.
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
