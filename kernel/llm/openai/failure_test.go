package openai_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/llm/openai"
	"org-agent/kernel/llm/transport"
	"org-agent/kernel/secret"
)

// TestFailures checks that each fault has its class and the server's message, and that the text
// before it is kept.
func TestFailures(t *testing.T) {
	html := map[string]string{"Content-Type": "text/html"}
	cases := []struct {
		name     string
		exchange llmtest.Exchange
		class    llm.Class
		says     string
		text     string
	}{
		{"cut in the middle", llmtest.Exchange{Reply: "one two three", Chunk: 4, Fault: llmtest.Fault{CutAfter: 2}}, llm.ClassTruncated, "cut off", "one two "},
		{"cut before the first delta", llmtest.Exchange{Reply: "one", Fault: llmtest.Fault{CutAfter: -1}}, llm.ClassTruncated, "cut off", ""},
		{"ends without a finish reason", llmtest.Exchange{Reply: "one", Ending: llmtest.Ending{Finish: "none", NoDone: true}}, llm.ClassTruncated, "cut off", "one"},
		{"ends with [DONE] alone", llmtest.Exchange{Ending: llmtest.Ending{Finish: "none", NoUsage: true}}, llm.ClassTruncated, "cut off", ""},
		{"ends within a line", llmtest.Exchange{Body: `data: {"choices":[{"delta":{"content":"on`}, llm.ClassTruncated, "cut off", ""},
		{"empty answer", llmtest.Exchange{Body: "\n"}, llm.ClassTruncated, "cut off", ""},
		{"error in the stream", llmtest.Exchange{Reply: "one", Fault: llmtest.Fault{Error: json.RawMessage(`{"message":"out of memory","code":"x"}`)}}, llm.ClassServer, "out of memory", "one"},
		{"error in the stream, behind keep-alives", llmtest.Exchange{Framing: llmtest.Framing{KeepAlives: 400}, Fault: llmtest.Fault{Error: json.RawMessage(`{"message":"out of memory"}`)}}, llm.ClassServer, "out of memory", ""},
		{"error in the stream with a status", llmtest.Exchange{Fault: llmtest.Fault{Error: json.RawMessage(`{"message":"slow down","code":429}`)}}, llm.ClassRateLimit, "slow down", ""},
		{"error in the stream is a string", llmtest.Exchange{Fault: llmtest.Fault{Error: json.RawMessage(`"it broke"`)}}, llm.ClassServer, "it broke", ""},
		{"error first in the event", llmtest.Exchange{Body: "data: {\"error\":{\"message\":{\"deep\":1}}}\n\n"}, llm.ClassServer, "deep", ""},
		{"error as a field", llmtest.Exchange{Body: "error: {\"message\":\"slot busy\"}\n\n"}, llm.ClassServer, "slot busy", ""},
		{"finish reason error", llmtest.Exchange{Reply: "one", Ending: llmtest.Ending{Finish: "error"}}, llm.ClassServer, "error", "one"},
		{"a body that is an error", llmtest.Exchange{Body: `{"error":{"message":"no stream here"}}`}, llm.ClassServer, "no stream here", ""},
		{"no JSON in the event", llmtest.Exchange{Body: "data: hello\n\n"}, llm.ClassProtocol, "hello", ""},
		{"a web page", llmtest.Exchange{Body: "<!doctype html><title>Hi</title>", Headers: html}, llm.ClassProtocol, "web page", ""},
		{"a line without end", llmtest.Exchange{Body: "data: {", BodySize: transport.LineLimit + 100}, llm.ClassProtocol, "longer", ""},
		{"401", status(401, `{"error":{"message":"Incorrect API key","type":"invalid_request_error","code":"invalid_api_key"}}`), llm.ClassAuth, "Incorrect API key", ""},
		{"403", status(403, `{"message":"not yours"}`), llm.ClassAuth, "not yours", ""},
		{"400 about the key", status(400, `{"error":{"message":"API key not valid"}}`), llm.ClassAuth, "API key not valid", ""},
		{"400 about an image", status(400, `{"error":{"message":"Invalid content type. image_url is only supported by certain models."}}`), llm.ClassBadRequest, "image_url", ""},
		{"404 about an image", status(404, `{"error":{"message":"No endpoints found for this model that support image input"}}`), llm.ClassBadRequest, "image input", ""},
		{"500 about an image", status(500, `{"error":{"message":"image input is not supported - hint: you may need to provide the mmproj"}}`), llm.ClassBadRequest, "mmproj", ""},
		{"404 about a model that sees", status(404, `{"error":{"message":"The model gpt-4-vision does not exist"}}`), llm.ClassModel, "vision", ""},
		{"402", status(402, `{"error":{"message":"pay"}}`), llm.ClassQuota, "pay", ""},
		{"429", status(429, `{"error":{"message":"Rate limit reached"}}`), llm.ClassRateLimit, "Rate limit reached", ""},
		{"429 without credit", status(429, `{"error":{"message":"You exceeded","code":"insufficient_quota"}}`), llm.ClassQuota, "You exceeded", ""},
		{"400", status(400, `{"error":{"message":"bad temperature"}}`), llm.ClassBadRequest, "bad temperature", ""},
		{"400 too long", status(400, `{"error":{"message":"This model's maximum context length is 8192 tokens","code":"context_length_exceeded"}}`), llm.ClassTooLong, "8192", ""},
		{"404", status(404, `404 page not found`), llm.ClassBadRequest, "page not found", ""},
		{"404 model", status(404, `{"error":{"message":"model 'x' not found, try pulling it first"}}`), llm.ClassModel, "pulling", ""},
		{"error is a string", status(400, `{"error":"unexpected field"}`), llm.ClassBadRequest, "unexpected field", ""},
		{"500, error is a string", status(500, `{"error":"it broke"}`), llm.ClassServer, "it broke", ""},
		{"422 with a detail", status(422, `{"detail":[{"msg":"field required"}]}`), llm.ClassBadRequest, "field required", ""},
		{"500", status(500, `{"error":{"message":"internal"}}`), llm.ClassServer, "internal", ""},
		{"503 without a body", status(503, ""), llm.ClassServer, "503", ""},
		{"10 MB of a web page", llmtest.Exchange{Status: 502, Headers: html, Body: "<html><head><title>Bad gateway</title>", BodySize: 10 << 20}, llm.ClassServer, "Bad gateway", ""},
		{"an error that never ends", llmtest.Exchange{Status: 500, Body: "full", BodySize: 100 << 10, Ending: llmtest.Ending{HangAtEnd: true}}, llm.ClassServer, "full", ""},
		{"control characters", status(500, "a\x1b[31mb\nc\x00"), llm.ClassServer, "a [31mb c", ""},
		{"redirect", llmtest.Exchange{Status: 307, Body: "x", Headers: map[string]string{"Location": "https://u:p@elsewhere/v1?key=1"}}, llm.ClassProtocol, "https://elsewhere/v1", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			server := llmtest.Start(t, c.exchange)
			reply, err := llmtest.Ask(t, provider(t, server, llm.ServerConfig{}), llmtest.Hello())
			if err == nil {
				t.Fatalf("no error, but %+v", reply)
			}
			if llm.ClassOf(err) != c.class || !strings.Contains(err.Error(), c.says) || reply.Text != c.text {
				t.Errorf("text %q, class %q, error %q", reply.Text, llm.ClassOf(err), err)
			}
			if errors.Is(err, llm.ErrTruncated) != (c.class == llm.ClassTruncated) {
				t.Errorf("%v and ErrTruncated disagree", err)
			}
			if !strings.HasPrefix(err.Error(), "test: ") || len(err.Error()) > 500 || strings.ContainsAny(err.Error(), "\n\x1b\x00") {
				t.Errorf("the error is not fit for showing: %q", err)
			}
			if hint := llm.HintOf(err); hint == "" || strings.Contains(hint, "\n") {
				t.Errorf("the hint is %q", hint)
			}
		})
	}
}

