package daemon_test

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/rpc/rpctest"
)

// A picture that a model sends is a file beside the conversations, which only its owner reads and the answer links to. It is
// no part of what the model is shown later.
func TestPicturesOfAnswers(t *testing.T) {
	content, err := base64.StdEncoding.DecodeString(pixel)
	if err != nil {
		t.Fatal(err)
	}
	for name, events := range map[string]string{
		"OpenRouter": `{"choices":[{"index":0,"delta":{"content":"* A cat\nThere it is."}}]}` + "\n\ndata: " +
			`{"choices":[{"index":0,"delta":{"images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + pixel + `"}}]}}]}`,
		"parts": `{"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"* A cat\nThere it is."},{"type":"image_url","image_url":{"url":"data:image/png;base64,` + pixel + `"}}]}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			in, model := newInstanceAndModel(t,
				llmtest.Exchange{Body: "data: " + events + "\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"},
				llmtest.Exchange{Reply: "* Yes\nYes."})
			in.write(t, "config.org", native(model))
			delete(in.variables, "ORG_AGENT_LLM")
			in.start(t)
			e := in.editor(t, rpctest.Config{})
			if got := ask(t, e, "q1", "Draw a cat."); got.state != "answered" {
				t.Fatalf("the turn ended %+v", got)
			}
			files, err := filepath.Glob(filepath.Join(in.paths.Sessions, "images", "*"))
			if err != nil || len(files) != 1 {
				t.Fatalf("the files are %q, %v", files, err)
			}
			wantBare(t, e, "* Draw a cat.\n** A cat\nThere it is.\n\n[[file:"+files[0]+"]]\n* ")
			stored, err := os.ReadFile(files[0])
			if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v, %v", info.Mode(), err)
			}
			if err != nil || !bytes.Equal(stored, content) {
				t.Errorf("the file has %d bytes, %v", len(stored), err)
			}
			if got := ask(t, e, "q2", "Is it black?"); got.state != "answered" {
				t.Fatalf("the turn ended %+v", got)
			}
			if body := string(model.Requests()[1].Body); strings.Contains(body, pixel) || !strings.Contains(body, filepath.Base(files[0])) {
				t.Errorf("the model is shown %s", body)
			}
		})
	}
}
