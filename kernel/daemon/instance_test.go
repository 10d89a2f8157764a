package daemon_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/daemon"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/rpc/rpctest"
)

// timeout is how long a test waits for what should happen at once: it only
// bounds a failure.
const timeout = 2 * time.Minute

// canary is the API key: it must turn up nowhere.
const canary = "sk-canary-5f0c9d1e7a"

// instance is a home with its state, on the disk, and what a kernel in it is
// told by its environment.
type instance struct {
	paths     config.Paths
	variables map[string]string
	clock     func() time.Time // nil for the machine's
}

// newInstance makes a home whose model is a server with this script.
func newInstance(t testing.TB, exchanges ...llmtest.Exchange) *instance {
	t.Helper()
	in, _ := newInstanceAndModel(t, exchanges...)
	return in
}

func newInstanceAndModel(t testing.TB, exchanges ...llmtest.Exchange) (*instance, *llmtest.Server) {
	t.Helper()
	server := llmtest.Start(t, exchanges...)
	in := &instance{variables: map[string]string{
		"ORG_AGENT_LLM_BASE_URL": server.URL(), "ORG_AGENT_LLM_MODEL": "test-model", "ORG_AGENT_LLM_API_KEY": canary,
	}}
	in.settle(t)
	return in, server
}

// settle gives the instance directories of its own. The run directory is a
// short one: the names of sockets are bounded.
func (in *instance) settle(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short starts no kernel")
	}
	directory := t.TempDir()
	run, err := os.MkdirTemp("", "oa")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(run) })
	in.variables["HOME"] = directory
	in.variables["XDG_STATE_HOME"] = filepath.Join(directory, "state")
	in.variables["XDG_RUNTIME_DIR"] = run
	if in.paths, err = config.FindPaths("", in.env); err != nil {
		t.Fatal(err)
	}
}

func (in *instance) env(name string) string { return in.variables[name] }

