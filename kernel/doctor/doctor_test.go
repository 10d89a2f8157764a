package doctor_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/doctor"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/llm/openai"
	"org-agent/kernel/skill"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// patient returns a healthy instance.
func patient(t *testing.T, variables map[string]string) doctor.Config {
	t.Helper()
	directory := t.TempDir()
	run, err := os.MkdirTemp("", "oa")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(run) })
	all := map[string]string{
		"HOME": directory, "XDG_STATE_HOME": filepath.Join(directory, "state"), "XDG_RUNTIME_DIR": run, "ORG_AGENT_LLM": "builtin",
	}
	for name, value := range variables {
		all[name] = value
	}
	env := func(name string) string { return all[name] }
	paths, err := config.FindPaths("", env)
	must(t, err)
	must(t, paths.Ensure())
	_, err = config.LoadOrCreateToken(paths.Token)
	must(t, err)
	j, err := journal.Open(t.Context(), paths.Journal)
	must(t, err)
	must(t, j.Close())
	return doctor.Config{Paths: paths, Drivers: llm.Drivers{openai.Driver()}, Env: env, Version: "1", Grants: func(config.Settings) *skill.Grants {
		return skill.NewGrants(skill.GrantsConfig{File: paths.Policy, Home: paths.Home, User: directory})
	}}
}

// of returns the findings of one check that are not good.
func of(found []doctor.Finding, check string) []doctor.Finding {
	var bad []doctor.Finding
	for _, f := range found {
		if f.Check == check && f.State != doctor.OK {
			bad = append(bad, f)
		}
	}
	return bad
}

// TestWell checks that a new instance has no fault except that it has no model.
func TestWell(t *testing.T) {
	for _, f := range doctor.Examine(t.Context(), patient(t, nil)) {
		if f.State != doctor.OK && f.Check != "model" && f.Check != "disk" {
			t.Errorf("%+v", f)
		}
	}
}

// TestLookingChangesNothing checks that looking at a missing instance does not create it.
func TestLookingChangesNothing(t *testing.T) {
	directory := t.TempDir()
	env := func(name string) string {
		return map[string]string{"HOME": directory, "XDG_RUNTIME_DIR": filepath.Join(directory, "run"), "ORG_AGENT_LLM": "builtin"}[name]
	}
	paths, err := config.FindPaths("", env)
	must(t, err)
	found := doctor.Examine(t.Context(), doctor.Config{Paths: paths, Drivers: llm.Drivers{openai.Driver()}, Env: env})
	if doctor.Worst(found) != doctor.Warn {
		t.Errorf("%+v", found)
	}
	if entries, err := os.ReadDir(directory); err != nil || len(entries) != 0 {
		t.Errorf("looking made %v, %v", entries, err)
	}
	doctor.Mend(t.Context(), doctor.Config{Paths: paths, Drivers: llm.Drivers{openai.Driver()}, Env: env})
	if _, err := os.Stat(paths.Config); err != nil {
		t.Errorf("mending did not make the home: %v", err)
	}
}

