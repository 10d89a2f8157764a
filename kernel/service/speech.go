package service

import (
	"context"
	"encoding/base64"
	"log/slog"
	"strings"
	"sync"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/llm"
	"org-agent/kernel/llm/route"
	"org-agent/kernel/org"
	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// speechTimeout is how long a recording or a text may take, including all attempts.
const speechTimeout = 2 * time.Minute

// Speech transcribes recordings and speaks texts. It stores nothing, because a recording is not an
// event.
type Speech struct {
	Transcription, Voice *SpeechServer
	// Held returns the tags that are held in what was said besides those that always are. nil: there are none.
	Held   func() []string
	Logger *slog.Logger
}

// SpeechServer is the server of config.org that transcribes or speaks. It is safe for many
// goroutines.
type SpeechServer struct {
	heading  string // below "Speech" in config.org
	settings func() *config.SpeechServer
	open     func(config.Model) *route.Server

	mu     sync.Mutex
	opened *config.SpeechServer // the settings of server
	server *route.Server
}

// transcriber is a provider whose server transcribes.
type transcriber interface {
	Transcribe(ctx context.Context, recording []byte, language string) (string, error)
}

// speaker is a provider whose server speaks.
type speaker interface {
	Speak(ctx context.Context, text, voice string) ([]byte, error)
}

// NewSpeechServer returns the server of a heading. settings returns what config.org says of it now,
// or nil where it names none. open makes a server from the settings of a model.
func NewSpeechServer(heading string, settings func() *config.SpeechServer, open func(config.Model) *route.Server) *SpeechServer {
	return &SpeechServer{heading: heading, settings: settings, open: open}
}

// current returns the settings and the server, or nil where config.org names none.
func (s *SpeechServer) current() (*config.SpeechServer, *route.Server) {
	settings := s.settings()
	if settings == nil {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened == nil || *s.opened != *settings {
		s.opened = settings
		s.server = s.open(config.Model{Name: strings.ToLower(s.heading), BaseURL: settings.BaseURL, Model: settings.Model, Key: settings.Key})
	}
	return settings, s.server
}

// Host returns the host to which the sound goes or from which it comes, or "" if there is no
// server.
func (s *SpeechServer) Host() string {
	settings := s.settings()
	if settings == nil {
		return ""
	}
	if settings.Command != "" {
		return "localhost"
	}
	return route.Host(settings.BaseURL)
}

// Methods returns the methods of this service.
func (s Speech) Methods() []Method {
	return []Method{
		{protocol.MethodSpeechTranscribe, Concurrent(For(s.transcribe))},
		{protocol.MethodSpeechSpeak, Concurrent(For(s.speak))},
	}
}

// askSpeech asks a server, and asks it again if that may help. $/cancelRequest stops it.
func askSpeech[T any](ctx context.Context, logger *slog.Logger, s *SpeechServer, ability string, ask func(context.Context, T, *config.SpeechServer) error) error {
	settings, opened := s.current()
	if settings == nil {
		return protocol.Errorf(protocol.CodeNotFound, "config.org names no server for this: add a heading %q below \"Speech\"", s.heading)
	}
	limited, cancel := context.WithTimeout(ctx, speechTimeout)
	defer cancel()
	err := llm.Retry{Logger: logger}.Call(limited, func(ctx context.Context) error {
		provider, err := opened.Provider(ctx)
		if err != nil {
			return err
		}
		server, err := llm.As[T](provider, ability)
		if err != nil {
			return err
		}
		return ask(ctx, server, settings)
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return protocol.Errorf(protocol.CodeCancelled, "stopped")
	}
	logger.Warn("speech failed", "what", s.heading, "err", err)
	return protocol.Errorf(protocol.CodeInternal, "%w; %s", err, llm.HintOf(err))
}

func (s Speech) transcribe(ctx context.Context, p protocol.SpeechTranscribeParams) (protocol.SpeechTranscribeResult, error) {
	var result protocol.SpeechTranscribeResult
	if len(p.Data) > base64.StdEncoding.EncodedLen(protocol.SpeechLimit) {
		return result, protocol.Errorf(protocol.CodeTooLarge, "the recording is larger than %d bytes: record a shorter one", protocol.SpeechLimit)
	}
	recording, err := base64.StdEncoding.DecodeString(p.Data)
	if err != nil || len(recording) == 0 {
		return result, protocol.Errorf(protocol.CodeInvalidParams, ":data is no WAV file in base64")
	}
	var held []string
	if s.Held != nil {
		held = s.Held()
	}
	err = askSpeech(ctx, s.Logger, s.Transcription, "hear", func(ctx context.Context, server transcriber, settings *config.SpeechServer) error {
		language := p.Language
		if language == "" {
			language = settings.Language
		}
		said, err := server.Transcribe(ctx, recording, language)
		result.Text = inertAnywhere(text.Line(said), held)
		return err
	})
	return result, err
}

// inertAnywhere makes a line inert, whether it comes to stand as one of its own or at the end of a heading.
func inertAnywhere(line string, held []string) string {
	const heading = "* x "
	alone := strings.TrimSpace(org.Inert(line, held...))
	if alone == "" {
		return ""
	}
	return strings.TrimSpace(strings.TrimPrefix(org.Inert(heading+alone, held...), heading))
}

func (s Speech) speak(ctx context.Context, p protocol.SpeechSpeakParams) (protocol.SpeechSpeakResult, error) {
	var result protocol.SpeechSpeakResult
	if len(p.Text) > protocol.SpeechTextLimit {
		return result, protocol.Errorf(protocol.CodeTooLarge, "the text is longer than %d bytes: send it in parts", protocol.SpeechTextLimit)
	}
	if strings.TrimSpace(p.Text) == "" {
		return result, protocol.Errorf(protocol.CodeInvalidParams, ":text is empty")
	}
	sound, err := s.sound(ctx, p.Text)
	result.Data = base64.StdEncoding.EncodeToString(sound)
	return result, err
}

// sound returns a spoken text as a WAV file.
func (s Speech) sound(ctx context.Context, text string) (sound []byte, err error) {
	if settings := s.Voice.settings(); settings != nil && settings.Command != "" {
		sound, err := spoken(ctx, settings.CommandLine(), text)
		if err != nil {
			s.Logger.Warn("speech failed", "what", s.Voice.heading, "err", err)
			return nil, protocol.Errorf(protocol.CodeInternal, "%w", err)
		}
		return sound, nil
	}
	err = askSpeech(ctx, s.Logger, s.Voice, "speak", func(ctx context.Context, server speaker, settings *config.SpeechServer) error {
		sound, err = server.Speak(ctx, text, settings.Voice)
		return err
	})
	return sound, err
}
