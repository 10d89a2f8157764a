package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"unicode/utf8"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/transport"
	"org-agent/kernel/text"
)

// transcriptLimit is how much of the answer to a recording is read, and textLimit the maximum
// length of the text in it, in bytes. Nobody says more in one recording.
const (
	transcriptLimit = 128 << 10
	textLimit       = 16 << 10
)

// soundLimit is the maximum size of the sound for a text, in bytes.
const soundLimit = 5 << 20

// Transcribe returns the words that are spoken in a WAV file. The language, such as "en", helps the
// model; "" leaves it to the model. It asks once; see [llm.Retry].
func (p *Provider) Transcribe(ctx context.Context, recording []byte, language string) (string, error) {
	model, err := p.modelFor(ctx, "")
	if err != nil {
		return "", err
	}
	form, media, err := recordingForm(recording, model, language)
	if err != nil {
		return "", fmt.Errorf("write the request for a transcription: %w", err)
	}
	body, err := p.post(ctx, "audio/transcriptions", media, form, transcriptLimit)
	if err != nil {
		return "", err
	}
	var transcript struct {
		Text  *string         `json:"text"`
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(body, &transcript); err != nil {
		return "", p.complete(&llm.Error{Class: llm.ClassProtocol, Message: "the transcript cannot be read", Err: err})
	}
	if err := transport.StreamError(transcript.Error); err != nil {
		return "", p.complete(err)
	}
	if transcript.Text == nil {
		return "", p.complete(&llm.Error{Class: llm.ClassProtocol, Message: "the answer has no transcript"})
	}
	if len(*transcript.Text) > textLimit {
		return "", p.complete(&llm.Error{Class: llm.ClassProtocol, Message: fmt.Sprintf("the transcript has %d bytes, more than anybody says in the time", len(*transcript.Text))})
	}
	return strings.ToValidUTF8(*transcript.Text, string(utf8.RuneError)), nil
}

// recordingForm returns the form for a WAV file, and its content type.
func recordingForm(recording []byte, model, language string) (form []byte, media string, err error) {
	var b bytes.Buffer
	writer := multipart.NewWriter(&b)
	part, err := writer.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="file"; filename="speech.wav"`}, "Content-Type": {"audio/wav"},
	})
	if err == nil {
		_, err = part.Write(recording)
	}
	for _, field := range [][2]string{{"model", model}, {"language", language}, {"response_format", "json"}} {
		if err == nil && field[1] != "" {
			err = writer.WriteField(field[0], field[1])
		}
	}
	if err == nil {
		err = writer.Close()
	}
	return b.Bytes(), writer.FormDataContentType(), err
}

// Speak returns a text as a WAV file in a voice that the server has. It asks once; see [llm.Retry].
func (p *Provider) Speak(ctx context.Context, words, voice string) ([]byte, error) {
	model, err := p.modelFor(ctx, "")
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(map[string]string{"model": model, "input": words, "voice": voice, "response_format": "wav"})
	if err != nil {
		return nil, fmt.Errorf("write the request for a sound: %w", err)
	}
	sound, err := p.post(ctx, "audio/speech", "application/json", body, soundLimit)
	if err != nil {
		return nil, err
	}
	if len(sound) < 12 || string(sound[:4]) != "RIFF" || string(sound[8:12]) != "WAVE" {
		return nil, p.complete(&llm.Error{Class: llm.ClassProtocol, Message: "the answer is no WAV file: " + text.PlainLine(transport.BodyMessage(sound[:min(len(sound), transport.ErrorBodyLimit)]), transport.MessageLimit)})
	}
	return sound, nil
}

// post sends a request to one of the server's endpoints and reads the whole answer.
func (p *Provider) post(ctx context.Context, endpoint, media string, body []byte, limit int64) ([]byte, error) {
	address := p.base.JoinPath(endpoint)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("ask for %s: %w", endpoint, err)
	}
	request.Header.Set("Content-Type", media)
	return p.answerTo(ctx, request, limit)
}
