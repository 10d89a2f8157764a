package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"org-agent/kernel/agent/history"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
	"org-agent/kernel/session"
	"org-agent/kernel/tool"
)

// look is a turn that only shows what it would send.
type look struct {
	request llm.Request
	taken   bool
	earlier int                    // how many messages of the request are history
	context []protocol.ContextItem // what goes along with the question
	mode    prompt.Mode            // in place of the usual one; ""
	kind    prompt.Kind
	system  prompt.Prompt
	sources []prompt.File // the person's files in it
}

// errLooked is what a note's ask-neuro ends with when its prompt is only looked at.
var errLooked = errors.New("the prompt is only looked at; nothing is sent")

// take keeps the first request: what a later one would be depends on the reply.
func (l *look) take(request llm.Request) error {
	if !l.taken {
		l.request, l.taken = request, true
	}
	return errLooked
}

// Prompt is what the model would be sent first if the event came now. It is composed as
// [Agent.Run] composes it, by the skill that would answer; nothing is sent, journalled or
// written by it. Why nothing would be sent is in the Note. A mode and a kind that are not ""
// are those of the system prompt, whatever they would be.
func (a *Agent) Prompt(ctx context.Context, event protocol.Event, mode prompt.Mode, kind prompt.Kind) protocol.PromptResult {
	record := journal.Turn{Session: event.Session, Stamp: a.config.Now(), Event: event.ID, Question: event, Level: event.Level,
		Parent: event.Parent, Instead: event.Instead, Settings: event.Settings, Wanted: event.Settings.Value(protocol.SettingModel)}
	r := &run{agent: a, turn: &session.Turn{Record: record}, looked: &look{mode: mode, kind: kind}, budget: newBudget(record.Settings, a.askedSkill(record) != ""), log: a.config.Logger.With("session", event.Session)}
	r.facts = sync.OnceValue(func() prompt.Facts { return a.facts(ctx, record) })
	ctx = tool.WithTurn(ctx, a.askedSkill(record), nil)
	result := protocol.PromptResult{Session: event.Session, Settings: event.Settings}
	err := r.pick(ctx)
	if err == nil {
		result.Skill = r.skill.Name
		_, err = r.propose(ctx)
	}
	request := r.looked.request
	switch {
	case r.looked.taken:
		err = nil // the note's, for not being answered
		if a.config.Images != nil {
			request, err = a.config.Images(request)
		}
	case err == nil:
		result.Note = fmt.Sprintf("no model would be asked: the skill %s answers by itself", r.skill.Name)
		return result
	}
	if err != nil {
		result.Note = "nothing would be sent: " + noticeOf(err)
		return result
	}
	result.Model = r.asks()
	result.History = r.shownPast()
	r.looked.describe(request, &result)
	return result
}

// describe lists the messages of the request.
func (l *look) describe(request llm.Request, result *protocol.PromptResult) {
	add := func(name protocol.Keyword, message llm.Message) *protocol.PromptPart {
		part := protocol.PromptPart{Name: name, Role: string(message.Role), Text: message.Content,
			Bytes: len(message.Content), Tokens: prompt.Tokens(message.Content)}
		for _, image := range message.Images {
			part.Images = append(part.Images, fmt.Sprintf("%s, %s, %d bytes", image.Name, image.Media, len(image.Data)))
			part.Bytes += len(image.Data)
			part.Tokens += history.ImageTokens
		}
		result.Bytes += part.Bytes
		result.Tokens += part.Tokens
		result.Parts = append(result.Parts, part)
		return &result.Parts[len(result.Parts)-1]
	}
	result.Parts = make([]protocol.PromptPart, 0, len(request.Messages)+1)
	if request.System != "" {
		add("system", llm.Message{Role: llm.RoleSystem, Content: request.System})
		result.Sections, result.Over = l.sections(), l.system.Over
	}
	for i, message := range request.Messages {
		switch {
		case i < l.earlier:
			add("history", message)
		case i == l.earlier:
			question := add("question", message)
			for _, item := range l.context {
				question.Context = append(question.Context, item.Describe())
			}
		default:
			add("exchange", message)
		}
	}
}

// sections are what became of the sections of the system prompt.
func (l *look) sections() (list []protocol.PromptSection) {
	for _, part := range l.system.Parts {
		section := protocol.PromptSection{Name: part.Name, Title: part.Title, Trust: protocol.Keyword(part.Trust), Tier: protocol.Keyword(part.Tier),
			Bytes: part.Bytes(), Lines: part.Lines(), Tokens: part.Tokens, Whole: part.Whole, Why: string(part.Why), Hash: part.Hash}
		if part.Source != "" {
			section.Sources = append(section.Sources, part.Source)
		}
		for _, file := range l.sources {
			if part.Text != "" && part.Tells(file) {
				section.Sources = append(section.Sources, file.Path)
			}
		}
		list = append(list, section)
	}
	return list
}
