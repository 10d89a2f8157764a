package anthropic_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/anthropic"
	"org-agent/kernel/llm/llmtest"
)

// everyScript has characters of one to four bytes, a combining one, quotes and escapes.
const everyScript = "(:type :request :text \"a \\\"quoted\\\" \\\\ word\")\né ß 漢字 🙂 e\u0301 \u2028 \t\x00 end"

func TestDriverSuite(t *testing.T) { llmtest.DriverSuite(t, anthropic.Driver()) }

// TestReply streams one text in all the ways in which servers send it.
func TestReply(t *testing.T) {
	for name, exchange := range map[string]llmtest.Exchange{
		"plain":                          {},
		"one character a delta":          {Chunk: 1},
		"one byte a write":               {Framing: llmtest.Framing{WireChunk: 1}},
		"keep-alives by the thousand":    {Framing: llmtest.Framing{KeepAlives: 3000}},
		"CRLF":                           {Framing: llmtest.Framing{CRLF: true}},
		"no blank between events":        {Framing: llmtest.Framing{NoBlank: true}},
		"no last event":                  {Ending: llmtest.Ending{NoDone: true}},
		"cut behind the last event":      {Ending: llmtest.Ending{HangAtEnd: true}},
		"stays open behind its reason":   {Ending: llmtest.Ending{NoDone: true, HangAtEnd: true}},
		"one object instead of a stream": {Ending: llmtest.Ending{Whole: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			exchange.Reply = everyScript
			reply, err := llmtest.Ask(t, provider(t, llmtest.Start(t, exchange), llm.ServerConfig{}), llmtest.Hello())
			if err != nil {
				t.Fatal(err)
			}
			if reply.Text != everyScript || reply.Finish != llm.FinishStop || reply.Model != "test-model" || reply.Provider != "test" || reply.Usage == nil {
				t.Errorf("%+v", reply)
			}
		})
	}
}

func TestFinishReasons(t *testing.T) {
	for sent, want := range map[string]llm.FinishReason{
		"end_turn": llm.FinishStop, "stop_sequence": llm.FinishStop, "max_tokens": llm.FinishLength,
		"model_context_window_exceeded": llm.FinishLength, "refusal": llm.FinishFiltered, "tool_use": llm.FinishTools, "later": llm.FinishStop,
	} {
		server := llmtest.Start(t, llmtest.Exchange{Reply: "x", Refusal: "not that", Ending: llmtest.Ending{Finish: sent}})
		reply, err := llmtest.Ask(t, provider(t, server, llm.ServerConfig{}), llmtest.Hello())
		if err != nil || reply.Finish != want || (sent == "refusal") != strings.Contains(reply.Text, "not that") {
			t.Errorf("%s: %+v, %v", sent, reply, err)
		}
	}
}

// A reply that pauses is sent back until it is complete, and is one reply.
func TestPauses(t *testing.T) {
	pause := llmtest.Ending{Finish: "pause_turn", Usage: json.RawMessage(`{"input_tokens":10,"output_tokens":2}`)}
	server := llmtest.Start(t, llmtest.Exchange{Match: "Hello", Reply: "One ", Ending: pause}, llmtest.Exchange{Reply: "two ", Ending: pause},
		llmtest.Exchange{Reply: "three.", Ending: llmtest.Ending{Usage: json.RawMessage(`{"input_tokens":20,"output_tokens":3}`)}})
	reply, err := llmtest.Ask(t, provider(t, server, llm.ServerConfig{}), llmtest.Hello())
	if err != nil || reply.Text != "One two three." || reply.Finish != llm.FinishStop || *reply.Usage != (llm.Usage{Input: 40, Output: 7}) {
		t.Fatalf("%+v %+v, %v", reply, reply.Usage, err)
	}
	if last := server.Requests()[2].Messages(); len(last) != 3 || last[1].Content != "One" || last[2].Content != "two" {
		t.Errorf("the server got %+v", last)
	}
	endless := llmtest.Start(t, llmtest.Exchange{Times: -1, Reply: "again", Ending: pause})
	if reply, err := llmtest.Ask(t, provider(t, endless, llm.ServerConfig{}), llmtest.Hello()); err != nil || reply.Finish != llm.FinishLength || len(endless.Requests()) != 9 {
		t.Errorf("%+v, %v", reply, err)
	}
}

