package openai_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/llm/openai"
)

// TestEmbed checks that vectors come in the order of the texts, and that an answer without vectors
// is an error that says so.
func TestEmbed(t *testing.T) {
	number := strings.TrimSuffix(strings.Repeat("1,", 9000), ",")
	for name, c := range map[string]struct {
		answer llmtest.Exchange
		want   string // of the error; "" for vectors
		class  llm.Class
	}{
		"real ones":         {},
		"in another order":  {llmtest.Exchange{Body: `{"data":[{"index":1,"embedding":[0,1]},{"index":0,"embedding":[1,0]}]}`}, "", ""},
		"too few":           {llmtest.Exchange{Body: `{"data":[{"index":0,"embedding":[1,0]}]}`}, "1 embeddings for 2 texts", llm.ClassProtocol},
		"too many":          {llmtest.Exchange{Body: `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1]},{"index":2,"embedding":[1]}]}`}, "3 embeddings for 2 texts", llm.ClassProtocol},
		"the same twice":    {llmtest.Exchange{Body: `{"data":[{"index":0,"embedding":[1,0]},{"index":0,"embedding":[1,0]}]}`}, "no embedding for text 1", llm.ClassProtocol},
		"an index too far":  {llmtest.Exchange{Body: `{"data":[{"index":0,"embedding":[1,0]},{"index":9,"embedding":[1,0]}]}`}, "no embedding for text 1", llm.ClassProtocol},
		"different lengths": {llmtest.Exchange{Body: `{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[1]}]}`}, "2 and 1 numbers", llm.ClassProtocol},
		"no direction":      {llmtest.Exchange{Body: `{"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[0,0]}]}`}, "no direction", llm.ClassProtocol},
		"too long a vector": {llmtest.Exchange{Body: `{"data":[{"index":0,"embedding":[` + number + `]},{"index":1,"embedding":[` + number + `]}]}`}, "9000 numbers", llm.ClassProtocol},
		"too long a body":   {llmtest.Exchange{Body: `{"data":[`, BodySize: 2 << 20}, "", llm.ClassProtocol},
		"no numbers":        {llmtest.Exchange{Body: `{"data":[{"index":0,"embedding":"AAAA"}]}`}, "cannot be read", llm.ClassProtocol},
		"an error in it":    {llmtest.Exchange{Body: `{"error":{"message":"the model is asleep"}}`}, "asleep", ""},
		"refused":           {llmtest.Exchange{Status: 400, Body: `{"error":{"message":"input too long"}}`}, "input too long", ""},
		"broken":            {llmtest.Exchange{Status: 503, Body: "no"}, "no", llm.ClassServer},
		"a redirect":        {llmtest.Exchange{Status: 302, Headers: map[string]string{"Location": "http://elsewhere/"}}, "sends us on", llm.ClassProtocol},
	} {
		t.Run(name, func(t *testing.T) {
			script := llmtest.ServerScript{}
			if name != "real ones" {
				script.Embeddings = []llmtest.Exchange{c.answer}
			}
			server, err := llmtest.Listen("127.0.0.1:0", script, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(server.Close)
			provider, err := openai.New(llm.ServerConfig{BaseURL: server.URL(), Model: "m", Key: "key"})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(provider.Close)
			vectors, err := provider.Embed(t.Context(), []string{"red", "a blue car"})
			if c.want != "" || c.class != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) || c.class != "" && llm.ClassOf(err) != c.class {
					t.Errorf("the error is %v (%s), want %q (%s)", err, llm.ClassOf(err), c.want, c.class)
				}
				return
			}
			if err != nil || len(vectors) != 2 {
				t.Fatal(vectors, err)
			}
			want := [][]float32{{1, 0}, {0, 1}}
			if name == "real ones" {
				want = [][]float32{llmtest.Vector("red", nil), llmtest.Vector("a blue car", nil)}
			}
			if !slices.Equal(vectors[0], want[0]) || !slices.Equal(vectors[1], want[1]) {
				t.Errorf("the vectors are %v", vectors)
			}
			request := server.Requests()[0]
			var body struct{ Model string }
			if json.Unmarshal(request.Body, &body) != nil || body.Model != "m" || request.Header.Get("Authorization") != "Bearer key" {
				t.Errorf("asked was %s", request.Body)
			}
		})
	}
}
