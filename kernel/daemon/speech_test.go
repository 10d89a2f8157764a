package daemon_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/rpc/rpctest"
)

// newHearing is an instance whose config.org names a server that hears and speaks as told.
func newHearing(t *testing.T, script llmtest.ServerScript) (*instance, *llmtest.Server) {
	t.Helper()
	server, err := llmtest.Listen("127.0.0.1:0", script, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	in := newInstance(t)
	in.variables["SPEECH_KEY"] = "speech-" + canary
	drawer := ":PROPERTIES:\n:BASE_URL: " + server.URL() + "\n:API_KEY: env:SPEECH_KEY\n"
	in.write(t, "config.org", "* Speech\n** Transcription\n"+drawer+":LANGUAGE: de\n:END:\n** Voice\n"+drawer+":VOICE: alloy\n:END:\n")
	in.start(t)
	return in, server
}

func transcribe(ctx context.Context, e *rpctest.Editor, data []byte) (string, error) {
	var result protocol.SpeechTranscribeResult
	err := e.Call(ctx, protocol.MethodSpeechTranscribe, protocol.SpeechTranscribeParams{Data: base64.StdEncoding.EncodeToString(data)}, &result)
	return result.Text, err
}

func TestSpeechIsTranscribed(t *testing.T) {
	in, server := newHearing(t, llmtest.ServerScript{Transcriptions: []llmtest.Exchange{
		{Status: 503}, {Match: " de$", Reply: "Which notes\n* mention src_sh{id} Samarkand?\n"},
	}, Voices: []llmtest.Exchange{{Match: "^Two$", Reply: string(llmtest.WAV(0.1))}}})
	e := in.editor(t, rpctest.Config{})
	text, err := transcribe(within(t), e, llmtest.WAV(1))
	if err != nil || text != "Which notes * mention src\u200b_sh{id} Samarkand?" {
		t.Errorf("%q, %v", text, err)
	}
	if asked := server.Requests(); len(asked) != 2 || asked[1].Header.Get("Authorization") != "Bearer speech-"+canary {
		t.Errorf("asked %d times", len(asked))
	}
	var spoken protocol.SpeechSpeakResult
	err = e.Call(within(t), protocol.MethodSpeechSpeak, protocol.SpeechSpeakParams{Text: "Two"}, &spoken)
	if err != nil || spoken.Data != base64.StdEncoding.EncodeToString(llmtest.WAV(0.1)) {
		t.Errorf("%d characters, %v", len(spoken.Data), err)
	}
}

func TestSpeechFaults(t *testing.T) {
	in, _ := newHearing(t, llmtest.ServerScript{Transcriptions: []llmtest.Exchange{{Status: 401, Body: "no: speech-" + canary, Times: -1}}})
	e := in.editor(t, rpctest.Config{})
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
		if err == nil || codeOf(err) != c.code || !strings.Contains(err.Error(), c.says) || strings.Contains(fmt.Sprint(err), canary) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, text := range []string{" \n", strings.Repeat("x", 5000)} {
		if err := e.Call(within(t), protocol.MethodSpeechSpeak, protocol.SpeechSpeakParams{Text: text}, nil); err == nil {
			t.Errorf("%d bytes are spoken", len(text))
		}
	}
	bare := newInstance(t)
	bare.start(t)
	_, err := transcribe(within(t), bare.editor(t, rpctest.Config{}), llmtest.WAV(1))
	if err == nil || codeOf(err) != protocol.CodeNotFound || !strings.Contains(err.Error(), `"Transcription" below "Speech"`) {
		t.Errorf("without a server: %v", err)
	}
}

// TestSpeechWaitsForNobody: who waits for a transcript is answered meanwhile, and can give
// it up; the server sees that nobody waits any more.
func TestSpeechWaitsForNobody(t *testing.T) {
	in, server := newHearing(t, llmtest.ServerScript{Transcriptions: []llmtest.Exchange{{FirstDelay: llmtest.Duration(time.Hour)}}})
	conn, err := rpc.Dial(within(t), rpc.DialConfig{Socket: in.paths.Socket, Token: in.token(t), Client: protocol.ClientInfo{Name: "emacs"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
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
		t.Error("what was given up has an answer")
	}
	for server.Left() == 0 {
		time.Sleep(time.Millisecond)
	}
}

func codeOf(err error) protocol.Code {
	if refusal, ok := errors.AsType[*protocol.Error](err); ok {
		return refusal.Code
	}
	return 0
}
