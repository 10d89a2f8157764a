package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"org-agent/kernel/channel/channeltest/telegramtest"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/sandbox"
)

var update = flag.Bool("update", false, "update the expected output in the scripts")

func TestMain(m *testing.M) {
	sandbox.Main()
	testscript.Main(m, map[string]func(){
		"org-agent": main,
	})
}

// skipIfShort skips a test that starts a kernel, if -short is set.
func skipIfShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short starts no kernel")
	}
}

// TestScripts runs the whole program. Every script has its own home, state directory and run directory.
// The kernel that a script started is stopped at the end of the script.
func TestScripts(t *testing.T) {
	skipIfShort(t)
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
			"endless":  startEndless,
			"model":    startModel,
			"telegram": startTelegram,
			"says":     says,
			"hook":     talkByHook,
			"status":   checkStatus,
			"killed":   killKernel,
			"memory":   checkMemory,
			"within":   within,
			"approval": findApproval,
			"question": findQuestion,
		},
	})
}

func setup(e *testscript.Env) error {
	// The path of a socket must be short, so the run directory is not in the work directory.
	run, err := os.MkdirTemp("", "oa")
	if err != nil {
		return err
	}
	e.Vars = append(e.Vars,
		"HOME="+e.WorkDir, "ORG_AGENT_HOME=", "ORG_AGENT_LLM=builtin",
		"XDG_RUNTIME_DIR="+run, "XDG_STATE_HOME="+filepath.Join(e.WorkDir, "state"))
	e.Values[telegramServer] = telegramtest.New()
	e.Defer(func() {
		env := func(name string) string { return e.Getenv(name) }
		_ = runInProcess(context.Background(), env, "stop")
		_ = os.RemoveAll(run)
	})
	return nil
}

// runInProcess runs a command in this process.
func runInProcess(ctx context.Context, env func(string) string, args ...string) error {
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	return run(ctx, args, strings.NewReader(""), new(strings.Builder), new(strings.Builder), env)
}

// startModel is the script command "model FILE". It starts a server that answers by the JSON script, and
// sets the environment variables that make it the kernel's model.
func startModel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: model FILE")
	}
	script, err := llmtest.LoadScript(ts.MkAbs(args[0]))
	ts.Check(err)
	server, err := llmtest.Listen("127.0.0.1:0", script, nil)
	ts.Check(err)
	ts.Defer(server.Close)
	useModel(ts, server.URL())
}

// startTelegram is the script command "telegram". It starts a Bot API server at $TELEGRAM, whose bot has the token in $BOT.
func startTelegram(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: telegram")
	}
	server := httptest.NewServer(ts.Value(telegramServer).(*telegramtest.Server))
	ts.Defer(func() {
		server.CloseClientConnections() // the kernel, which ends later, waits for news in one
		server.Close()
	})
	ts.Setenv("TELEGRAM", server.URL)
	ts.Setenv("BOT", telegramtest.Token)
}

// telegramServer is the key of a script's Bot API server among its values.
const telegramServer = "telegram"

// says is the script command "says ID NAME WORDS…". Somebody writes to the bot in a private chat.
func says(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: says ID NAME WORD…")
	}
	id, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	server := ts.Value(telegramServer).(*telegramtest.Server)
	server.AddChat(telegramtest.Chat{ID: id, Type: "private", FirstName: args[1]})
	server.Say(id, map[string]any{"text": strings.Join(args[2:], " "), "from": map[string]any{"id": id, "is_bot": false, "first_name": args[1]}})
}

// checkStatus is "status N CMD ARGS…". It checks the exit status of the command.
func checkStatus(ts *testscript.TestScript, neg bool, args []string) {
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

// killKernel is "killed". It kills the kernel of the script's home with SIGKILL.
func killKernel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: killed")
	}
	process, err := os.FindProcess(kernelProcess(ts))
	ts.Check(err)
	ts.Check(process.Kill())
}

// kernelProcess returns the process of the kernel of the script's home.
func kernelProcess(ts *testscript.TestScript) (pid int) {
	ts.Check(ts.Exec("org-agent", "status"))
	named := regexp.MustCompile(`(?m)^pid\s+(\d+)$`).FindStringSubmatch(ts.ReadFile("stdout"))
	if named == nil {
		ts.Fatalf("status names no process")
	}
	_, err := fmt.Sscan(named[1], &pid)
	ts.Check(err)
	return pid
}

// checkMemory is "memory N". It fails if the kernel of the script's home ever had more than N megabytes of
// memory, as the system counts them. Where the system does not tell, it checks nothing.
func checkMemory(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: memory N")
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", kernelProcess(ts)))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	ts.Check(err)
	_, line, _ := strings.Cut(string(status), "VmHWM:")
	var kilobytes, most int
	_, err = fmt.Sscan(line, &kilobytes)
	ts.Check(err)
	_, err = fmt.Sscan(args[0], &most)
	ts.Check(err)
	ts.Logf("the kernel had %d MB", kilobytes/1000)
	if kilobytes > most*1000 {
		ts.Fatalf("the kernel had %d MB, more than %d", kilobytes/1000, most)
	}
}

// within is "within REGEXP CMD ARGS…". It runs the command again until its stdout matches, for at most a
// minute.
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

// findApproval is "approval SESSION". It sets APPROVAL to the id of the action that waits there.
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

// findQuestion is "question SESSION". It sets QUESTION to the id of the question that waits there.
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
