package anthropic_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/llm/transport"
)

func status(code int, kind, message string) llmtest.Exchange {
	return llmtest.Exchange{Status: code, Body: fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q},"request_id":"req_1"}`, kind, message)}
}

func inStream(kind, message string) llmtest.Exchange {
	return llmtest.Exchange{Reply: "one", Fault: llmtest.Fault{Error: json.RawMessage(fmt.Sprintf(`{"type":%q,"message":%q}`, kind, message))}}
}

// TestFailures checks that each fault has its class and the server's message, and that the text before it is
// kept.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name     string
		exchange llmtest.Exchange
		class    llm.Class
		says     string
		text     string
	}{
		{"cut in the middle", llmtest.Exchange{Reply: "one two three", Chunk: 4, Fault: llmtest.Fault{CutAfter: 2}}, llm.ClassTruncated, "cut off", "one two "},
		{"cut in the middle of a call", llmtest.Exchange{Body: events(begins, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"read","input":{}}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"x\":"}}`)}, llm.ClassTruncated, "cut off", ""},
		{"ends without a stop reason", llmtest.Exchange{Reply: "one", Ending: llmtest.Ending{Finish: "none", NoDone: true}}, llm.ClassTruncated, "cut off", "one"},
		{"ends within a line", llmtest.Exchange{Body: events(begins) + `data: {"type":"content_bl`}, llm.ClassTruncated, "cut off", ""},
		{"empty answer", llmtest.Exchange{Body: "\n"}, llm.ClassTruncated, "cut off", ""},
		{"overloaded in the stream", inStream("overloaded_error", "Overloaded"), llm.ClassServer, "Overloaded", "one"},
		{"too many in the stream", inStream("rate_limit_error", "slow down"), llm.ClassRateLimit, "slow down", "one"},
		{"unknown in the stream", inStream("later_error", "what"), llm.ClassServer, "what", "one"},
		{"a body that is an error", llmtest.Exchange{Body: `{"type":"error","error":{"type":"api_error","message":"no stream here"}}`}, llm.ClassServer, "no stream here", ""},
		{"no JSON in the event", llmtest.Exchange{Body: "data: hello\n\n"}, llm.ClassProtocol, "hello", ""},
		{"another protocol", llmtest.Exchange{Body: `data: {"choices":[]}` + "\n\n"}, llm.ClassProtocol, "choices", ""},
		{"a web page", llmtest.Exchange{Body: "<!doctype html><title>Hi</title>"}, llm.ClassProtocol, "web page", ""},
		{"a line without end", llmtest.Exchange{Body: "data: {", BodySize: transport.LineLimit + 100}, llm.ClassProtocol, "longer", ""},
		{"401", status(401, "authentication_error", "invalid x-api-key"), llm.ClassAuth, "invalid x-api-key", ""},
		{"403", status(403, "permission_error", "not yours"), llm.ClassAuth, "not yours", ""},
		{"402", status(402, "billing_error", "pay"), llm.ClassQuota, "pay", ""},
		{"400 without credit", status(400, "invalid_request_error", "Your credit balance is too low"), llm.ClassQuota, "credit", ""},
		{"404 model", status(404, "not_found_error", "model: claude-9"), llm.ClassModel, "claude-9", ""},
		{"404", llmtest.Exchange{Status: 404, Body: "404 page not found"}, llm.ClassBadRequest, "page not found", ""},
		{"413", status(413, "request_too_large", "Request exceeds the maximum size"), llm.ClassTooLong, "maximum size", ""},
		{"400 too long", status(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"), llm.ClassTooLong, "210000", ""},
		{"400 too long with the reply", status(400, "invalid_request_error", "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000"), llm.ClassTooLong, "190000", ""},
		{"400", status(400, "invalid_request_error", "temperature: range: 0..1"), llm.ClassBadRequest, "temperature", ""},
		{"429", status(429, "rate_limit_error", "This request would exceed your rate limit"), llm.ClassRateLimit, "rate limit", ""},
		{"500", status(500, "api_error", "internal"), llm.ClassServer, "internal", ""},
		{"504", status(504, "timeout_error", "timed out"), llm.ClassServer, "timed out", ""},
		{"529", status(529, "overloaded_error", "Overloaded"), llm.ClassServer, "Overloaded", ""},
		{"10 MB of a web page", llmtest.Exchange{Status: 502, Body: "<html><head><title>Bad gateway</title>", BodySize: 10 << 20}, llm.ClassServer, "Bad gateway", ""},
		{"redirect", llmtest.Exchange{Status: 307, Body: "x", Headers: map[string]string{"Location": "https://u:p@elsewhere/v1?key=1"}}, llm.ClassProtocol, "https://elsewhere/v1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			reply, err := llmtest.Ask(t, provider(t, llmtest.Start(t, c.exchange), llm.ServerConfig{}), llmtest.Hello())
			if err == nil || llm.ClassOf(err) != c.class || !strings.Contains(err.Error(), c.says) || reply.Text != c.text || len(reply.Calls) > 0 {
				t.Fatalf("%+v, class %q, error %v", reply, llm.ClassOf(err), err)
			}
			if errors.Is(err, llm.ErrTruncated) != (c.class == llm.ClassTruncated) {
				t.Errorf("%v and ErrTruncated disagree", err)
			}
			if !strings.HasPrefix(err.Error(), "test: ") || len(err.Error()) > 500 || strings.ContainsAny(err.Error(), "\n\x1b\x00") {
				t.Errorf("the error is not fit for showing: %q", err)
			}
			if hint := llm.HintOf(err); hint == "" || strings.Contains(hint, "\n") || strings.Contains(hint+err.Error(), "OpenAI") {
				t.Errorf("the error is %v, the hint %q", err, hint)
			}
		})
	}
}

