package config

import (
	"errors"
	"strings"

	"org-agent/kernel/org"
)

// SpeechServer is a heading below "Speech": a server with the audio endpoints of OpenAI's protocol.
type SpeechServer struct {
	BaseURL  string
	Model    string // "" for the server's only model
	Key      KeySource
	Language string // the spoken language, such as "en"; "" for any
	Voice    string // the name of the voice that speaks
}

// speech reads a heading below "Speech". Like a model, a heading with a fault is left out.
func (p *settingsParser) speech(h *org.Heading) {
	server, of := SpeechServer{}, map[string]**SpeechServer{
		"transcription": &p.settings.Transcription, "voice": &p.settings.Voice,
	}[strings.ToLower(h.Title)]
	table := []property{
		{"BASE_URL", func(value string) error { server.BaseURL = value; return checkBaseURL(value) }},
		{"MODEL", func(value string) error { server.Model = value; return nil }},
		{"API_KEY", func(value string) (err error) { server.Key, err = parseKeySource(value); return err }},
	}
	switch {
	case of == nil:
		p.fault(h.Line, "the heading %q below Speech is not read: only Transcription and Voice are", h.Title)
		return
	case *of != nil:
		p.fault(h.Line, "the heading %s occurs twice", h.Title)
		return
	case of == &p.settings.Transcription:
		table = append(table, property{"LANGUAGE", func(value string) error {
			if server.Language = value; len(value) < 2 || len(value) > 8 || strings.ContainsAny(value, " \t/") {
				return errors.New("a language is written like en or de")
			}
			return nil
		}})
	default:
		table = append(table, property{"VOICE", func(value string) error { server.Voice = value; return nil }})
	}
	whole := p.drawer(h, table)
	switch {
	case whole && server.BaseURL == "":
		p.fault(h.Line, "%s needs a property BASE_URL, such as :BASE_URL: http://localhost:8000/v1", h.Title)
	case whole && of == &p.settings.Voice && server.Voice == "":
		p.fault(h.Line, "%s needs a property VOICE, such as :VOICE: alloy", h.Title)
	case whole:
		*of = &server
	}
}