func TestUsage(t *testing.T) {
	server := llmtest.Start(t, llmtest.Exchange{Reply: "x", Ending: llmtest.Ending{Usage: json.RawMessage(
		`{"input_tokens":6,"cache_creation_input_tokens":30,"cache_read_input_tokens":64,"output_tokens":20,"output_tokens_details":{"thinking_tokens":7}}`)}})
	reply, err := llmtest.Ask(t, provider(t, server, llm.ServerConfig{}), llmtest.Hello())
	if want := (&llm.Usage{Input: 100, Output: 20, Cached: 64, Written: 30, Reasoning: 7}); err != nil || !reflect.DeepEqual(reply.Usage, want) {
		t.Errorf("%+v, %v", reply.Usage, err)
	}
	// The last event may count only what was written.
	server = llmtest.Start(t, llmtest.Exchange{Body: events(`{"type":"message_start","message":{"usage":{"input_tokens":5,"cache_read_input_tokens":7,"output_tokens":1}}}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}`, `{"type":"message_stop"}`)})
	if reply, err = llmtest.Ask(t, provider(t, server, llm.ServerConfig{}), llmtest.Hello()); err != nil || *reply.Usage != (llm.Usage{Input: 12, Cached: 7, Output: 9}) {
		t.Errorf("%+v, %v", reply.Usage, err)
	}
}

// events returns the body of a stream.
func events(all ...string) string {
	var b strings.Builder
	for _, e := range all {
		var kind struct{ Type string }
		_ = json.Unmarshal([]byte(e), &kind) // what is no event has no type
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", kind.Type, e)
	}
	return b.String()
}

