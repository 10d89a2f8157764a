package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/llm/openai"
)

// everyScript has characters of one to four bytes, a combining one, quotes and escapes: what breaks
// when a stream is cut in the wrong place.
const everyScript = "(:type :request :text \"a \\\"quoted\\\" \\\\ word\")\né ß 漢字 🙂 e\u0301 \u2028 \t\x00 end"

func TestDriverSuite(t *testing.T) { llmtest.DriverSuite(t, openai.Driver()) }

// TestReply streams one text in all the ways in which servers send it.
func TestReply(t *testing.T) {
	cases := map[string]llmtest.Exchange{
		"plain":                          {},
		"one character a delta":          {Chunk: 1},
		"one byte a delta":               {Framing: llmtest.Framing{ChunkBytes: 1}},
		"two bytes a delta":              {Framing: llmtest.Framing{ChunkBytes: 2}},
		"one byte a write":               {Framing: llmtest.Framing{WireChunk: 1}},
		"one byte a delta and write":     {Framing: llmtest.Framing{WireChunk: 1, ChunkBytes: 1}},
		"keep-alives by the thousand":    {Framing: llmtest.Framing{KeepAlives: 3000}},
		"blank lines by the thousand":    {Framing: llmtest.Framing{BlankLines: 3000}},
		"CRLF":                           {Framing: llmtest.Framing{CRLF: true}},
		"CRLF, one byte a write":         {Framing: llmtest.Framing{CRLF: true, WireChunk: 1}},
		"no blank between events":        {Framing: llmtest.Framing{NoBlank: true}},
		"no [DONE]":                      {Ending: llmtest.Ending{NoDone: true}},
		"no [DONE], no usage":            {Ending: llmtest.Ending{NoDone: true, NoUsage: true}},
		"[DONE] without finish reason":   {Ending: llmtest.Ending{Finish: "none"}},
		"cut behind the finish reason":   {Ending: llmtest.Ending{HangAtEnd: true}},
		"stays open behind the finish":   {Ending: llmtest.Ending{NoDone: true, HangAtEnd: true}},
		"slow first byte":                {FirstDelay: llmtest.Duration(100 * time.Millisecond)},
		"one object instead of a stream": {Ending: llmtest.Ending{Whole: true}},
	}
	for name, exchange := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			exchange.Reply = everyScript
			server := llmtest.Start(t, exchange)
			reply, err := llmtest.Ask(t, provider(t, server, llm.ServerConfig{}), llmtest.Hello())
			if err != nil {
				t.Fatal(err)
			}
			if reply.Text != everyScript {
				t.Errorf("got  %q\nwant %q", reply.Text, everyScript)
			}
			if reply.Finish != llm.FinishStop || reply.Model != "test-model" || reply.Provider != "test" {
				t.Errorf("finish %q, model %q, provider %q", reply.Finish, reply.Model, reply.Provider)
			}
			if (reply.Usage == nil) != exchange.NoUsage {
				t.Errorf("usage %v", reply.Usage)
			}
		})
	}
}

func TestReplyOfAMegabyte(t *testing.T) {
	for name, exchange := range map[string]llmtest.Exchange{
		"16 characters a delta": {},
		"in one delta":          {Chunk: 2 << 20},
		"one object":            {Ending: llmtest.Ending{Whole: true}},
	} {
		t.Run(name, func(t *testing.T) {
			exchange.Reply, exchange.Repeat = "äöü…🙂 \"quoted\"\n", 1<<20/25
			server := llmtest.Start(t, exchange)
			reply, err := llmtest.Ask(t, provider(t, server, llm.ServerConfig{}), llmtest.Hello())
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.Repeat(exchange.Reply, exchange.Repeat); reply.Text != want {
				t.Errorf("got %d bytes, want %d", len(reply.Text), len(want))
			}
		})
	}
}

