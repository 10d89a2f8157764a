package tool

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"unicode/utf8"

	"org-agent/kernel/files"
	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

//go:embed speak.md
var speakManual string

// Voice makes sounds of texts.
type Voice interface {
	// Engine returns where texts are spoken, for people, and the most characters of one, 0 for no limit of its own.
	// "" is nowhere.
	Engine() (name string, limit int)
	// Speak returns the file with a spoken text. The same text in the same voice is spoken once.
	Speak(ctx context.Context, text string) (path string, err error)
}

type speakArguments struct {
	Text     string `doc:"what is said, up to 500 characters" required:"true"`
	Platform string `doc:"as for send" seldom:"true"`
	Target   string `doc:"as for send (default: this conversation)"`
	ReplyTo  string `doc:"the id of the message that this answers" seldom:"true"`
	Where    string `doc:"the conversation, as it was judged" internal:"true"`
}

// spokenLimit is the longest text that is spoken, in characters.
const spokenLimit = 500

// engine returns where texts are spoken, and the most characters.
func (m Messages) engine() (name string, limit int) {
	if m.Voice == nil {
		return "", spokenLimit
	}
	name, limit = m.Voice.Engine()
	if limit <= 0 || limit > spokenLimit {
		limit = spokenLimit
	}
	return name, limit
}

// resolve checks the text and finds where it goes.
func (a *speakArguments) resolve(ctx context.Context, m Messages, by *Caller) (place, error) {
	_, limit := m.engine()
	a.Text = strings.TrimSpace(a.Text)
	switch n := utf8.RuneCountInString(a.Text); {
	case n == 0:
		return place{}, protocol.ToolErrorf(protocol.ToolArguments, "there is nothing to say: give a :text")
	case n > limit:
		return place{}, protocol.ToolErrorf(protocol.ToolTooLarge, "the text has %d characters, and %d can be spoken: shorten it, or send it as text", n, limit)
	}
	return m.place(ctx, by, a.Platform, a.Target, a.Where)
}

func speak(m Messages) Tool {
	return New(Definition[speakArguments]{
		Name: "speak", Manual: speakManual, Private: true, Own: true,
		Offered: func() bool { name, _ := m.engine(); return m.there() && (name != "" || m.anyChannel()) },
		Reach: func(ctx context.Context, by *Caller, a *speakArguments) ([]protocol.Reach, error) {
			p, err := a.resolve(ctx, m, by)
			if err != nil {
				return nil, err
			}
			a.Platform, a.Target, a.Where = p.Channel, p.Chat, p.Target.String()
			return m.reach(ctx, by, p), nil
		},
		Preview: func(ctx context.Context, by *Caller, a speakArguments) (Preview, error) {
			p, err := a.resolve(ctx, m, by)
			if err != nil {
				return Preview{}, err
			}
			name, _ := m.engine()
			effects := []string{"it is sent as a spoken message, made by " + name}
			if name == "" {
				effects = []string{"nothing is configured that speaks, so it is sent as text"}
			}
			return Preview{Summary: "Say something to " + p.describe(), Text: a.Text, Effects: effects}, nil
		},
		Perform: func(ctx context.Context, by *Caller, a speakArguments) (string, error) {
			p, err := a.resolve(ctx, m, by)
			if err != nil {
				return "", err
			}
			return m.say(ctx, by, p, a)
		},
	})
}

// say sends a spoken text, or the text itself where that cannot be.
func (m Messages) say(ctx context.Context, by *Caller, p place, a speakArguments) (string, error) {
	call, said, instead := message{place: p}, "", ""
	switch name, _ := m.engine(); {
	case name == "":
		said, instead = a.Text, "nothing is configured that speaks"
	case p.Channel == emacsChannel && !p.same:
		said, instead = a.Text, "into another conversation of Emacs only text is sent"
	default:
		path, err := m.Voice.Speak(ctx, a.Text)
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if err == nil {
			sound := attachment{path: path}
			sound.hash, sound.size, err = files.Digest(ctx, path, min(m.fileLimit(p), attachmentLimit))
			call.attached = []attachment{sound}
		}
		if err != nil {
			call.attached, said, instead = nil, a.Text, text.Clip(text.Line(err.Error()), 300)
		}
	}
	parts, err := m.deliver(ctx, by, call, said, a.ReplyTo, true)
	if err != nil {
		return "", err
	}
	result, err := outcome(p, parts)
	if err == nil && instead != "" {
		result = fmt.Sprintf("It was not spoken but sent as text: %s.\n%s", strings.TrimRight(instead, "."), result)
	}
	return result, err
}
