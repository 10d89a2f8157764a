package openai_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/llm/openai"
)

// audio starts a server that answers recordings and texts with these exchanges.
func audio(t *testing.T, transcriptions, voices []llmtest.Exchange) *llmtest.Server {
	t.Helper()
	server, err := llmtest.Listen("127.0.0.1:0", llmtest.ServerScript{Models: []string{"whisper"}, Transcriptions: transcriptions, Voices: voices}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server
}

func TestTranscribe(t *testing.T) {
	server := audio(t, []llmtest.Exchange{{Match: "^speech.wav whisper de$", Reply: " Grüße\n\"x\" "}, {Echo: true}}, nil)
	p := provider(t, server, llm.ServerConfig{Key: "key"})
	text, err := p.Transcribe(t.Context(), llmtest.WAV(0.5), "de")
	if err != nil || text != " Grüße\n\"x\" " {
		t.Errorf("%q, %v", text, err)
	}
	if text, err = p.Transcribe(t.Context(), llmtest.WAV(0.5), ""); err != nil || text != "16044 bytes of audio/wav" {
		t.Errorf("%q, %v", text, err)
	}
	got := server.Requests()[0]
	var recording llmtest.Recording
	if err := json.Unmarshal(got.Body, &recording); err != nil {
		t.Fatal(err)
	}
	if got.Path != "/v1/audio/transcriptions" || got.Header.Get("Authorization") != "Bearer key" || got.Header.Get("User-Agent") != "org-agent" ||
		recording.Format != "json" || recording.File.Seconds != 0.5 {
		t.Errorf("%+v, %+v", got, recording)
	}
}

func TestAudioFaults(t *testing.T) {
	for name, c := range map[string]struct {
		exchange llmtest.Exchange
		class    llm.Class
		says     string
	}{
		"no key":          {llmtest.Exchange{Status: 401, Body: `{"error":{"message":"bad key sk-secret"}}`}, llm.ClassAuth, "bad key REDACTED"},
		"too many":        {llmtest.Exchange{Status: 429, Headers: map[string]string{"Retry-After": "7"}}, llm.ClassRateLimit, ""},
		"broken":          {llmtest.Exchange{Status: 503, Body: "<html><title>Down</title>"}, llm.ClassServer, "Down"},
		"nothing there":   {llmtest.Exchange{Status: 404, Body: `{"detail":"Not Found"}`}, llm.ClassBadRequest, "Not Found"},
		"elsewhere":       {llmtest.Exchange{Status: 302, Headers: map[string]string{"Location": "http://example.org/"}}, llm.ClassProtocol, "example.org"},
		"a page":          {llmtest.Exchange{Body: "<html>welcome</html>"}, llm.ClassProtocol, ""},
		"null":            {llmtest.Exchange{Body: `null`}, llm.ClassProtocol, ""},
		"no text":         {llmtest.Exchange{Body: `{"text":null}`}, llm.ClassProtocol, ""},
		"an error in 200": {llmtest.Exchange{Body: `{"error":{"message":"out of memory"}}`}, llm.ClassServer, "out of memory"},
		"far too much":    {llmtest.Exchange{Reply: strings.Repeat("[[", 10000)}, llm.ClassProtocol, "more than anybody says"},
		"without end":     {llmtest.Exchange{Body: `{"text":"`, BodySize: 6 << 20}, llm.ClassProtocol, "longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			p := provider(t, audio(t, []llmtest.Exchange{c.exchange}, []llmtest.Exchange{c.exchange}), llm.ServerConfig{Key: "sk-secret"})
			_, err := p.Transcribe(t.Context(), llmtest.WAV(0.1), "")
			if llm.ClassOf(err) != c.class || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "sk-secret") || llm.HintOf(err) == "" {
				t.Errorf("hearing: %s: %v", llm.ClassOf(err), err)
			}
			if sound, err := p.Speak(t.Context(), "hello", "alloy"); err == nil || len(sound) > 0 || strings.Contains(err.Error(), "sk-secret") {
				t.Errorf("speaking: %d bytes, %v", len(sound), err)
			}
		})
	}
}

// TestAudioCut checks that a connection that breaks in the middle of the answer is a transient
// error, and that a request that is given up ends at once.
func TestAudioCut(t *testing.T) {
	cut := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte(`{"text":"half`))
	}))
	defer cut.Close()
	p, err := openai.New(llm.ServerConfig{BaseURL: cut.URL, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := p.Transcribe(t.Context(), llmtest.WAV(0.1), ""); llm.ClassOf(err) != llm.ClassTruncated {
		t.Errorf("cut: %v", err)
	}
	server := audio(t, []llmtest.Exchange{{FirstDelay: llmtest.Duration(time.Hour)}}, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := provider(t, server, llm.ServerConfig{Model: "m"}).Transcribe(ctx, llmtest.WAV(0.1), ""); llm.ClassOf(err) != llm.ClassTimeout {
		t.Errorf("silent: %v", err)
	}
}

func TestSpeak(t *testing.T) {
	server := audio(t, nil, []llmtest.Exchange{{Match: "^Hello$", Reply: string(llmtest.WAV(0.2))}})
	sound, err := provider(t, server, llm.ServerConfig{}).Speak(t.Context(), "Hello", "alloy")
	if err != nil || string(sound) != string(llmtest.WAV(0.2)) {
		t.Errorf("%d bytes, %v", len(sound), err)
	}
	if body := string(server.Requests()[0].Body); !strings.Contains(body, `"voice":"alloy"`) || !strings.Contains(body, `"model":"whisper"`) {
		t.Error(body)
	}
}

// TestServerTakesOnlyForms checks that the test's own server refuses what a real one refuses.
func TestServerTakesOnlyForms(t *testing.T) {
	server := audio(t, []llmtest.Exchange{{Times: -1, Reply: "x"}}, nil)
	p := provider(t, server, llm.ServerConfig{Model: "m"})
	for name, data := range map[string][]byte{"nothing": nil, "no WAV": []byte("OggS and more"), "no sound": llmtest.WAV(0), "half a head": llmtest.WAV(1)[:20]} {
		if _, err := p.Transcribe(t.Context(), data, ""); llm.ClassOf(err) != llm.ClassBadRequest {
			t.Errorf("%s: %v", name, err)
		}
	}
	stopped := llmtest.WAV(0.1)
	copy(stopped[40:], "\xff\xff\xff\xff") // as a killed recorder leaves it
	if _, err := p.Transcribe(t.Context(), stopped, ""); err != nil {
		t.Error(err)
	}
}