// TestMends breaks one thing at a time. It checks that the fault is found and repaired, and is gone
// afterwards.
func TestMends(t *testing.T) {
	for name, test := range map[string]struct {
		check, says string
		harm        func(t *testing.T, c doctor.Config)
	}{
		"no sessions":       {"home", "sessions is missing", func(t *testing.T, c doctor.Config) { must(t, os.Remove(c.Paths.Sessions)) }},
		"others write home": {"home", "others can write in the home", func(t *testing.T, c doctor.Config) { must(t, os.Chmod(c.Paths.Home, 0o777)) }},
		"others see state":  {"state", "has the mode 755, not 700", func(t *testing.T, c doctor.Config) { must(t, os.Chmod(c.Paths.State, 0o755)) }},
		"others read":       {"state", "others can read", func(t *testing.T, c doctor.Config) { must(t, os.Chmod(c.Paths.Journal, 0o644)) }},
		"journal read-only": {"state", "cannot be written", func(t *testing.T, c doctor.Config) { must(t, os.Chmod(c.Paths.Journal, 0o400)) }},
		"others see run":    {"run", "has the mode 777", func(t *testing.T, c doctor.Config) { must(t, os.Chmod(c.Paths.Run, 0o777)) }},
		"token is exposed":  {"token", "others can read it", func(t *testing.T, c doctor.Config) { must(t, os.Chmod(c.Paths.Token, 0o644)) }},
		"token is none":     {"token", "it holds no token", func(t *testing.T, c doctor.Config) { must(t, os.WriteFile(c.Paths.Token, []byte("x"), 0o600)) }},
		"kernel.json broken": {"kernel", "no client finds the kernel by it", func(t *testing.T, c doctor.Config) {
			must(t, os.WriteFile(c.Paths.KernelJSON, []byte(`{"pid":`), 0o600))
		}},
		"dead kernel": {"kernel", "a kernel has died here", func(t *testing.T, c doctor.Config) {
			must(t, config.WriteKernelInfo(c.Paths.KernelJSON, config.KernelInfo{PID: 1 << 22, Socket: c.Paths.Socket}))
			deadSocket(t, c)
		}},
		"dead socket":     {"kernel", "belongs to a dead kernel", deadSocket},
		"hung kernel":     {"kernel", "does not answer: no answer within", hungKernel},
		"journal damaged": {"journal", "is damaged", func(t *testing.T, c doctor.Config) { spoil(t, c.Paths.Journal) }},
		"journal is none": {"journal", "is damaged", func(t *testing.T, c doctor.Config) {
			must(t, os.WriteFile(c.Paths.Journal, []byte(strings.Repeat("no journal ", 1000)), 0o600))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c := patient(t, nil)
			test.harm(t, c)
			begun := time.Now()
			bad := of(doctor.Examine(t.Context(), c), test.check)
			text := ""
			for _, f := range bad {
				text += f.Text + f.Advice + f.Mend + "\n"
			}
			if len(bad) == 0 || !strings.Contains(text, test.says) || bad[0].Mend == "" {
				t.Fatalf("found %+v", bad)
			}
			if took := time.Since(begun); took > time.Minute {
				t.Errorf("looking took %v", took)
			}
			after := doctor.Mend(t.Context(), c)
			if bad := of(after, test.check); len(bad) > 0 {
				t.Errorf("mended: %+v", bad)
			}
			if !after[0].Mended || after[0].Check != test.check {
				t.Errorf("the repair is not reported: %+v", after[0])
			}
			if again := doctor.Mend(t.Context(), c, test.check); len(of(again, test.check)) > 0 || again[0].Mended {
				t.Errorf("mended again: %+v", again)
			}
		})
	}
}

// deadSocket leaves a socket on which no process listens.
func deadSocket(t *testing.T, c doctor.Config) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: c.Paths.Socket, Net: "unix"})
	must(t, err)
	l.SetUnlinkOnClose(false)
	must(t, l.Close())
}

// hungKernel starts a process that holds a socket and never answers.
func hungKernel(t *testing.T, c doctor.Config) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: c.Paths.Socket, Net: "unix"})
	must(t, err)
	l.SetUnlinkOnClose(false)
	socket, err := l.File()
	must(t, err)
	child := exec.Command("sleep", "600")
	child.ExtraFiles = []*os.File{socket} // it closes when the process dies
	must(t, child.Start())
	must(t, errors.Join(socket.Close(), l.Close()))
	reaped := make(chan struct{})
	go func() { _ = child.Wait(); close(reaped) }()
	t.Cleanup(func() { _ = child.Process.Kill(); <-reaped })
	must(t, config.WriteKernelInfo(c.Paths.KernelJSON, config.KernelInfo{PID: child.Process.Pid, Socket: c.Paths.Socket, Version: "1", Started: time.Now()}))
}

// spoil overwrites some pages of a journal.
func spoil(t *testing.T, path string) {
	data, err := os.ReadFile(path)
	must(t, err)
	for i := 4096; i < len(data); i++ {
		data[i] ^= 0x5a
	}
	must(t, os.WriteFile(path, data, 0o600))
	for _, suffix := range []string{"-wal", "-shm"} {
		_ = os.Remove(path + suffix)
	}
}

// TestDamagedJournalIsKept checks that the repair keeps the damaged file byte for byte.
func TestDamagedJournalIsKept(t *testing.T) {
	c := patient(t, nil)
	spoil(t, c.Paths.Journal)
	before, err := os.ReadFile(c.Paths.Journal)
	must(t, err)
	doctor.Mend(t.Context(), c, "journal")
	kept, err := filepath.Glob(c.Paths.Journal + ".damaged-*")
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept %v, %v", kept, err)
	}
	if after, err := os.ReadFile(kept[0]); err != nil || string(after) != string(before) {
		t.Errorf("it was changed: %v", err)
	}
}