// The pause that an overloaded server demands is made, and the consumer sees one clean reply.
func TestRetryAfter(t *testing.T) {
	overloaded := status(529, "overloaded_error", "Overloaded")
	overloaded.Headers = map[string]string{"Retry-After": "7"}
	_, err := llmtest.Ask(t, provider(t, llmtest.Start(t, overloaded), llm.ServerConfig{}), llmtest.Hello())
	if failure, ok := errors.AsType[*llm.Error](err); !ok || failure.RetryAfter != 7*time.Second || failure.Status != 529 {
		t.Errorf("%+v", err)
	}
	overloaded.Headers = map[string]string{"Retry-After-Ms": "50"}
	late := inStream("overloaded_error", "Overloaded")
	late.Reply = ""
	server := llmtest.Start(t, overloaded, late, llmtest.Exchange{Reply: "here"})
	reply, err := llmtest.Ask(t, llm.Retry{Next: provider(t, server, llm.ServerConfig{}), FirstPause: time.Millisecond}, llmtest.Hello())
	if err != nil || reply.Text != "here" || len(server.Requests()) != 3 {
		t.Errorf("%+v, %v, %d requests", reply, err, len(server.Requests()))
	}
}

// A reply that may be longer than the model writes is asked for again with the number that the server says,
// which is kept.
func TestRepliesAreAsLongAsModelsWrite(t *testing.T) {
	server := llmtest.Start(t, status(400, "invalid_request_error", "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for test-model"), llmtest.Exchange{Times: 2, Reply: "x"})
	model := provider(t, server, llm.ServerConfig{})
	for range 2 {
		if _, err := llmtest.Ask(t, model, llmtest.Hello()); err != nil {
			t.Fatal(err)
		}
	}
	var got []any
	for i := range server.Requests() {
		got = append(got, body(t, server, i)["max_tokens"])
	}
	if !slices.Equal(got, []any{32000.0, 8192.0, 8192.0}) {
		t.Errorf("the replies may be %v tokens long", got)
	}
}