func TestInvalidUTF8(t *testing.T) {
	server := llmtest.Start(t, llmtest.Exchange{Reply: "a\xffb\xc3", Framing: llmtest.Framing{ChunkBytes: 1}})
	reply, err := llmtest.Ask(t, provider(t, server, llm.ServerConfig{}), llmtest.Hello())
	if err != nil {
		t.Fatal(err)
	}
	if want := "a\uFFFDb\uFFFD"; reply.Text != want {
		t.Errorf("got %q, want %q", reply.Text, want)
	}
}

func TestReasoning(t *testing.T) {
	for _, field := range []string{"reasoning", "reasoning_content"} {
		server := llmtest.Start(t, llmtest.Exchange{Reasoning: "Let me think 🙂.", Framing: llmtest.Framing{ReasoningField: field, ChunkBytes: 3}, Reply: "Four."})
		reply, err := llmtest.Ask(t, provider(t, server, llm.ServerConfig{}), llmtest.Hello())
		if err != nil {
			t.Fatal(err)
		}
		if reply.Reasoning != "Let me think 🙂." || reply.Text != "Four." {
			t.Errorf("%s: %+v", field, reply)
		}
	}
}

func TestFinishReasons(t *testing.T) {
	for sent, want := range map[string]llm.FinishReason{
		"stop": llm.FinishStop, "length": llm.FinishLength, "content_filter": llm.FinishFiltered,
		"tool_calls": llm.FinishTools, "eos": llm.FinishStop,
	} {
		server := llmtest.Start(t, llmtest.Exchange{Reply: "x", Ending: llmtest.Ending{Finish: sent}})
		if reply, err := llmtest.Ask(t, provider(t, server, llm.ServerConfig{}), llmtest.Hello()); err != nil || reply.Finish != want {
			t.Errorf("%s: %q, %v", sent, reply.Finish, err)
		}
	}
}

func TestUsage(t *testing.T) {
	server := llmtest.Start(t, llmtest.Exchange{Reply: "x", Ending: llmtest.Ending{Usage: json.RawMessage(
		`{"prompt_tokens":100,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":64},"completion_tokens_details":{"reasoning_tokens":7},"cost":0.0012}`)}})
	reply, err := llmtest.Ask(t, provider(t, server, llm.ServerConfig{}), llmtest.Hello())
	if err != nil {
		t.Fatal(err)
	}
	cost := 0.0012
	want := &llm.Usage{Input: 100, Output: 20, Cached: 64, Reasoning: 7, Cost: &cost}
	if !reflect.DeepEqual(reply.Usage, want) {
		t.Errorf("got %+v, want %+v", reply.Usage, want)
	}
}

// TestEvents reads bodies that the test server does not send by itself.
func TestEvents(t *testing.T) {
	const end = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
	cases := []struct{ name, body, text string }{
		{"null error", "data: {\"error\":null,\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n" + end, "a"},
		{"no blank behind data:", "data:{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n" + end, "a"},
		{"byte order mark", "\ufeffdata: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n" + end, "a"},
		{"other fields", "event: x\nid: 1\nretry: 5\ndata: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n" + end, "a"},
		{"only carriage returns", strings.ReplaceAll("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"+end, "\n", "\r"), "a"},
		{"last line without end", "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}", "a"},
		{"list of parts", "data: {\"choices\":[{\"delta\":{\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\",\"text\":\"b\"}]}}]}\n\n" + end, "ab"},
		{"pair of surrogates in two deltas", "data: {\"choices\":[{\"delta\":{\"content\":\"\\ud83d\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"\\ude42\"}}]}\n\n" + end, "🙂"},
		{"half a pair", "data: {\"choices\":[{\"delta\":{\"content\":\"\\ud83d\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n" + end, "\uFFFDx"},
		{"second choice is not ours", "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"b\"}},{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n" + end, "a"},
		{"refusal", "data: {\"choices\":[{\"delta\":{\"refusal\":\"no\"}}]}\n\n" + end, "no"},
		{"numbers that JSON lacks", "data: {\"choices\":[{\"delta\":{\"content\":\"NaN \\\" NaN\"},\"logprobs\":[NaN,-Infinity,{\"x\":Infinity}]}],\"usage\":{\"prompt_tokens\":3,\"cost\":NaN}}\n\n" + end, "NaN \" NaN"},
		{"usage of no use", "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}],\"usage\":\"none\"}\n\n" + end, "a"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			server := llmtest.Start(t, llmtest.Exchange{Body: c.body, Headers: map[string]string{"Content-Type": "text/event-stream"}})
			reply, err := llmtest.Ask(t, provider(t, server, llm.ServerConfig{}), llmtest.Hello())
			if err != nil || reply.Text != c.text || reply.Finish != llm.FinishStop {
				t.Errorf("got %+v, %v", reply, err)
			}
		})
	}
}

