package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/sandbox"
)

var update = flag.Bool("update", false, "rewrite what the scripts expect")

func TestMain(m *testing.M) {
	sandbox.Main()
	testscript.Main(m, map[string]func(){
		"org-agent": main,
	})
}

// startsKernels is what a test calls that runs the program as a person does, with a kernel behind it.
func startsKernels(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short starts no kernel")
	}
}

// TestScripts runs the whole program: every script has a home, a state directory
// and a run directory of its own. The kernel that a script started is stopped
// at its end.
func TestScripts(t *testing.T) {
	startsKernels(t)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setup,
		Condition: func(name string) (bool, error) {
			if name != "sandbox" {
				return false, fmt.Errorf("there is no condition %q", name)
			}
			kind, _ := sandbox.Probe(t.Context())
			return kind.Fenced(), nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"model":    startModel,
			"status":   wantStatus,
			"killed":   killKernel,
			"within":   within,
			"approval": findApproval,
			"question": findQuestion,
		},
	})
}

func setup(e *testscript.Env) error {
	// Sockets have short paths: the work directory may be too deep.
	run, err := os.MkdirTemp("", "oa")
	if err != nil {
		return err
	}
	e.Vars = append(e.Vars,
		"HOME="+e.WorkDir, "ORG_AGENT_HOME=", "ORG_AGENT_LLM=builtin",
		"XDG_RUNTIME_DIR="+run, "XDG_STATE_HOME="+filepath.Join(e.WorkDir, "state"))
	e.Defer(func() {
		env := func(name string) string { return e.Getenv(name) }
		_ = runHere(context.Background(), env, "stop")
		_ = os.RemoveAll(run)
	})
	return nil
}

// runHere runs a command in this process.
func runHere(ctx context.Context, env func(string) string, args ...string) error {
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	return run(ctx, args, strings.NewReader(""), new(strings.Builder), new(strings.Builder), env)
}

// startModel is the script command "model FILE": a server that answers as the
// JSON script says, and the environment that makes it the kernel's model.
func startModel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: model FILE")
	}
	script, err := llmtest.LoadScript(ts.MkAbs(args[0]))
	ts.Check(err)
	server, err := llmtest.Listen("127.0.0.1:0", script, nil)
	ts.Check(err)
	ts.Defer(server.Close)
	ts.Setenv("ORG_AGENT_LLM", "")
	ts.Setenv("ORG_AGENT_LLM_BASE_URL", server.URL())
	ts.Setenv("ORG_AGENT_LLM_MODEL", "test-model")
}

// wantStatus is "status N CMD ARGS…": the command ends with that exit status.
func wantStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND [ARG…]")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if got != args[0] {
		ts.Fatalf("exit status %s, want %s", got, args[0])
	}
}

// killKernel is "killed": SIGKILL for the kernel of the script's home.
func killKernel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: killed")
	}
	ts.Check(ts.Exec("org-agent", "status"))
	pid := regexp.MustCompile(`(?m)^pid\s+(\d+)$`).FindStringSubmatch(ts.ReadFile("stdout"))
	if pid == nil {
		ts.Fatalf("status names no process")
	}
	var n int
	_, err := fmt.Sscan(pid[1], &n)
	ts.Check(err)
	process, err := os.FindProcess(n)
	ts.Check(err)
	ts.Check(process.Kill())
}

// within is "within REGEXP CMD ARGS…": the command's stdout matches within a
// minute; it is run again until then.
func within(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: within REGEXP COMMAND [ARG…]")
	}
	want, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		_ = ts.Exec(args[1], args[2:]...)
		if want.MatchString(ts.ReadFile("stdout")) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s never printed %s", strings.Join(args[1:], " "), args[0])
		}
	}
}

// findApproval is "approval SESSION": sets APPROVAL to the id of what waits there.
func findApproval(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: approval SESSION")
	}
	ts.Check(ts.Exec("org-agent", "approve", "list"))
	id := regexp.MustCompile(`(?m)^(\S+)  ` + regexp.QuoteMeta(args[0]) + `  `).FindStringSubmatch(ts.ReadFile("stdout"))
	if id == nil {
		ts.Fatalf("nothing waits in %s", args[0])
	}
	ts.Setenv("APPROVAL", id[1])
}

// findQuestion is "question SESSION": sets QUESTION to the id of what is asked there.
func findQuestion(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: question SESSION")
	}
	ts.Check(ts.Exec("org-agent", "answer", "list"))
	id := regexp.MustCompile(`(?m)^(\S+)  ` + regexp.QuoteMeta(args[0]) + `  `).FindStringSubmatch(ts.ReadFile("stdout"))
	if id == nil {
		ts.Fatalf("nothing is asked in %s", args[0])
	}
	ts.Setenv("QUESTION", id[1])
}
