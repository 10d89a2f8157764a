package config

import (
	"errors"
	"strings"

	"org-agent/kernel/org"
)

// SpeechServer is a heading below "Speech": a server with the audio endpoints of OpenAI's protocol, or a program of this
// machine that speaks.
type SpeechServer struct {
	BaseURL  string
	Model    string // "" for the server's only model
	Key      KeySource
	Language string // the spoken language, such as "en"; "" for any
	Voice    string // the name of the voice that speaks
	// Command speaks instead of a server: it reads a text from its standard input and writes a WAV file to its standard
	// output. Voice may be empty then.
	Command string
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
		table = append(table, property{"VOICE", func(value string) error { server.Voice = value; return nil }}, property{"COMMAND", func(value string) error {
			server.Command = value
			_, err := commandWords(value)
			return err
		}})
	}
	whole := p.drawer(h, table)
	switch {
	case whole && server.Command != "" && server.BaseURL != "":
		p.fault(h.Line, "%s has a COMMAND and a BASE_URL: keep one of them", h.Title)
	case whole && server.Command != "":
		*of = &server
	case whole && server.BaseURL == "":
		p.fault(h.Line, "%s needs a property BASE_URL, such as :BASE_URL: http://localhost:8000/v1", h.Title)
	case whole && of == &p.settings.Voice && server.Voice == "":
		p.fault(h.Line, "%s needs a property VOICE, such as :VOICE: alloy", h.Title)
	case whole:
		*of = &server
	}
}

// CommandLine returns the program that speaks and its arguments, nil where a server does.
func (s SpeechServer) CommandLine() []string {
	words, err := commandWords(s.Command)
	if err != nil {
		return nil // reported with the settings
	}
	return words
}

// commandWords splits a command line at blanks that are not between quotation marks. No shell reads it.
func commandWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	quote, begun := rune(0), false
	for _, c := range line {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '"' || c == '\'':
			quote, begun = c, true
		case c == ' ' || c == '\t':
			if begun {
				words = append(words, word.String())
				word.Reset()
			}
			begun = false
		default:
			word.WriteRune(c)
			begun = true
		}
	}
	if quote != 0 {
		return nil, errors.New("a quotation mark is not closed")
	}
	if begun {
		words = append(words, word.String())
	}
	return words, nil
}
