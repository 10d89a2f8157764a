// Package builtin answers without a network, a key or a model, so that whoever
// has just installed the program can try all of it at once: text that streams,
// nests and folds, one step of undo, skills, the log.
//
// It is not a language model and says so. It looks for a few dozen phrases in
// the message and in the conversation before it, and answers from what it is
// told about the installation. It is given the same prompt as a model and obeys
// it in two things: when the system prompt shows the form of a reply, it replies
// in that form, and when it is asked for a skill and there is a tool to read
// skills, it calls the tool and shows what came back.
//
// Nothing is kept between requests and nothing but pauses blocks; a Provider
// starts no goroutine.
package builtin

import (
	"context"
	"iter"
	"strings"
	"time"

	"org-agent/kernel/llm"
)

// Name is the provider's name, and its model's.
const Name = "builtin"

// DefaultPace is a pause between words at which a person can watch them come.
const DefaultPace = 15 * time.Millisecond

// longest is how long the pauses of one reply are together at most.
const longest = 5 * time.Second

// About is what the provider knows about the program it is part of.
type About struct {
	// Skills and Tools are those that are live now. Texts are skills that are text for a
	// model.
	Skills, Tools, Texts []Item
	// Home is the directory with the user's own notes.
	Home string
	// Version is the program's.
	Version string
}

// Item is something that has a name and does something.
type Item struct {
	Name, Does string
}

// Provider is the built-in responder. Its zero value knows nothing about the
// installation and does not pause.
type Provider struct {
	// About is asked at every request; nil knows nothing.
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

// reply is the whole reply, in the form that the system prompt asks for.
func (p Provider) reply(request llm.Request) string {
	var about About
	if p.About != nil {
		about = p.About()
	}
	answer := ""
	if result, ok := lastResult(request.Messages); ok {
		answer = answerToResult(result)
	} else {
		messages := conversation(request.Messages)
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

// conversation is what the user said, oldest first.
func conversation(messages []llm.Message) []string {
	var texts []string
	for _, message := range messages {
		if message.Role == llm.RoleUser {
			texts = append(texts, withoutData(llm.Unstamped(message.Text)))
		}
	}
	return texts
}

// withoutData is a message without what was sent along with it, or what it brought up, which
// stands before the person's words.
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

// words cuts a text behind its blanks and its written line ends, which is where
// a model would pause too.
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

// pause waits, and reports false when ctx ended.
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
