package daemon

import (
	"context"
	"encoding/base64"
	"strings"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/llm"
	"org-agent/kernel/llm/route"
	"org-agent/kernel/org"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// speechPatience is how long a recording or a text may take, with all attempts.
const speechPatience = 2 * time.Minute

// transcriber is a provider whose server hears.
type transcriber interface {
	Transcribe(ctx context.Context, recording []byte, language string) (string, error)
}

// speaker is a provider whose server speaks.
type speaker interface {
	Speak(ctx context.Context, text, voice string) ([]byte, error)
}

// speechServer is a server that hears or speaks; one that config.org does not name has no
// settings.
type speechServer struct {
	heading  string // below "Speech" in config.org
	settings *config.SpeechServer
	server   *route.Server
}

func (d *daemon) speechServer(heading string, settings *config.SpeechServer) speechServer {
	s := speechServer{heading: heading, settings: settings}
	if settings != nil {
		model := config.Model{Name: strings.ToLower(heading), BaseURL: settings.BaseURL, Model: settings.Model, Key: settings.Key}
		s.server = d.server(model)
	}
	return s
}

// host is where the sound goes to or comes from; "" when there is no server.
func (s speechServer) host() string {
	if s.settings == nil {
		return ""
	}
	return route.Host(s.settings.BaseURL)
}

// askSpeech has the server asked, again where that may help. The next request of the client does
// not wait for it, and $/cancelRequest stops it.
func (d *daemon) askSpeech(ctx context.Context, s speechServer, ask func(context.Context, llm.Provider) error) error {
	if s.settings == nil {
		return protocol.Errorf(protocol.CodeNotFound,
			"no server is named for it: write a heading %q below \"Speech\" in config.org, then restart the kernel", s.heading)
	}
	rpc.Release(ctx)
	limited, cancel := context.WithTimeout(ctx, speechPatience)
	defer cancel()
	err := llm.Retry{Logger: d.log}.Call(limited, func(ctx context.Context) error {
		provider, err := s.server.Provider(ctx)
		if err != nil {
			return err
		}
		return ask(ctx, provider)
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return protocol.Errorf(protocol.CodeCancelled, "stopped")
	}
	d.log.Warn("speech failed", "what", s.heading, "err", err)
	return protocol.Errorf(protocol.CodeInternal, "%w; %s", err, llm.HintOf(err))
}

// transcribe answers speech/transcribe. Nothing of it is kept: it is no event yet.
func (d *daemon) transcribe(ctx context.Context, _ *rpc.Client, p *protocol.SpeechTranscribeParams) (protocol.SpeechTranscribeResult, error) {
	var result protocol.SpeechTranscribeResult
	if len(p.Data) > base64.StdEncoding.EncodedLen(protocol.SpeechLimit) {
		return result, protocol.Errorf(protocol.CodeTooLarge, "the recording is larger than %d bytes: make a shorter one", protocol.SpeechLimit)
	}
	recording, err := base64.StdEncoding.DecodeString(p.Data)
	if err != nil || len(recording) == 0 {
		return result, protocol.Errorf(protocol.CodeInvalidParams, ":data is no WAV file in base64")
	}
	err = d.askSpeech(ctx, d.hears, func(ctx context.Context, provider llm.Provider) error {
		language := p.Language
		if language == "" {
			language = d.hears.settings.Language
		}
		hears, err := llm.As[transcriber](provider, "hear")
		if err != nil {
			return err
		}
		text, err := hears.Transcribe(ctx, recording, language)
		result.Text = strings.TrimSpace(org.Inert(strings.Join(strings.Fields(text), " ")))
		return err
	})
	return result, err
}

// speak answers speech/speak.
func (d *daemon) speak(ctx context.Context, _ *rpc.Client, p *protocol.SpeechSpeakParams) (protocol.SpeechSpeakResult, error) {
	var result protocol.SpeechSpeakResult
	if len(p.Text) > protocol.SpeechTextLimit {
		return result, protocol.Errorf(protocol.CodeTooLarge, "the text is longer than %d bytes: have it spoken in pieces", protocol.SpeechTextLimit)
	}
	if strings.TrimSpace(p.Text) == "" {
		return result, protocol.Errorf(protocol.CodeInvalidParams, ":text is empty")
	}
	err := d.askSpeech(ctx, d.speaks, func(ctx context.Context, provider llm.Provider) error {
		speaks, err := llm.As[speaker](provider, "speak")
		if err != nil {
			return err
		}
		sound, err := speaks.Speak(ctx, p.Text, d.speaks.settings.Voice)
		result.Data = base64.StdEncoding.EncodeToString(sound)
		return err
	})
	return result, err
}
