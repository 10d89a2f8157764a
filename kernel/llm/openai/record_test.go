//go:build model

package openai_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"org-agent/kernel/llm/llmtest"
)

var record = flag.Bool("update", false, "write the recordings anew")

// TestRealWire has the conversations of the recordings with llama.cpp's own server. What the provider sends and
// makes of the answers is what was recorded; the words of the model and what differs with each run are not
// compared.
func TestRealWire(t *testing.T) {
	for name, c := range wireCases() {
		t.Run(name, func(t *testing.T) {
			real := llmtest.StartLlamaCpp(t, c.model, c.options...)
			if !c.loading {
				real.Wait(t)
			}
			target, err := url.Parse(strings.TrimSuffix(real.URL(), "/v1"))
			if err != nil {
				t.Fatal(err)
			}
			archive := &txtar.Archive{Comment: []byte("What llama.cpp's own server was sent and sent. \"UPDATE=1 make test-model\" makes it anew.\n")}
			server := httptest.NewServer(recorder(t, target, archive))
			defer server.Close()
			for c.loading && !answers(target) { // until it listens
			}
			result := c.run(t, server.URL)
			t.Logf("%s", result)
			archive.Files = append(archive.Files, txtar.File{Name: "result", Data: []byte(result)})
			file := filepath.Join("testdata", "llamacpp", name+".txtar")
			if *record {
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			before, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(before.Files) != len(archive.Files) {
				t.Fatalf("%d files, and recorded are %d", len(archive.Files), len(before.Files))
			}
			for i, f := range archive.Files {
				if strings.HasPrefix(f.Name, "request") && !bytes.Equal(f.Data, before.Files[i].Data) {
					t.Errorf("the request is\n%s\nand recorded is\n%s", f.Data, before.Files[i].Data)
				}
				head, _, _ := strings.Cut(string(f.Data), "\n")
				if was, _, _ := strings.Cut(string(before.Files[i].Data), "\n"); strings.HasPrefix(f.Name, "answer") && head != was {
					t.Errorf("the answer is %s, and recorded is %s", head, was)
				}
			}
		})
	}
}

func answers(target *url.URL) bool {
	response, err := http.Get(target.JoinPath("health").String())
	if err == nil {
		response.Body.Close()
	}
	return err == nil
}

// recorder returns a server that hands requests on, and adds them and the answers to an archive.
func recorder(t *testing.T, target *url.URL, archive *txtar.Archive) http.Handler {
	proxy := httputil.NewSingleHostReverseProxy(target)
	var answer txtar.File
	proxy.ModifyResponse = func(r *http.Response) error {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		answer = txtar.File{Name: fmt.Sprintf("answer %d", len(archive.Files)/2+1), Data: []byte(fmt.Sprintf("%d %s\n%s", r.StatusCode, r.Header.Get("Content-Type"), withoutPlaces(body)))}
		r.Body = io.NopCloser(bytes.NewReader(body))
		return nil
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		request := txtar.File{Name: fmt.Sprintf("request %d", len(archive.Files)/2+1), Data: []byte(r.Method + " " + r.URL.RequestURI() + "\n" + string(body) + "\n")}
		proxy.ServeHTTP(w, r)
		archive.Files = append(archive.Files, request, answer)
	})
}

// withoutPlaces returns an answer without the place of the model on this machine.
func withoutPlaces(body []byte) string {
	return strings.ReplaceAll(string(body), os.Getenv(llmtest.ModelsVariable)+"/", "")
}