const (
	begins = `{"type":"message_start","message":{"model":"m","usage":{"input_tokens":1,"output_tokens":1}}}`
	opens  = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	says   = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}`
	stops  = `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}`
	ends   = `{"type":"message_stop"}`
)

// TestUnknown checks that what is not known is ignored, and told of once.
func TestUnknown(t *testing.T) {
	var log strings.Builder
	body := events(begins, opens, says, `{"type":"later","x":1}`, `{"type":"later","x":2}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"hologram","depth":3}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"hologram_delta","depth":4}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"url":"https://x"}}}`,
		`{"type":"content_block_delta","index":9,"delta":{"type":"text_delta","text":"lost"}}`,
		`{"type":"content_block_stop","index":9}`, `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"b"}}`, stops, ends)
	server := llmtest.Start(t, llmtest.Exchange{Times: 2, Body: body})
	model := provider(t, server, llm.ServerConfig{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for range 2 {
		if reply, err := llmtest.Ask(t, model, llmtest.Hello()); err != nil || reply.Text != "ab" || reply.Finish != llm.FinishStop {
			t.Fatalf("%+v, %v", reply, err)
		}
	}
	for _, kind := range []string{"later", "hologram", "hologram_delta", "text_delta"} {
		if n := strings.Count(log.String(), "kind="+kind+"\n"); n != 1 {
			t.Errorf("%s is told of %d times: %s", kind, n, log.String())
		}
	}
}

// TestCalls checks that calls come whole, with their ids, in their order, beside text.
func TestCalls(t *testing.T) {
	for name, c := range map[string]struct {
		exchange llmtest.Exchange
		want     string
	}{
		"several":    {llmtest.Exchange{Reply: "I look.", Calls: []llmtest.Call{{ID: "toolu_1", Name: "read", Arguments: `{"path":"a"}`}, {ID: "toolu_2", Name: "grep", Arguments: `{"x":[1,2]}`}}}, `[{toolu_1 read {"path":"a"}} {toolu_2 grep {"x":[1,2]}}]`},
		"whole":      {llmtest.Exchange{Calls: []llmtest.Call{{ID: "a", Name: "read", Arguments: `{"x":1}`}}, Ending: llmtest.Ending{Whole: true}}, `[{a read {"x":1}}]`},
		"no pieces":  {llmtest.Exchange{Calls: []llmtest.Call{{ID: "a", Name: "read"}}}, `[{a read {}}]`},
		"broken":     {llmtest.Exchange{Calls: []llmtest.Call{{ID: "a", Name: "read", Arguments: `{"x":`}}}, `[{a read {"x":}]`},
		"same twice": {llmtest.Exchange{Calls: []llmtest.Call{{ID: "a", Name: "read", Arguments: `{}`}, {ID: "a", Name: "read", Arguments: `{}`}}}, `[{a read {}} {a read {}}]`},
	} {
		t.Run(name, func(t *testing.T) {
			var calling []string
			var reply llm.Reply
			for delta, err := range provider(t, llmtest.Start(t, c.exchange), llm.ServerConfig{}).Stream(t.Context(), offered()) {
				if err != nil {
					t.Fatal(err)
				}
				if delta.Calling != "" {
					calling = append(calling, delta.Calling)
				}
				reply.Text += delta.Text
				reply.Calls, reply.Finish = delta.Calls, delta.Finish
			}
			if got := fmt.Sprint(reply.Calls); got != c.want || reply.Finish != llm.FinishTools || reply.Text != c.exchange.Reply || len(calling) == 0 || calling[0] != "read" {
				t.Errorf("%s, not %s; %q, %s, %q", got, c.want, reply.Text, reply.Finish, calling)
			}
		})
	}
}

// Two blocks with one index are two blocks.
func TestIndexTwice(t *testing.T) {
	call := func(id string) []string {
		return []string{`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"` + id + `","name":"read","input":{}}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"x\":\"` + id + `\"}"}}`}
	}
	body := events(append(append(append([]string{begins}, call("a")...), call("b")...), stops, ends)...)
	reply, err := llmtest.Ask(t, provider(t, llmtest.Start(t, llmtest.Exchange{Body: body}), llm.ServerConfig{}), llmtest.Hello())
	if got := fmt.Sprint(reply.Calls); err != nil || got != `[{a read {"x":"a"}} {b read {"x":"b"}}]` {
		t.Errorf("%s, %v", got, err)
	}
}

// A model that makes calls without end is stopped, one that makes too many, and one that thinks unseen.
func TestWithoutEnd(t *testing.T) {
	many := make([]llmtest.Call, llm.CallsLimit+1)
	for i := range many {
		many[i] = llmtest.Call{ID: fmt.Sprint(i), Name: "read", Arguments: "{}"}
	}
	long := []llmtest.Call{{ID: "a", Name: "read", Arguments: `{"x":"` + strings.Repeat("x", 2*llm.ReplyLimit) + `"}`}}
	unseen := `{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"` + strings.Repeat("x", 1<<20) + `"}}`
	for name, exchange := range map[string]llmtest.Exchange{
		"many": {Calls: many}, "long": {Calls: long}, "unseen": {Body: events(begins, opens, unseen, unseen, unseen, stops, ends)},
	} {
		if _, err := llmtest.Ask(t, provider(t, llmtest.Start(t, exchange), llm.ServerConfig{}), offered()); llm.ClassOf(err) != llm.ClassEndless {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSignsOfLife checks that a stream in which nothing is shown is not silent.
func TestSignsOfLife(t *testing.T) {
	pings := make([]string, 5)
	for i := range pings {
		pings[i] = `{"type":"ping"}`
	}
	body := events(append(append([]string{begins, opens, says}, pings...), stops, ends)...)
	model := provider(t, llmtest.Start(t, llmtest.Exchange{Body: body}), llm.ServerConfig{})
	anthropic.SetQuiet(model, -1)
	deltas := 0
	for delta, err := range model.Stream(t.Context(), llmtest.Hello()) {
		if err != nil || delta.Empty() {
			t.Fatalf("%+v, %v", delta, err)
		}
		deltas++
	}
	if deltas < 2+len(pings) {
		t.Errorf("%d deltas for %d pings", deltas, len(pings))
	}
}

// FuzzEvents checks that the stream ends in UTF-8 text and in a finish or an error, whatever a server sends.
func FuzzEvents(f *testing.F) {
	f.Add(begins, opens, says, stops)
	f.Add(begins, `{"type":"content_block_start","index":-1,"content_block":{"type":"tool_use","input":[1]}}`, `{"type":"content_block_delta","index":-1,"delta":{"type":"input_json_delta","partial_json":"\ud83d"}}`, ends)
	f.Add(`{"type":"message","content":[{"type":"thinking","thinking":"a"},null,3]}`, `{"type":"error"}`, "null", "[]")
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		anthropic.ReadStream([]string{a, b, c, d}, func(delta llm.Delta, err error) {
			if err != nil && llm.ClassOf(err) == "" {
				t.Errorf("the error %v has no class", err)
			}
			if delta.Text != strings.ToValidUTF8(delta.Text, "") {
				t.Errorf("the text %q is not UTF-8", delta.Text)
			}
		})
	})
}

// BenchmarkStream reads a reply of 2,000 deltas from a local server.
func BenchmarkStream(b *testing.B) {
	server, err := llmtest.Listen("127.0.0.1:0", llmtest.ServerScript{Exchanges: []llmtest.Exchange{{Times: -1, Reply: strings.Repeat("word ", 2000), Chunk: 5}}}, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer server.Close()
	model, err := anthropic.New(llm.ServerConfig{BaseURL: server.URL()})
	if err != nil {
		b.Fatal(err)
	}
	defer model.Close()
	for b.Loop() {
		if _, err := llm.Collect(model.Stream(b.Context(), llmtest.Hello())); err != nil {
			b.Fatal(err)
		}
	}
}
