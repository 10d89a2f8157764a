package doctor

import (
	"context"
	"os/exec"
	"slices"

	"org-agent/kernel/config"
	"org-agent/kernel/llm"
)

// speech checks whether the servers for speech answer. It sends no sound and no text: it asks each
// server for its models.
func speech(ctx context.Context, c Config) []Finding {
	loaded, err := config.Load(c.Paths)
	if err != nil {
		return nil // the check settings reports it
	}
	var found []Finding
	if loaded.Transcription != nil {
		found = append(found, c.speechServer(ctx, "transcription", *loaded.Transcription))
	}
	if words := voiceCommand(loaded); len(words) > 0 {
		if _, err := exec.LookPath(words[0]); err != nil {
			return append(found, fail("install it, or correct COMMAND", "the command that speaks: %v", err))
		}
		return append(found, ok("the command that speaks: %s is there", words[0]))
	}
	if loaded.Voice != nil {
		found = append(found, c.speechServer(ctx, "voice", *loaded.Voice))
	}
	return found
}

// speechServer checks whether a server of speech answers. A server that does not list the
// configured model is not a fault, because some list only their text models.
func (c Config) speechServer(ctx context.Context, what string, server config.SpeechServer) Finding {
	names, err := c.models(ctx, config.Model{Name: what, BaseURL: server.BaseURL, Key: server.Key})
	switch {
	case err != nil && unusable(err):
		return fail(llm.HintOf(err), "the server for %s: %v", what, err)
	case err != nil:
		return ok("the server for %s: %s answers; it does not list its models", what, server.BaseURL)
	case server.Model != "" && len(names) > 0 && !slices.Contains(names, server.Model):
		return warn("if speech does not work, correct MODEL", "the server for %s: %s does not list %s, but %s", what, server.BaseURL, server.Model, some(names))
	}
	return ok("the server for %s: %s answers", what, server.BaseURL)
}

// voiceCommand returns the command that speaks, nil if none does.
func voiceCommand(s config.Settings) []string {
	if s.Voice == nil {
		return nil
	}
	return s.Voice.CommandLine()
}
