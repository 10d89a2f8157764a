package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"org-agent/kernel/llm/llmtest"
)

// person types and reads on the terminal on which the program runs.
type person struct {
	t        *testing.T
	terminal *os.File
	program  *exec.Cmd

	mu      sync.Mutex
	screen  strings.Builder
	matched int           // bytes of screen up to the end of the last match
	closed  chan struct{} // closed when the program has closed the terminal
}

// startOnTerminal starts the program on a new terminal.
func startOnTerminal(t *testing.T, env []string, args ...string) *person {
	t.Helper()
	terminal, other := openTerminal(t)
	program := exec.Command(executable(t), args...)
	program.Env = env
	program.Stdin, program.Stdout, program.Stderr = other, other, other
	program.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	_ = other.Close()
	p := &person{t: t, terminal: terminal, program: program, closed: make(chan struct{})}
	go func() {
		defer close(p.closed)
		part := make([]byte, 4096)
		for {
			n, err := terminal.Read(part)
			p.mu.Lock()
			p.screen.Write(part[:n])
			p.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = program.Process.Kill()
		_ = program.Wait()
		_ = terminal.Close()
		<-p.closed
	})
	return p
}

// executable returns a copy of this test binary named org-agent. Under this name it is the program, see
// [TestMain].
func executable(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "org-agent")
	if err := os.WriteFile(name, binary, 0o700); err != nil {
		t.Fatal(err)
	}
	return name
}

// openTerminal opens a pseudo-terminal. terminal is the side of the person, other that of the program.
func openTerminal(t *testing.T) (terminal, other *os.File) {
	t.Helper()
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(terminal.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	other, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return terminal, other
}

func (p *person) types(text string) {
	p.t.Helper()
	if _, err := p.terminal.WriteString(text); err != nil {
		p.t.Fatal(err)
	}
}

// sees waits until the words appear on the terminal, after the previous match.
func (p *person) sees(words string) {
	p.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		p.mu.Lock()
		rest := p.screen.String()[p.matched:]
		at := strings.Index(rest, words)
		if at >= 0 {
			p.matched += at + len(words)
		}
		p.mu.Unlock()
		if at >= 0 {
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("%q is not on the terminal, but:\n%s", words, rest)
		}
	}
}

// shown returns everything that the terminal has shown.
func (p *person) shown() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.screen.String()
}

// waitForExit waits until the program has ended, and checks its exit status.
func (p *person) waitForExit(status int) {
	p.t.Helper()
	<-p.closed
	_ = p.program.Wait()
	if got := p.program.ProcessState.ExitCode(); got != status {
		p.t.Fatalf("exit status %d, want %d:\n%s", got, status, p.shown())
	}
}

const modelScript = `{"models": ["test-model"], "exchanges": [
 {"match": "^print it$", "times": -1, "reply": "(:type :request :target :tool :action :call :tool \"ask_user\" :args (:title \"Printing\" :questions ((:question \"Which printer?\" :options (\"laser\" \"ink\") :name \"printer\") (:question \"How many?\" :kind :number :min 1 :max 9 :default \"1\" :name \"copies\") (:question \"The word?\" :kind :secret :name \"word\"))))"},
 {"match": "^do tell$", "times": -1, "reply": "(:type :request :target :emacs :action :insert-at-end :buffer \"*org-agent-chat: other*\" :text \"All of the text\\nin two lines\")"},
 {"match": "^do read$", "times": -1, "reply": "(:type :request :target :tool :action :call :tool \"read\" :args (:path \"~/x/text\"))"},
 {"match": "^hello$", "times": -1, "reply": "(:type :response :text \"Good day\")"},
 {"times": -1, "reply": "(:type :response :text \"Well then\")"}
]}`

const relayNote = `#+TITLE: Do as the model says
#+begin_src lisp
(defskill :do :priority 90
  :trigger (lambda (context) (uiop:string-prefix-p "do " (getf (getf context :payload) :text)))
  :neuro (lambda (context) (ask-neuro (getf (getf context :payload) :text))))
#+end_src
`