// FuzzEvents checks that the stream ends in UTF-8 text and in a finish or an error, whatever a
// server sends.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"))
	f.Add([]byte("{\"choices\":[{\"message\":{\"content\":\"a\\ud83d\"},\"finish_reason\":\"length\"}]}"))
	f.Add([]byte(": c\r\n\r\nerror: {\"message\":\"x\"}\r\n"))
	f.Add([]byte("data: {\"error\":{\"message\":\"x\",\"code\":503}}\n\n"))
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"\xf0\x9f"))
	f.Fuzz(func(t *testing.T, body []byte) {
		openai.ReadStream(bytes.NewReader(body), func(delta llm.Delta, err error) {
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
	server, err := llmtest.Listen("127.0.0.1:0", llmtest.ServerScript{Exchanges: []llmtest.Exchange{
		{Times: -1, Reply: strings.Repeat("word ", 2000), Chunk: 5}}}, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer server.Close()
	model, err := openai.New(llm.ServerConfig{BaseURL: server.URL()})
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

// BenchmarkDecode reads the same reply without a network.
func BenchmarkDecode(b *testing.B) {
	body := []byte(strings.Repeat("data: {\"id\":\"test\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"},\"finish_reason\":null}]}\n\n", 2000))
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		openai.ReadStream(bytes.NewReader(body), func(_ llm.Delta, err error) {
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkLongLine reads one event of 4 MiB that comes in small pieces.
func BenchmarkLongLine(b *testing.B) {
	body := "data: {\"choices\":[{\"delta\":{\"content\":\"" + strings.Repeat("x", 4<<20) + "\"},\"finish_reason\":\"stop\"}]}\n\n"
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		openai.ReadStream(iotest.HalfReader(strings.NewReader(body)), func(_ llm.Delta, err error) {
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}

// TestConnectionIsUsedAgain checks that a connection, which may have cost two round trips and a
// handshake, serves one reply after the other, unless the server keeps a reply open after its end.
func TestConnectionIsUsedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		end   func(ctx context.Context) // of the body, after [DONE]
		dials int32
	}{
		"the end comes with [DONE]": {func(context.Context) {}, 1},
		"the end comes behind it":   {func(context.Context) { time.Sleep(time.Millisecond) }, 1},
		"the end never comes":       {func(ctx context.Context) { <-ctx.Done() }, 3},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"Done\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
				_ = http.NewResponseController(w).Flush()
				c.end(r.Context())
			}))
			defer server.Close()
			var dials atomic.Int32
			transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				dials.Add(1)
				return (&net.Dialer{}).DialContext(ctx, network, address)
			}}
			defer transport.CloseIdleConnections()
			p, err := openai.NewWith(llm.ServerConfig{BaseURL: server.URL}, &http.Client{Transport: transport})
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if reply, err := llmtest.Ask(t, p, llmtest.Hello()); err != nil || reply.Text != "Done" {
					t.Fatal(reply, err)
				}
			}
			if got := dials.Load(); got != c.dials {
				t.Errorf("%d connections for 3 replies, not %d", got, c.dials)
			}
		})
	}
}
