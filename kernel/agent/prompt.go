package agent

import (
	"context"
	"errors"
	"fmt"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
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
// written by it. Why nothing would be sent is in the Note.
func (a *Agent) Prompt(ctx context.Context, event protocol.Event) protocol.PromptResult {
	record := journal.Turn{Session: event.Session, Event: event.ID, Question: event, Level: event.Level}
	r := &run{agent: a, turn: &session.Turn{Record: record}, looked: &look{}, log: a.config.Logger.With("session", event.Session)}
	r.offer = a.offer
	ctx = tool.WithTurn(ctx, askedSkill(record), nil)
	result := protocol.PromptResult{Session: event.Session}
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
	result.Model = a.config.Model
	r.looked.describe(request, &result)
	return result
}

// describe lists the messages of the request.
func (l *look) describe(request llm.Request, result *protocol.PromptResult) {
	add := func(name protocol.Keyword, message llm.Message) *protocol.PromptPart {
		part := protocol.PromptPart{Name: name, Role: string(message.Role), Text: message.Content,
			Bytes: len(message.Content), Tokens: tokens(message.Content)}
		for _, image := range message.Images {
			part.Images = append(part.Images, fmt.Sprintf("%s, %s, %d bytes", image.Name, image.Media, len(image.Data)))
			part.Bytes += len(image.Data)
			part.Tokens += imageTokens
		}
		result.Bytes += part.Bytes
		result.Tokens += part.Tokens
		result.Parts = append(result.Parts, part)
		return &result.Parts[len(result.Parts)-1]
	}
	if request.System != "" {
		add("system", llm.Message{Role: llm.RoleSystem, Content: request.System})
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

// imageTokens is what an image is taken to cost: models count by its size in pixels, most
// of them between 250 and 1,600.
const imageTokens = 1000

// tokens estimates how many tokens a text is: four bytes each of ASCII, and two tokens
// for three other characters, which is near enough for English prose, code and Chinese alike.
func tokens(text string) int {
	ascii, others := 0, 0
	for _, c := range text {
		if c < 0x80 {
			ascii++
		} else {
			others++
		}
	}
	return (ascii+3)/4 + (2*others+2)/3
}
