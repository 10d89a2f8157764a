package doctor

import (
	"context"
	"slices"

	"org-agent/kernel/config"
	"org-agent/kernel/llm"
)

// speech looks whether the servers that hear and speak can be asked. Nothing is sent to be
// heard or said: each is asked which models it has.
func speech(ctx context.Context, c Config) []Finding {
	loaded, err := config.Load(c.Paths)
	if err != nil {
		return nil // told by settings
	}
	var found []Finding
	if loaded.Transcription != nil {
		found = append(found, c.speechServer(ctx, "transcription", *loaded.Transcription))
	}
	if loaded.Voice != nil {
		found = append(found, c.speechServer(ctx, "voice", *loaded.Voice))
	}
	return found
}

// speechServer looks whether a server of speech answers. That it does not list its model is no
// fault: some list only those that write.
func (c Config) speechServer(ctx context.Context, what string, server config.SpeechServer) Finding {
	names, err := c.models(ctx, config.Model{Name: what, BaseURL: server.BaseURL, Key: server.Key})
	switch {
	case err != nil && unusable(err):
		return fail(llm.HintOf(err), "the server for %s: %v", what, err)
	case err != nil:
		return ok("the server for %s: %s answers; it does not list its models", what, server.BaseURL)
	case server.Model != "" && len(names) > 0 && !slices.Contains(names, server.Model):
		return warn("if nothing is heard or said, correct MODEL", "the server for %s: %s does not list %s, but %s", what, server.BaseURL, server.Model, some(names))
	}
	return ok("the server for %s: %s answers", what, server.BaseURL)
}
