package tool_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/plist"
	"org-agent/kernel/process"
	"org-agent/kernel/protocol"
	"org-agent/kernel/sandbox"
	"org-agent/kernel/skillmd"
	"org-agent/kernel/tool"
)

// shop returns the tools that run commands, in a fence or without one.
func shop(t *testing.T, kind sandbox.Kind) *tool.Registry {
	t.Helper()
	table := process.New(process.Config{
		Kind: func() sandbox.Kind { return kind }, Directory: t.TempDir(), Home: "/home/someone", Environment: os.Getenv,
		Hidden: []string{"/home/someone/.org-agent/config.org"},
	})
	t.Cleanup(table.Close)
	r, err := tool.BuiltIn(tool.Deps{Commands: table, Skills: func() *skillmd.Set { return &skillmd.Set{} }})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// given returns the arguments in a plist.
func given(t *testing.T, text string) (o protocol.Object) {
	t.Helper()
	list, err := plist.Read(text)
	if err == nil {
		err = plist.Unmarshal(list, &o)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func inConversation(r *tool.Registry, session string) *tool.Registry {
	return r.For(&tool.Caller{Conversation: tool.Conversation{Session: session, Alone: true}})
}

// TestCommandReaches checks that the reach of a call is complete, with its directory resolved, and
// that a senseless call is refused with what to do.
func TestCommandReaches(t *testing.T) {
	directory, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(directory, "link")
	if err := os.Symlink(directory, link); err != nil {
		t.Fatal(err)
	}
	fenced, open := shop(t, sandbox.Whole), shop(t, sandbox.None)
	for _, c := range []struct {
		r                     *tool.Registry
		tool, arguments, want string
	}{
		{fenced, "exec", `(:command "ls")`, `runs "ls" in `},
		{fenced, "exec", `(:command "ls" :cwd "` + link + `")`, `runs "ls" in D; reads D`},
		{fenced, "exec", `(:command "make" :cwd "` + link + `/." :writes t :network t)`, `runs "make" in D; reads D; writes D; fetches *`},
		{open, "exec", `(:command "ls" :cwd "` + directory + `")`, `runs "ls" in D; reads D; fetches *; writes /`},
		{fenced, "exec", `(:command "ls" :cwd "relative")`, `error: "relative" is not an absolute path`},
		{fenced, "exec", `(:command "ls" :cwd "~nobody/x")`, `error: "~nobody/x" is not an absolute path`},
		{fenced, "exec", `(:command "ls" :cwd "/not/there")`, `error: there is no directory /not/there`},
		{fenced, "exec", `(:command "ls" :cwd "/etc/passwd")`, `error: /etc/passwd is not a directory`},
		{fenced, "exec", `(:command "ls" :cwd "/")`, `error: / is all of a person's files`},
		{fenced, "exec", `(:command "ls" :cwd "/proc/self")`, `error: /proc/`},
		{fenced, "exec", `(:command "ls" :cwd "/home")`, `error: /home is all of a person's files`},
		{fenced, "exec", `(:command " \n")`, `error: the :command is empty`},
		{fenced, "exec", `(:command "ls" :writes t)`, `error: there is no directory to write in`},
		{fenced, "exec", `(:command "ls" :timeout 601)`, `error: the :timeout is 1 to 600 seconds`},
		{fenced, "exec", `(:command "ls" :timeout -1)`, `error: the :timeout is 1 to 600 seconds`},
		{fenced, "exec", `(:cmd "ls")`, `error: there is no argument :cmd`},
		{fenced, "process", `(:action :start :command "ls" :cwd "` + link + `" :terminal t)`, `runs "ls" in D; reads D`},
		{fenced, "process", `(:action :list)`, ``},
		{fenced, "process", `(:action :output :id "run-1")`, ``},
		{fenced, "process", `(:action :stop :id "run-1")`, ``},
		{fenced, "process", `(:action :stop)`, `error: the argument :id is missing`},
		{fenced, "process", `(:action :stop :id "run-1" :command "rm x")`, `error: the action stop is for a command that was started`},
		{fenced, "process", `(:action :write :id "run-1" :input "x")`, `error: "run-1": this conversation has no such command`},
		{fenced, "process", `(:action :output :network t :id "x")`, `error: the action output is for`},
		{fenced, "process", `(:action :outptu)`, `error: the argument :action is one of :start :list :output :write :stop, not "outptu"; did you mean :output?`},
	} {
		_, reach, err := inConversation(c.r, "main").Reach(t.Context(), c.tool, given(t, c.arguments))
		var touched []string
		for _, r := range reach {
			switch r.Kind {
			case protocol.ReachRuns:
				touched = append(touched, fmt.Sprintf("runs %q in %s", r.Command, r.Path))
			case protocol.ReachFetches:
				touched = append(touched, "fetches "+r.URL)
			default:
				touched = append(touched, string(r.Kind)+" "+r.Path)
			}
		}
		got := strings.ReplaceAll(strings.Join(touched, "; "), directory, "D")
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != c.want && !(err != nil && strings.HasPrefix(c.want, "error: ") && strings.HasPrefix(got, c.want)) {
			t.Errorf("%s %s: %s", c.tool, c.arguments, got)
		}
		if err == nil && reach == nil {
			t.Errorf("%s %s: nothing is said", c.tool, c.arguments)
		}
	}
}

// took matches how long something took, which varies.
var took = regexp.MustCompile(`after [0-9.]+m?s`)

func TestExec(t *testing.T) {
	kind, _ := sandbox.Probe(t.Context())
	r := shop(t, kind)
	call := func(name, arguments string) string {
		t.Helper()
		text, _, err := inConversation(r, "main").Call(t.Context(), name, given(t, arguments))
		if err != nil {
			return "error: " + err.Error()
		}
		return took.ReplaceAllString(text, "after T")
	}
	for arguments, want := range map[string]string{
		`(:command "echo one; exit 3")`: "[exit status 3 after T, in an empty directory of its own, which is gone]\none\n",
		`(:command "printf '\\033[31mred\\033[0m\\rx\\a\\0\\377\\376 caf\\303\\251'")`: "[exit status 0 after T, in an empty directory of its own, which is gone]\nred\nx␇␀\uFFFD\uFFFD café",
		`(:command "echo x; sleep 100" :timeout 3)`:                                    "[stopped after T, as it had 3s, in an empty directory of its own, which is gone]\nx\n",
	} {
		if got := call("exec", arguments); got != want {
			t.Errorf("%s: %q", arguments, got)
		}
	}
	long := call("exec", `(:command "seq 1 100000")`)
	if !strings.HasPrefix(long, "[exit status 0 after T, in an empty directory of its own, which is gone]\n1\n2\n") || !strings.HasSuffix(long, "99999\n100000\n") || len(long) > 18<<10 {
		t.Fatalf("%d bytes: %.200s", len(long), long)
	}
	rest := regexp.MustCompile(`\[\d+ bytes are left out here: process \((:action :output :id "run-[0-9a-f]{8}" :from 10240)\)`).FindStringSubmatch(long)
	if rest == nil {
		t.Fatalf("nothing says what is left out: %s", long)
	}
	part := call("process", "("+rest[1]+")")
	if !strings.Contains(part, "\n2500\n") || !strings.Contains(part, "; the next part is :from 26624]\n") {
		t.Errorf("%.300s", part)
	}
}

// TestMadeRepositories checks that a model is told of the repositories that a command left, up to
// the limit.
func TestMadeRepositories(t *testing.T) {
	kind, _ := sandbox.Probe(t.Context())
	if !kind.Fenced() {
		return
	}
	directory, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text, _, err := inConversation(shop(t, kind), "main").Call(t.Context(), "exec", given(t, fmt.Sprintf(`(:command "for i in 0 1 2 3 4 5 6 7 8 9 a b; do mkdir -p $i/.git; done" :cwd %q :writes t)`, directory)))
	if err != nil || !strings.Contains(text, "[tell the person: There are 12 git repositories more than before") || !strings.Contains(text, fmt.Sprintf("%q and 2 more.]\n", directory+"/9/.git")) {
		t.Errorf("%s, %v", text, err)
	}
}

func TestProcess(t *testing.T) {
	kind, _ := sandbox.Probe(t.Context())
	r := shop(t, kind)
	main := inConversation(r, "main")
	call := func(r *tool.Registry, arguments string) string {
		t.Helper()
		text, _, err := r.Call(t.Context(), "process", given(t, arguments))
		if err != nil {
			return "error: " + err.Error()
		}
		return took.ReplaceAllString(text, "after T")
	}
	started := call(main, `(:action :start :command "echo ready; while read x; do echo \"<$x>\"; done")`)
	id := regexp.MustCompile(`^\[it is (run-[0-9a-f]{8})\]\n\[running for \d+s\]\n`).FindStringSubmatch(started)
	if id == nil {
		t.Fatalf("it says %q", started)
	}
	_, reach, err := main.Reach(t.Context(), "process", given(t, `(:action :write :id "`+id[1]+`" :input "rm -rf ~\nINPUT\n")`))
	if err != nil || len(reach) == 0 || kind.Fenced() && len(reach) != 1 || reach[0].Command != "{ echo ready; while read x; do echo \"<$x>\"; done\n} <<'INPUT_'\nrm -rf ~\nINPUT\nINPUT_\n" {
		t.Errorf("what is written to it reaches %q, %v", reach, err)
	}
	if got := call(main, `(:action :write :id "`+id[1]+`" :input "one\n")`); !strings.HasPrefix(got, "[written; running for ") {
		t.Error(got)
	}
	for deadline := time.Now().Add(time.Minute); !strings.Contains(call(main, `(:action :output :id "`+id[1]+`")`), "ready\n<one>\n"); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(call(main, `(:action :output :id "`+id[1]+`")`))
		}
	}
	if got := call(main, `(:action :list)`); !strings.HasPrefix(got, "- "+id[1]+": running for ") || !strings.Contains(got, "; echo ready; while read x;") {
		t.Error(got)
	}
	other := inConversation(r, "other")
	if got := call(other, `(:action :list)`) + call(other, `(:action :output :id "`+id[1]+`")`) + call(other, `(:action :stop :id "`+id[1]+`")`); strings.Contains(got, "ready") || strings.Count(got, "no such command") != 2 {
		t.Errorf("another conversation is told %q", got)
	}
	if got := call(main, `(:action :stop :id "`+id[1]+`")`); got != "[stopped after T, as it was told to]\n" {
		t.Error(got)
	}
}