// TestFailuresOfWholeAnswers checks that an answer that is not streamed fails as a stream does: by the code and with
// the message that the server sent.
func TestFailuresOfWholeAnswers(t *testing.T) {
	for _, c := range []struct {
		body  string
		class llm.Class
		says  string
	}{
		{`{"error":{"message":"You exceeded","code":"insufficient_quota"}}`, llm.ClassQuota, "You exceeded"},
		{`{"error":{"message":["one","two"],"code":7}}`, llm.ClassRateLimit, "one, two"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusTooManyRequests)
			fmt.Fprint(w, c.body)
		}))
		defer server.Close()
		p, err := openai.New(llm.ServerConfig{BaseURL: server.URL + "/v1", Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		_, ofList := p.Models(t.Context())
		_, ofEmbeddings := p.Embed(t.Context(), []string{"one"})
		_, ofStream := llmtest.Ask(t, p, llmtest.Hello())
		for _, err := range []error{ofList, ofEmbeddings, ofStream} {
			if err == nil || llm.ClassOf(err) != c.class || !strings.HasSuffix(err.Error(), ": "+c.says) {
				t.Errorf("%s: class %q, error %v", c.body, llm.ClassOf(err), err)
			}
		}
	}
}

func status(code int, body string) llmtest.Exchange {
	return llmtest.Exchange{Status: code, Body: body}
}