// TestTells checks that a fault which only a person can repair comes with advice.
func TestTells(t *testing.T) {
	c := patient(t, nil)
	must(t, os.WriteFile(c.Paths.Config, []byte("* Settings\n:PROPERTIES:\n:LOG_LEVEL: loud\n:END:\n"), 0o644))
	must(t, os.WriteFile(filepath.Join(c.Paths.Skills, "bad.org"), []byte("#+begin_src lisp\n(defskill :bad\n#+end_src\n"), 0o644))
	found := doctor.Examine(t.Context(), c)
	for check, says := range map[string]string{"config": "config.org:3:1: error: LOG_LEVEL", "notes": "bad.org:2:"} {
		bad := of(found, check)
		if len(bad) == 0 || !strings.Contains(bad[0].Text, says) || bad[0].Advice == "" || bad[0].Mend != "" {
			t.Errorf("%s: %+v", check, bad)
		}
	}
	must(t, os.RemoveAll(c.Paths.Home))
	must(t, os.WriteFile(c.Paths.Home, nil, 0o644))
	if bad := of(doctor.Examine(t.Context(), c), "home"); len(bad) != 1 || bad[0].State != doctor.Fail || !strings.Contains(bad[0].Advice, "--home") {
		t.Errorf("a file in the home's place: %+v", bad)
	}
}

// TestModel checks that a server is asked only for its models, and that no key is shown.
func TestModel(t *testing.T) {
	var asked []string
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path)
		if r.Header.Get("Authorization") != "Bearer sk-canary" {
			status = http.StatusUnauthorized
		}
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{"data": []map[string]string{{"id": "one"}, {"id": "two"}}})
	}))
	variables := func(name, key string) map[string]string {
		return map[string]string{"ORG_AGENT_LLM": "", "ORG_AGENT_LLM_BASE_URL": server.URL + "/v1", "ORG_AGENT_LLM_MODEL": name, "ORG_AGENT_LLM_API_KEY": key}
	}
	look := func(name, key string) doctor.Finding {
		t.Helper()
		status = http.StatusOK
		found := doctor.Examine(t.Context(), patient(t, variables(name, key)), "model")
		if len(found) != 1 || strings.Contains(fmt.Sprint(found), "sk-") {
			t.Fatalf("%+v", found)
		}
		return found[0]
	}
	if f := look("two", "sk-canary"); f.State != doctor.OK || !strings.Contains(f.Text, "has two") {
		t.Errorf("%+v", f)
	}
	if f := look("three", "sk-canary"); f.State != doctor.Fail || !strings.Contains(f.Text, "has no three, but one, two") {
		t.Errorf("%+v", f)
	}
	if f := look("", "sk-canary"); f.State != doctor.Fail || !strings.Contains(f.Text, "2 models, and none is named") {
		t.Errorf("%+v", f)
	}
	if f := look("one", "sk-wrong"); f.State != doctor.Fail || f.Advice == "" {
		t.Errorf("%+v", f)
	}
	for _, request := range asked {
		if request != "GET /v1/models" {
			t.Errorf("the server was asked %s", request)
		}
	}
	server.Close()
	if f := look("one", "sk-canary"); f.State != doctor.Fail || f.Advice == "" {
		t.Errorf("without a server: %+v", f)
	}
}

// TestSpeech checks that the servers for speech are asked only for their models.
func TestSpeech(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path)
		if r.URL.Path != "/v1/models" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": []map[string]string{{"id": "whisper-1"}}})
	}))
	defer server.Close()
	c := patient(t, nil)
	look := func(transcription, voice string) []doctor.Finding {
		t.Helper()
		text := "* Speech\n** Transcription\n:PROPERTIES:\n:BASE_URL: " + transcription + "\n:MODEL: whisper-1\n:END:\n" +
			"** Voice\n:PROPERTIES:\n:BASE_URL: " + voice + "\n:MODEL: tts-1\n:VOICE: alloy\n:END:\n"
		if err := os.WriteFile(c.Paths.Config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		found := doctor.Examine(t.Context(), c, "speech")
		if len(found) != 2 {
			t.Fatalf("%+v", found)
		}
		return found
	}
	found := look(server.URL+"/v1", server.URL+"/v1")
	if found[0].State != doctor.OK || !strings.Contains(found[0].Text, "transcription") || found[1].State != doctor.Warn || !strings.Contains(found[1].Text, "does not list tts-1, but whisper-1") {
		t.Errorf("%+v", found)
	}
	found = look(server.URL+"/other", "http://127.0.0.1:1/v1")
	if found[0].State != doctor.OK || found[1].State != doctor.Fail || !strings.Contains(found[1].Text, "voice") || found[1].Advice == "" {
		t.Errorf("%+v", found)
	}
	for _, request := range asked {
		if !strings.HasPrefix(request, "GET ") || !strings.HasSuffix(request, "/models") {
			t.Errorf("the server was asked %s", request)
		}
	}
}

