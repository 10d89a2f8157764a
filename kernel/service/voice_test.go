package service_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/service"
)

// voiceOf returns the voice of a command.
func voiceOf(t *testing.T, command string) *service.Voice {
	t.Helper()
	set := &config.SpeechServer{Command: command}
	server := service.NewSpeechServer("Voice", func() *config.SpeechServer { return set }, nil)
	return &service.Voice{Speech: service.Speech{Voice: server, Logger: discardLogger}, Directory: filepath.Join(t.TempDir(), "speech")}
}

// script writes a program and returns its path.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "say it")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestServerSpeaksOnce checks that a server speaks a text once, and another one anew.
func TestServerSpeaksOnce(t *testing.T) {
	speech, server := newSpeech(t, llmtest.ServerScript{Voices: []llmtest.Exchange{{Reply: string(llmtest.WAV(0.1)), Times: -1}}})
	v := &service.Voice{Speech: speech, Directory: filepath.Join(t.TempDir(), "speech")}
	paths := map[string]bool{}
	for _, text := range []string{"One", "One", "Two", "One"} {
		path, err := v.Speak(t.Context(), text)
		if data, unread := os.ReadFile(path); err != nil || unread != nil || string(data) != string(llmtest.WAV(0.1)) {
			t.Fatalf("%q: %v, %v", path, err, unread)
		}
		paths[path] = true
	}
	if name, limit := v.Engine(); len(server.Requests()) != 2 || len(paths) != 2 || !strings.HasPrefix(name, "127.0.0.1:") || limit != 0 {
		t.Errorf("%d requests, files %v, engine %q %d", len(server.Requests()), paths, name, limit)
	}
}

// TestCommandSpeaks checks a program of the person's that speaks: it gets the text on its standard input and no shell reads
// it, it speaks a text once, and what is wrong with it is said.
func TestCommandSpeaks(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	good := script(t, `printf x >> "$1"; printf 'RIFF0000WAVE'; cat`)
	v := voiceOf(t, "'"+good+"' "+count)
	for range 3 {
		path, err := v.Speak(t.Context(), "$(touch x); `id` \"ü\"")
		data, unread := os.ReadFile(path)
		if err != nil || unread != nil || string(data) != "RIFF0000WAVE$(touch x); `id` \"ü\"" {
			t.Fatalf("%s: %q, %v, %v", path, data, err, unread)
		}
	}
	if times, err := os.ReadFile(count); err != nil || string(times) != "x" {
		t.Errorf("it was run %d times, %v", len(times), err)
	}
	if name, _ := v.Engine(); name != "say it" {
		t.Errorf("the engine is %q", name)
	}
	for text, says := range map[string]string{
		"echo no voice >&2; exit 3": "exit status 3: no voice",
		"echo hello":                "is no WAV file",
		"printf RIFF0000WAVE; head -c 40000000 /dev/zero": "does not speak",
	} {
		if path, err := voiceOf(t, "'"+script(t, text)+"'").Speak(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %q, %v", text, path, err)
		}
	}
	if _, err := voiceOf(t, "no-such-program-here").Speak(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "no-such-program-here") {
		t.Errorf("a missing program: %v", err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	begun := time.Now()
	if _, err := voiceOf(t, "'"+script(t, "sleep 60 & wait")+"'").Speak(ctx, "x"); err == nil || time.Since(begun) > 20*time.Second {
		t.Errorf("a program that hangs: %v after %v", err, time.Since(begun))
	}
}

// TestEspeak checks that espeak-ng speaks, which "make need-tests" installs.
func TestEspeak(t *testing.T) {
	if testing.Short() {
		t.Skip("-short runs no other programs")
	}
	if _, err := exec.LookPath("espeak-ng"); err != nil {
		t.Fatal(err)
	}
	path, err := voiceOf(t, "espeak-ng --stdout").Speak(t.Context(), "-v A text that begins like an option.")
	info, missing := os.Stat(path)
	if err != nil || missing != nil || info.Size() < 20_000 {
		t.Errorf("%q, %v, %v", path, err, info)
	}
}
