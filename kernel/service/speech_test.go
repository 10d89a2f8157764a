package service_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/llm/openai"
	"org-agent/kernel/llm/route"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/service"
)

// speechKey is a key that must not appear in errors.
const speechKey = "speech-canary"

// newSpeech returns the service with a server that answers by the script.
func newSpeech(t *testing.T, script llmtest.ServerScript) (service.Speech, *llmtest.Server) {
	t.Helper()
	server, err := llmtest.Listen("127.0.0.1:0", script, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	open := func(model config.Model) *route.Server {
		return route.NewServer(openai.Driver(), model, func(string) string { return speechKey })
	}
	set := &config.SpeechServer{BaseURL: server.URL(), Key: config.KeySource{Env: "SPEECH_KEY"}, Language: "de", Voice: "alloy"}
	settings := func() *config.SpeechServer { return set }
	return service.Speech{Transcription: service.NewSpeechServer("Transcription", settings, open), Voice: service.NewSpeechServer("Voice", settings, open), Logger: discardLogger}, server
}

func transcribe(ctx context.Context, conn *rpc.Conn, data []byte) (string, error) {
	var result protocol.SpeechTranscribeResult
	err := conn.Call(ctx, protocol.MethodSpeechTranscribe, protocol.SpeechTranscribeParams{Data: base64.StdEncoding.EncodeToString(data)}, &result)
	return result.Text, err
}

func TestSpeechIsTranscribed(t *testing.T) {
	speech, server := newSpeech(t, llmtest.ServerScript{Transcriptions: []llmtest.Exchange{
		{Status: 503}, {Match: " de$", Reply: "Which notes\n* mention src_sh{id} Samarkand?\n", Times: 1}, {Reply: "* One more :robot:", Times: 1}, {Reply: "Milk :x:robot:", Times: 1}, {Reply: " \n"},
	}, Voices: []llmtest.Exchange{{Match: "^Two$", Reply: string(llmtest.WAV(0.1))}}})
	e := serve(t, speech.Methods())("emacs")
	text, err := transcribe(within(t), e, llmtest.WAV(1))
	if err != nil || text != "Which notes * mention src\u200b_sh{id} Samarkand?" {
		t.Errorf("%q, %v", text, err)
	}
	if requests := server.Requests(); len(requests) != 2 || requests[1].Header.Get("Authorization") != "Bearer "+speechKey {
		t.Errorf("asked %d times", len(requests))
	}
	speech.Held = func() []string { return []string{"robot"} }
	if text, err = transcribe(within(t), serve(t, speech.Methods())("emacs"), llmtest.WAV(1)); err != nil || text != "* One more :robot\u200b:" {
		t.Errorf("%q, %v", text, err)
	}
	// What was said may come to stand at the end of a heading.
	if text, err = transcribe(within(t), serve(t, speech.Methods())("emacs"), llmtest.WAV(1)); err != nil || text != "Milk :x:robot\u200b:" {
		t.Errorf("%q, %v", text, err)
	}
	if text, err = transcribe(within(t), serve(t, speech.Methods())("emacs"), llmtest.WAV(1)); err != nil || text != "" {
		t.Errorf("nothing was said, and it is %q, %v", text, err)
	}
	var spoken protocol.SpeechSpeakResult
	err = e.Call(within(t), protocol.MethodSpeechSpeak, protocol.SpeechSpeakParams{Text: "Two"}, &spoken)
	if err != nil || spoken.Data != base64.StdEncoding.EncodeToString(llmtest.WAV(0.1)) {
		t.Errorf("%d characters, %v", len(spoken.Data), err)
	}
}

func TestSpeechFaults(t *testing.T) {
	speech, _ := newSpeech(t, llmtest.ServerScript{Transcriptions: []llmtest.Exchange{{Status: 401, Body: "no: " + speechKey, Times: -1}}})
	e := serve(t, speech.Methods())("emacs")
	for name, c := range map[string]struct {
		data string
		code protocol.Code
		says string
	}{
		"wrong key":   {base64.StdEncoding.EncodeToString(llmtest.WAV(1)), protocol.CodeInternal, "key"},
		"no base64":   {"!!", protocol.CodeInvalidParams, "base64"},
		"nothing":     {"", protocol.CodeInvalidParams, "base64"},
		"far too big": {strings.Repeat("A", 7<<20), protocol.CodeTooLarge, "shorter"},
	} {
		err := e.Call(within(t), protocol.MethodSpeechTranscribe, protocol.SpeechTranscribeParams{Data: c.data}, nil)
		if err == nil || protocol.ErrorCode(err) != c.code || !strings.Contains(err.Error(), c.says) || strings.Contains(fmt.Sprint(err), speechKey) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, text := range []string{" \n", strings.Repeat("x", 5000)} {
		if err := e.Call(within(t), protocol.MethodSpeechSpeak, protocol.SpeechSpeakParams{Text: text}, nil); err == nil {
			t.Errorf("%d bytes are spoken", len(text))
		}
	}
	nothing := func() *config.SpeechServer { return nil }
	bare := service.Speech{Transcription: service.NewSpeechServer("Transcription", nothing, nil), Voice: service.NewSpeechServer("Voice", nothing, nil), Logger: discardLogger}
	if host := bare.Transcription.Host(); host != "" {
		t.Errorf("the host is %q", host)
	}
	_, err := transcribe(within(t), serve(t, bare.Methods())("emacs"), llmtest.WAV(1))
	if err == nil || protocol.ErrorCode(err) != protocol.CodeNotFound || !strings.Contains(err.Error(), `"Transcription" below "Speech"`) {
		t.Errorf("without a server: %v", err)
	}
}

// Other requests of the client are answered during a transcription. The client can cancel it, and the
// server then sees that the request was abandoned.
func TestSpeechIsConcurrent(t *testing.T) {
	speech, server := newSpeech(t, llmtest.ServerScript{Transcriptions: []llmtest.Exchange{{FirstDelay: llmtest.Duration(time.Hour)}}})
	conn := serve(t, speech.Methods(), status)("emacs")
	ctx, cancel := context.WithCancel(within(t))
	done := make(chan error, 1)
	go func() {
		done <- conn.Call(ctx, protocol.MethodSpeechTranscribe, protocol.SpeechTranscribeParams{Data: base64.StdEncoding.EncodeToString(llmtest.WAV(1))}, nil)
	}()
	for len(server.Requests()) == 0 {
		time.Sleep(time.Millisecond)
	}
	if err := conn.Call(within(t), protocol.MethodStatus, protocol.Empty{}, nil); err != nil {
		t.Error(err)
	}
	cancel()
	if err := <-done; err == nil {
		t.Error("a cancelled transcription has an answer")
	}
	for server.Abandoned() == 0 {
		time.Sleep(time.Millisecond)
	}
}