func TestRetryAfter(t *testing.T) {
	date := time.Now().Add(time.Hour).UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT")
	for _, c := range []struct {
		header, value string
		low, high     time.Duration
	}{
		{"Retry-After", "7", 7 * time.Second, 7 * time.Second},
		{"Retry-After", "1.5", 1500 * time.Millisecond, 1500 * time.Millisecond},
		{"Retry-After-Ms", "250", 250 * time.Millisecond, 250 * time.Millisecond},
		{"Retry-After", date, 50 * time.Minute, time.Hour},
		{"Retry-After", "soon", 0, 0},
		{"Retry-After", "-5", 0, 0},
		{"Retry-After", "1e300", 24 * time.Hour, 24 * time.Hour},
		{"Retry-After", "NaN", 0, 0},
	} {
		server := llmtest.Start(t, llmtest.Exchange{Status: 429, Headers: map[string]string{c.header: c.value}})
		_, err := llmtest.Ask(t, provider(t, server, llm.ServerConfig{}), llmtest.Hello())
		e, ok := errors.AsType[*llm.Error](err)
		if !ok || e.RetryAfter < c.low || e.RetryAfter > c.high {
			t.Errorf("%s: %s gave %+v", c.header, c.value, err)
		}
	}
}

// TestRateLimitThenSuccess checks the whole way: the pause that the server asks for passes, and the
// consumer sees one clean reply.
func TestRateLimitThenSuccess(t *testing.T) {
	server := llmtest.Start(t,
		llmtest.Exchange{Status: 429, Headers: map[string]string{"Retry-After-Ms": "200"}},
		llmtest.Exchange{Fault: llmtest.Fault{CutAfter: -1}, Headers: map[string]string{}},
		llmtest.Exchange{Reply: "here"})
	begin := time.Now()
	reply, err := llmtest.Ask(t, llm.Retry{Next: provider(t, server, llm.ServerConfig{}), FirstPause: time.Millisecond}, llmtest.Hello())
	if err != nil || reply.Text != "here" {
		t.Fatalf("got %+v, %v", reply, err)
	}
	if waited := time.Since(begin); waited < 200*time.Millisecond {
		t.Errorf("asked again after %s", waited)
	}
	if n := len(server.Requests()); n != 3 {
		t.Errorf("%d requests", n)
	}
}

func TestServerErrorForEver(t *testing.T) {
	server := llmtest.Start(t, llmtest.Exchange{Times: -1, Status: 500})
	_, err := llmtest.Ask(t, llm.Retry{Next: provider(t, server, llm.ServerConfig{}), Attempts: 3, FirstPause: time.Millisecond}, llmtest.Hello())
	if llm.ClassOf(err) != llm.ClassServer {
		t.Errorf("the error is %v", err)
	}
	if n := len(server.Requests()); n != 3 {
		t.Errorf("%d requests", n)
	}
}

// TestSecretsStaySecret checks that neither the key nor a secret in the address occurs in an error,
// whatever the server answers.
func TestSecretsStaySecret(t *testing.T) {
	const key, header, password, query = "sk-very-secret", "header-secret", "pass-secret", "query-secret"
	server := llmtest.Start(t, llmtest.Exchange{Status: 401, Body: `{"error":{"message":"bad key ` + key + ` with ` + header + `"}}`})
	address := strings.Replace(server.URL(), "http://", "http://user:"+password+"@", 1) + "?key=" + query
	config := llm.ServerConfig{Name: "test", BaseURL: address, Key: key, Headers: map[string]secret.Text{"X-Key": header}}
	model := provider(t, server, config)
	_, refused := llmtest.Ask(t, model, llmtest.Hello())
	server.Close()
	_, unreachable := llmtest.Ask(t, model, llmtest.Hello())
	_, listed := model.Models(t.Context())
	_, invalid := openai.New(llm.ServerConfig{BaseURL: "ftp://user:" + password + "@host/?key=" + query})
	for _, shown := range []string{
		fmt.Sprintf("%v %+v %#v", refused, refused, llm.HintOf(refused)), fmt.Sprint(unreachable, llm.HintOf(unreachable)),
		fmt.Sprint(listed, llm.HintOf(listed)), fmt.Sprint(invalid), fmt.Sprintf("%v %+v %#v", config, config, config), model.BaseURL(),
	} {
		for _, secret := range []string{key, header, password, query} {
			if strings.Contains(shown, secret) {
				t.Errorf("%q shows %q", shown, secret)
			}
		}
	}
}

// TestImagesNotTaken checks that the error for an image to a model without images says what to do.
func TestImagesNotTaken(t *testing.T) {
	server := llmtest.Start(t, status(400, `{"error":{"message":"this model does not support images"}}`))
	_, err := llmtest.Ask(t, provider(t, server, llm.ServerConfig{}), llmtest.Hello())
	if hint := llm.HintOf(err); !strings.Contains(hint, "leave them out") || !strings.Contains(hint, ":IMAGES: omit") {
		t.Errorf("%v: %s", err, hint)
	}
}