// TestEmbeddings checks that the server of embeddings is asked for one word, and that each kind of
// answer is reported with advice.
func TestEmbeddings(t *testing.T) {
	status, answer := http.StatusOK, `{"data": [{"index": 0, "embedding": [0.5, 0.25, 1]}]}`
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, r.URL.Path+" "+string(body))
		if r.Header.Get("Authorization") != "Bearer sk-canary" {
			status = http.StatusUnauthorized
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	defer server.Close()
	look := func(address, key string) doctor.Finding {
		t.Helper()
		c := patient(t, map[string]string{"EMBEDDINGS_KEY": key})
		must(t, os.WriteFile(c.Paths.Config, []byte("* Memory\n** Embeddings\n:PROPERTIES:\n:BASE_URL: "+address+"\n:MODEL: words-1\n:API_KEY: env:EMBEDDINGS_KEY\n:END:\n"), 0o600))
		found := doctor.Examine(t.Context(), c, "embeddings")
		if len(found) != 1 || strings.Contains(fmt.Sprint(found), "sk-") {
			t.Fatalf("%+v", found)
		}
		return found[0]
	}
	if f := look(server.URL+"/v1", "sk-canary"); f.State != doctor.OK || !strings.Contains(f.Text, "answers for words-1, with vectors of 3 numbers") {
		t.Errorf("%+v", f)
	}
	if len(asked) != 1 || !strings.HasPrefix(asked[0], "/v1/embeddings ") || !strings.Contains(asked[0], `"input":["notes"]`) {
		t.Errorf("the server was asked %q", asked)
	}
	if f := look("http://127.0.0.1:1/v1", "sk-canary"); f.State != doctor.Fail || !strings.Contains(f.Advice, "by their words only") || strings.HasPrefix(f.Advice, ";") {
		t.Errorf("without a server: %+v", f)
	}
	if f := look(server.URL+"/v1", ""); f.State != doctor.Fail || !strings.Contains(f.Text, "EMBEDDINGS_KEY") {
		t.Errorf("without a key: %+v", f)
	}
	if f := look(server.URL+"/v1", "sk-wrong"); f.State != doctor.Fail || f.Advice == "" {
		t.Errorf("with a wrong key: %+v", f)
	}
	for _, bad := range []string{`{"data": []}`, `{"data": [{"index": 0, "embedding": []}]}`, `<html>`, ``, `{"error": {"message": "no such model"}}`} {
		status, answer = http.StatusOK, bad
		if f := look(server.URL+"/v1", "sk-canary"); f.State != doctor.Fail || f.Advice == "" {
			t.Errorf("of %q: %+v", bad, f)
		}
	}
	if found := doctor.Examine(t.Context(), patient(t, nil), "embeddings"); len(found) != 0 {
		t.Errorf("where there is none: %+v", found)
	}
}

// TestPersonaIsLinted checks that an unknown tool, a name without effect and a name that is not
// used as written are found at their lines.
func TestPersonaIsLinted(t *testing.T) {
	c := patient(t, nil)
	c.Tools = []string{"memory_search", "use_skill"}
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(c.Paths.Home, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	put("TOOLS.org", "#+TITLE: Tools\n# the tool =comment=\n\nLook with =memory_search= first.\nThen use web_search.\nThe build is =make=, and the tool =frobnicate= helps; =use_skill= too.\n")
	must(t, os.Remove(filepath.Join(c.Paths.Home, "SOUL.org")))
	put("SOUL.md", "# About the tool `imagine`\n")
	put("MEMORY.org", "We spoke of the tool =frobnicate=.\n")
	put("prompt/style.org", "#+TITLE: Style\n\nUse {{tool:use_skill}} or {{tool:memory_serach}}.\n")
	put("prompt/.#style.org", "{{tool:nothing}}")
	put("IDENTITY.org", "- Name :: "+strings.Repeat("Sam ", 40)+"\n")
	put("skills/identity.org", "#+begin_src lisp\n(defidentity :name \"Max\")\n#+end_src\n")
	put("skills/reader.org", "#+begin_src lisp\n(defskill :reader :trigger (lambda (c) (identity :name) nil))\n#+end_src\n")
	var got []string
	for _, f := range of(doctor.Examine(t.Context(), c, "persona"), "persona") {
		got = append(got, strings.ReplaceAll(f.Text, c.Paths.Home+"/", ""))
	}
	want := []string{
		"IDENTITY.org: the prompt uses the name as \"Sam Sam ",
		"skills/identity.org:2: the agent is called Max here and Sam Sam ",
		"SOUL.md:1:19: there is no tool imagine",
		"TOOLS.org:5:10: there is no tool web_search", "TOOLS.org:6:36: there is no tool frobnicate",
		"prompt/style.org:3:34: there is no tool memory_serach",
	}
	if len(got) != len(want) {
		t.Fatalf("the doctor found %q", got)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("the doctor found %q, want %q", got[i], want[i])
		}
	}
	put("IDENTITY.org", "- Name :: Max\n")
	if found := of(doctor.Examine(t.Context(), c, "persona"), "persona"); len(found) != 4 {
		t.Errorf("of one name it found %+v", found)
	}
}