// newInstance makes a home whose model asks the person, and returns the environment variables for it.
func newInstance(t *testing.T) []string {
	t.Helper()
	skipIfShort(t)
	home := t.TempDir()
	replies := filepath.Join(home, "replies.json")
	if err := os.WriteFile(replies, []byte(modelScript), 0o600); err != nil {
		t.Fatal(err)
	}
	script, err := llmtest.LoadScript(replies)
	if err != nil {
		t.Fatal(err)
	}
	server, err := llmtest.Listen("127.0.0.1:0", script, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	runtime, err := os.MkdirTemp("", "oa")
	if err != nil {
		t.Fatal(err)
	}
	note := filepath.Join(home, ".org-agent", "skills", "do.org")
	if err := os.MkdirAll(filepath.Dir(note), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(note, []byte(relayNote), 0o644); err != nil {
		t.Fatal(err)
	}
	env := []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "XDG_RUNTIME_DIR=" + runtime, "XDG_STATE_HOME=" + filepath.Join(home, "state"),
		"ORG_AGENT_LLM_BASE_URL=" + server.URL(), "ORG_AGENT_LLM_MODEL=test-model", "TERM=xterm"}
	t.Cleanup(func() {
		_ = runInProcess(context.Background(), lookup(env), "stop") // the test's own context has ended
		_ = os.RemoveAll(runtime)
	})
	return env
}

func lookup(env []string) func(string) string {
	return func(name string) string {
		for _, variable := range env {
			if value, found := strings.CutPrefix(variable, name+"="); found {
				return value
			}
		}
		return ""
	}
}

// The conversation shows what a turn asks, and reads the person's answers.
func TestConversationAsks(t *testing.T) {
	env := newInstance(t)
	p := startOnTerminal(t, env, "chat")
	p.sees("* ")
	p.types("print it\n")
	p.sees("Printing")
	p.sees("2) ink")
	p.sees("printer> ")
	p.types("3\n")
	p.sees("printer> ")
	p.types("2\n")
	p.sees("by default 1")
	p.sees("copies> ")
	p.types("\n")
	p.sees("word> ")
	p.types("Sesam\n")
	p.sees("Well then")
	p.sees("* ")
	if strings.Contains(p.shown(), "Sesam") {
		t.Errorf("the secret was shown:\n%s", p.shown())
	}

	p.types("do tell\n")
	p.sees("All of the text")
	p.sees("in two lines")
	p.sees("allow this? y once, t in this turn")
	p.types("hm\n")
	p.sees("is none of these")
	p.types("n\n")
	p.sees("why not?")
	p.types("not nice\n")
	p.sees("Well then")
	p.sees("* ")

	// A postponed approval keeps waiting, and the next message asks again.
	p.types("do tell\n")
	p.sees("allow this?")
	p.types("\n")
	p.sees("it keeps waiting")
	p.sees("org-agent: run: org-agent approve ")
	p.sees("* ")
	p.types("hello\n")
	p.sees("in two lines")
	p.sees("allow this?")
	p.types("y\n")
	p.sees("Good day")
	p.sees("* ")
	p.types("\n")
	p.waitForExit(0)
}

// The first question about reading in a project offers rules for it, and r adds them.
func TestConversationOffersReading(t *testing.T) {
	env := newInstance(t)
	home := lookup(env)("HOME")
	if err := os.MkdirAll(filepath.Join(home, "x", ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "x", "text"), []byte("found\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := startOnTerminal(t, env, "chat")
	p.sees("* ")
	p.types("do tell\n")
	p.sees("allow this?")
	p.types("r\n") // not offered with this
	p.sees("is none of these")
	p.types("n\n\n")
	p.sees("Well then")
	p.sees("* ")
	p.types("do read\n")
	p.sees("runs in ~/x | cat **")
	p.sees("r with the rules for reading")
	p.types("r\n")
	p.sees("Well then")
	p.sees("* ")
	p.types("do read\n") // and nothing is asked
	p.sees("Well then")
	p.sees("* ")
	p.types("\n")
	p.waitForExit(0)
	source, err := os.ReadFile(filepath.Join(home, ".org-agent", "policy.org"))
	if err != nil || !strings.Contains(string(source), "| runs in ~/x | git log **") {
		t.Errorf("policy.org is, %v\n%s", err, source)
	}
}

// After an interrupt the ask keeps waiting. The next conversation shows it and asks again.
func TestConversationIsInterrupted(t *testing.T) {
	env := newInstance(t)
	p := startOnTerminal(t, env, "chat")
	p.sees("* ")
	p.types("print it\n")
	p.sees("printer> ")
	p.types("ink\n")
	p.sees("copies> ")
	p.types("3\n")
	p.sees("word> ")
	p.types("\x03")
	p.sees("it keeps waiting")
	p.sees("org-agent: run: org-agent answer ")
	p.waitForExit(130)

	p = startOnTerminal(t, env, "chat")
	p.sees("this asks you: Printing")
	p.sees("an empty line answers it")
	p.sees("* ")
	p.types("\n")
	p.sees("printer> ")
	p.types("\x04")
	p.sees("it keeps waiting")
	p.waitForExit(0)
}

// A line that was typed before the ask appeared is a message and no answer.
func TestEarlyLineIsNoAnswer(t *testing.T) {
	env := newInstance(t)
	p := startOnTerminal(t, env, "chat")
	p.sees("* ")
	p.types("do tell\ny\n")
	p.sees("allow this?")
	p.types("n\n\n")
	p.sees("Well then")
	p.sees("Well then") // to the message "y"
}

// A person who is answering is notified when another client answers first.
func TestConversationAnsweredElsewhere(t *testing.T) {
	env := newInstance(t)
	p := startOnTerminal(t, env, "chat")
	p.sees("* ")
	p.types("print it\n")
	p.sees("printer> ")
	p.types("in")
	var out strings.Builder
	if err := run(t.Context(), []string{"answer", "list"}, strings.NewReader(""), &out, &out, lookup(env)); err != nil {
		t.Fatal(err)
	}
	id, _, _ := strings.Cut(out.String(), " ")
	if err := runInProcess(t.Context(), lookup(env), "answer", id, "--decline", "no paper"); err != nil {
		t.Fatal(err)
	}
	p.sees("decided elsewhere (cli)")
	p.sees("Well then")
	p.types("\x15hello\n")
	p.sees("Good day")
	p.types("\x04")
	p.waitForExit(0)
}

// An interrupt ends the program at a question about what it is to do, too.
func TestQuestionIsInterrupted(t *testing.T) {
	env := newInstance(t)
	home := lookup(env)("HOME")
	if err := os.WriteFile(filepath.Join(home, "diary.gpg"), []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := startOnTerminal(t, env, "chat", "--add", filepath.Join(home, "diary.gpg"), "read this")
	p.sees("looks like a secret. send it to the model? [y/N]")
	p.types("\x03")
	p.waitForExit(130)
}
