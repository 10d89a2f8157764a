// Package builtin answers without a network, a key or a model, so that a person who has just
// installed the program can try all of it at once: text that streams, nests and folds, one step of
// undo, skills, the log.
//
// It is not a language model and says so. It looks for a few dozen phrases in the message and in
// the conversation before it, and answers from what it knows about the installation. It gets the
// same prompt as a model and obeys it in two points. If the system prompt shows the form of a
// reply, it replies in that form. If it is asked for a skill and there is a tool that reads skills,
// it calls the tool and shows the result.
//
// It stores nothing between requests, blocks only for pauses, and starts no goroutine.
package builtin

import (
	"context"
	"iter"
	"strings"
	"time"

	"org-agent/kernel/envelope"
	"org-agent/kernel/llm"
)

// Name is the name of the provider and of its model.
const Name = "builtin"

// DefaultPace is a pause between words at which a person can watch them appear.
const DefaultPace = 15 * time.Millisecond

// longest is the maximum sum of the pauses of one reply.
const longest = 5 * time.Second

// About is what the provider knows about the program that it is part of.
type About struct {
	// Skills and Tools are the live ones. Texts are the skills that are text for a model.
	Skills, Tools, Texts []Item
	// Home is the directory with the user's own notes.
	Home string
	// Version is the version of the program.
	Version string
}

// Item is a skill or a tool.
type Item struct {
	Name, Does string
}

// Provider is the built-in guide. The zero value knows nothing about the installation and does
// not pause.
type Provider struct {
	// About is called for every request. nil: nothing is known.
	About func() About
	// Pace is the pause between words.
	Pace time.Duration
}

// Stream answers the last message that the user wrote.
func (p Provider) Stream(ctx context.Context, request llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		delta := llm.Delta{Provider: Name, Model: Name}
		words := words(p.reply(request))
		pace := min(p.Pace, longest/time.Duration(max(len(words), 1)))
		for _, word := range words {
			if !pause(ctx, pace) {
				yield(llm.Delta{}, llm.ContextError(ctx, Name))
				return
			}
			delta.Text = word
			if !yield(delta, nil) {
				return
			}
			delta = llm.Delta{}
		}
		if ctx.Err() != nil {
			yield(llm.Delta{}, llm.ContextError(ctx, Name))
			return
		}
		yield(llm.Delta{Finish: llm.FinishStop}, nil)
	}
}

// reply returns the whole reply, in the form that the system prompt asks for.
func (p Provider) reply(request llm.Request) string {
	var about About
	if p.About != nil {
		about = p.About()
	}
	answer := ""
	messages := conversation(request.Messages)
	if result, ok := lastResult(request.Messages); ok && !asksAboutText(messages) {
		answer = answerToResult(result)
	} else {
		if call, ok := callFor(messages, request.Tools, about); ok {
			return call
		}
		answer = answerTo(messages, about)
	}
	form, ok := replyForm(request.System())
	if !ok {
		return answer
	}
	if !form.org {
		answer = plain(answer)
	}
	return form.fill(answer)
}

// conversation returns the user's messages, the oldest first.
func conversation(messages []llm.Message) []string {
	var texts []string
	for _, message := range messages {
		if message.Role == llm.RoleUser {
			texts = append(texts, withoutEnvelope(withoutData(llm.Unstamped(message.Text))))
		}
	}
	return texts
}

// withoutData returns a message without the attachments and the recalled notes that stand before
// the person's words.
func withoutData(message string) string {
	const line = "\nThe message:\n"
	at := strings.LastIndex(message, line)
	for _, opening := range []string{"The person sends data along, ", "What was kept on earlier days, "} {
		if at >= 0 && strings.Contains(message[:at], opening) {
			return message[at+len(line):]
		}
	}
	return message
}

// withoutEnvelope returns what a person wrote in a message of a chat.
func withoutEnvelope(message string) string {
	if !strings.HasPrefix(message, "(:message-id ") {
		return message
	}
	_, body, err := envelope.Parse(message)
	if err != nil {
		return message
	}
	return body
}

// words splits a text after its blanks and its escaped line ends, where a model would pause too.
func words(text string) []string {
	var list []string
	from := 0
	for i := 1; i <= len(text); i++ {
		atEnd := i == len(text)
		behind := text[i-1] == ' ' || text[i-1] == '\n' || strings.HasSuffix(text[from:i], `\n`)
		if atEnd || behind && text[i] != ' ' {
			list = append(list, text[from:i])
			from = i
		}
	}
	return list
}

// pause waits. It returns false if ctx ended.
func pause(ctx context.Context, pace time.Duration) bool {
	if pace <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(pace)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