// write puts a file into the home.
func (in *instance) write(t testing.TB, name, text string) {
	t.Helper()
	path := filepath.Join(in.paths.Home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// mainFile is the file of the conversation "main".
func (in *instance) mainFile() string { return filepath.Join(in.paths.Sessions, "main.org") }

// conversation is the text of a session's file, "" if there is none.
func (in *instance) conversation(t testing.TB, session string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(in.paths.Sessions, session+".org"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

// journal opens the journal beside the kernel. Close it.
func (in *instance) journal(t testing.TB) *journal.Journal {
	t.Helper()
	j, err := journal.Open(t.Context(), in.paths.Journal)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// rows are the journal's rows, read beside the kernel.
func (in *instance) rows(t testing.TB, query journal.Query) []journal.Entry {
	t.Helper()
	j := in.journal(t)
	defer j.Close()
	rows, err := j.Records.Entries(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func (in *instance) token(t testing.TB) rpc.Token {
	t.Helper()
	token, err := config.ReadToken(in.paths.Token)
	if err != nil {
		t.Fatal(err)
	}
	return rpc.Token(token)
}

// editor opens an Emacs; the test's end closes it.
func (in *instance) editor(t testing.TB, c rpctest.Config) *rpctest.Editor {
	t.Helper()
	c.Socket, c.Token, c.Codec = in.paths.Socket, in.token(t), rpc.Plist
	e, err := rpctest.Open(within(t), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// within is a context that bounds how long a failing test waits.
func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), timeout)
	t.Cleanup(cancel)
	return ctx
}

// kernel is a kernel in this process.
type kernel struct {
	stop  context.CancelFunc
	ended chan struct{}
	err   error
}

// start runs a kernel until the test ends, or stop is called.
func (in *instance) start(t testing.TB) *kernel {
	t.Helper()
	return in.startWith(t, daemon.Config{})
}

// startWith is start of a kernel with such a configuration.
func (in *instance) startWith(t testing.TB, c daemon.Config) *kernel {
	t.Helper()
	k, err := in.tryStart(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := k.end(); err != nil {
			t.Error("the kernel ended:", err)
		}
	})
	return k
}

// tryStart runs a kernel and returns when it is ready, or why it is not.
func (in *instance) tryStart(c daemon.Config) (*kernel, error) {
	ctx, stop := context.WithCancel(context.Background())
	k := &kernel{stop: stop, ended: make(chan struct{})}
	ready := make(chan struct{})
	c.Drivers = testDrivers()
	c.Env, c.Version, c.Now, c.Ready = in.env, "test", in.clock, func(string) { close(ready) }
	go func() {
		defer close(k.ended)
		k.err = daemon.Run(ctx, c)
	}()
	select {
	case <-ready:
		return k, nil
	case <-k.ended:
		stop()
		if k.err == nil {
			return nil, errors.New("the kernel ended without an error before it was ready")
		}
		return nil, k.err
	}
}

// end stops the kernel and waits; a second call returns the same.
func (k *kernel) end() error {
	k.stop()
	<-k.ended
	return k.err
}

// process is a kernel in a process of its own.
type process struct {
	*exec.Cmd
	complaint bytes.Buffer
}

// spawn starts a kernel as a process and waits until it is ready. The test's end
// kills it.
func (in *instance) spawn(t testing.TB) *process {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{Cmd: exec.Command(program)}
	p.Env = []string{kernelVariable + "=1", "PATH=" + os.Getenv("PATH"), "GOCOVERDIR=" + t.TempDir()}
	for name, value := range in.variables {
		p.Env = append(p.Env, name+"="+value)
	}
	p.Stderr = &p.complaint
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || strings.TrimSpace(line) == "" {
		_ = p.Wait()
		t.Fatalf("the kernel is not ready: %v, %s", err, p.complaint.String())
	}
	return p
}

// kill ends the process as SIGKILL does; a second call does nothing.
func (p *process) kill() {
	_ = p.Process.Kill()
	_ = p.Wait()
}

// ask sends a question and waits for the end of its turn.
func ask(t testing.TB, e *rpctest.Editor, id, text string) outcome {
	t.Helper()
	finished, err := e.Ask(within(t), id, text)
	if err != nil {
		t.Fatalf("ask %s: %v; the buffer is\n%s", id, err, e.Text())
	}
	return outcome{string(finished.State), finished.Notice, finished.Turn}
}

type outcome struct{ state, notice, turn string }

// held is a file that a model waits for before it goes on, and what puts it there.
func held(t testing.TB) (file string, letGo func()) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "go")
	return file, func() {
		t.Helper()
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// see waits until the editor's state is as it should be.
func see(t testing.TB, e *rpctest.Editor, what string, condition func() bool) {
	t.Helper()
	if err := e.Wait(within(t), condition); err != nil {
		t.Fatalf("%s: %v; the buffer is\n%s\nnotices %q", what, err, e.Text(), e.Notices())
	}
}

// idle waits until nothing runs.
func idle(t testing.TB, e *rpctest.Editor) {
	t.Helper()
	until(t, "the kernel's idleness", func() bool {
		var status protocol.StatusResult
		if err := e.Call(within(t), protocol.MethodStatus, protocol.Empty{}, &status); err != nil {
			t.Fatal(err)
		}
		return status.Running+status.Queued == 0
	})
}

// cancel stops a turn that runs or waits.
func cancel(t testing.TB, e *rpctest.Editor, turn string) {
	t.Helper()
	var result protocol.TurnCancelResult
	if err := e.Call(within(t), protocol.MethodTurnCancel, protocol.TurnParams{Turn: turn}, &result); err != nil || !result.Cancelled {
		t.Fatalf("cancel %s: %+v, %v", turn, result, err)
	}
}

// until waits for what no client is told of.
func until(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(timeout); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not happen", what)
		}
	}
}

var (
	drawer    = regexp.MustCompile(`(?m)^:(?:PROPERTIES|THOUGHTS|COMMENTARY|CALLS):\n(?:.*\n)*?:END:\n`)
	whoseTags = regexp.MustCompile(`(?m)[ \t]+:(user|agent):$`)
)

// bare is a conversation without drawers and tags, for comparing.
func bare(text string) string {
	return whoseTags.ReplaceAllString(drawer.ReplaceAllString(text, ""), "")
}

// wantBare compares a buffer with what a person should see.
func wantBare(t testing.TB, e *rpctest.Editor, want string) {
	t.Helper()
	if got := bare(e.Text()); got != want || e.Previewing() || len(e.Problems()) > 0 {
		t.Errorf("the buffer is\n%s\nwant\n%s\nproblems %q", got, want, e.Problems())
	}
}

// converged waits until the file is the keeper's buffer, byte for byte.
func converged(t testing.TB, in *instance, e *rpctest.Editor) {
	t.Helper()
	until(t, "the file being the buffer", func() bool { return in.conversation(t, "main") == e.Text() })
}

// lisp is a note with one skill.
func lisp(code string) string {
	return "#+TITLE: a test's note\n\n#+begin_src lisp\n" + code + "\n#+end_src\n"
}

// outline is the headings above one of level n+1.
func outline(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat("*", i+1) + " above\n:PROPERTIES:\n:ID: above" + string(rune('0'+i)) + "\n:END:\n")
	}
	return b.String()
}

// sendAt sends a question that stands in the buffer already, at a level.
func sendAt(t testing.TB, e *rpctest.Editor, id, text string, level int) {
	t.Helper()
	err := e.Call(within(t), protocol.MethodEvent, protocol.Object{
		{Key: "sensor", Value: protocol.Keyword("chat-message")}, {Key: "id", Value: id},
		{Key: "text", Value: text}, {Key: "level", Value: int64(level)},
	}, &protocol.EventResult{})
	if err != nil {
		t.Fatal(err)
	}
}

// handingOn is a rule that lets work be handed on, so that a test need not decide each time.
const handingOn = "* Rules\n| rule | matches | verdict | why | since |\n| tool start_subagent | | allow | a test | |\n"

// batchOf is a reply that hands on tasks together.
func batchOf(tasks ...string) string {
	var b strings.Builder
	for _, task := range tasks {
		fmt.Fprintf(&b, `(:tool "start_subagent" :args (:task %q :label %q))`, task, task)
	}
	return "(:type :REQUEST :target :tool :action :batch :calls (" + b.String() + "))"
}

// subagentsOf lists the subagents of a conversation.
func subagentsOf(t testing.TB, e *rpctest.Editor, session string) []protocol.Subagent {
	t.Helper()
	var result protocol.SubagentListResult
	if err := e.Call(within(t), protocol.MethodSubagentList, protocol.SubagentListParams{Session: session}, &result); err != nil {
		t.Fatal(err)
	}
	return result.Subagents
}
