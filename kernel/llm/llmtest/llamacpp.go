package llmtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// ModelsVariable is the environment variable with the directory of llama.cpp's server and of the models,
// which "make test-model" installs.
const ModelsVariable = "ORG_AGENT_MODELS"

// loadTime is how long the server may take to load a model.
const loadTime = 2 * time.Minute

// LlamaCpp is llama.cpp's own server with a model in memory. It listens on this machine only.
type LlamaCpp struct {
	url     string
	process *exec.Cmd
	ended   chan struct{}
	log     string
}

// StartLlamaCpp starts the server with a model of the directory that [ModelsVariable] names, such as "smollm2",
// and the server's own options. It does not wait until the model is loaded; [LlamaCpp.Wait] does. The server
// ends with the test, which shows what it wrote if the test fails.
func StartLlamaCpp(t testing.TB, model string, options ...string) *LlamaCpp {
	t.Helper()
	directory := os.Getenv(ModelsVariable)
	if directory == "" {
		t.Fatalf("%s is not set: run this with \"make test-model\"", ModelsVariable)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	free.Close()
	output, err := os.Create(filepath.Join(t.TempDir(), "llama-server.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	arguments := append([]string{"--model", filepath.Join(directory, model+".gguf"), "--alias", model, "--host", "127.0.0.1", "--port", strconv.Itoa(port),
		"--threads", "2", "--parallel", "1"}, options...)
	s := &LlamaCpp{url: fmt.Sprintf("http://127.0.0.1:%d", port), ended: make(chan struct{}), log: output.Name()}
	s.process = exec.Command(filepath.Join(directory, "llama-server"), arguments...)
	s.process.Stdout, s.process.Stderr = output, output
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = s.process.Wait() // it is killed, or the log says what it died of
		close(s.ended)
	}()
	t.Cleanup(func() {
		s.Kill()
		if written, err := os.ReadFile(s.log); t.Failed() && err == nil {
			t.Logf("llama.cpp's server wrote:\n%s", written[max(0, len(written)-4000):])
		}
	})
	return s
}

// URL returns the address of OpenAI's protocol.
func (s *LlamaCpp) URL() string { return s.url + "/v1" }

// Kill ends the server at once, as a crash does. It may be called again.
func (s *LlamaCpp) Kill() {
	_ = s.process.Process.Kill() // it may have ended
	<-s.ended
}

// Wait returns when the model is loaded, and fails the test if that takes too long.
func (s *LlamaCpp) Wait(t testing.TB) *LlamaCpp {
	t.Helper()
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		var health struct{ Status string }
		if s.ask(t, "health", &health) == nil && health.Status == "ok" {
			return s
		}
		select {
		case <-s.ended:
			t.Fatal("llama.cpp's server ended before it had loaded the model")
		default:
		}
		if time.Since(begun) > loadTime {
			t.Fatal("llama.cpp's server has not loaded the model")
		}
	}
}

// Busy reports whether the server is writing a reply.
func (s *LlamaCpp) Busy(t testing.TB) bool {
	t.Helper()
	var slots []struct {
		Processing bool `json:"is_processing"`
	}
	if err := s.ask(t, "slots", &slots); err != nil {
		t.Fatal(err)
	}
	for _, slot := range slots {
		if slot.Processing {
			return true
		}
	}
	return false
}

// ask reads an answer of the server as JSON.
func (s *LlamaCpp) ask(t testing.TB, path string, into any) error {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/"+path, nil)
	if err != nil {
		return fmt.Errorf("ask llama.cpp's server: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("ask llama.cpp's server: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return json.NewDecoder(response.Body).Decode(into)
}
