// Command redteam attacks a built org-agent: it runs the corpora beside the code against the program as a
// person has it, in homes of its own, and prints a table of what was tried and what got through.
//
// It runs as whoever starts it. "make red-team" has it run as an ordinary user, and as root too where root
// starts it.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// count is what came of the cases of one class.
type count struct {
	cases   int
	through []string // what got through
	harsh   []string // what was asked or held without need
}

// team is one run of all classes.
type team struct {
	program string
	data    string // the top of the checkout, for the corpora
	work    string
	model   *model

	mu     sync.Mutex
	counts map[string]*count
	homes  int
}

// class is a kind of attack.
type class struct {
	name string
	run  func(t *team, ctx context.Context, c *count) error
}

func main() {
	program := flag.String("program", "bin/org-agent", "the program to attack")
	data := flag.String("data", ".", "the top of the checkout")
	only := flag.String("only", "", "one class")
	flag.Parse()
	if err := run(context.Background(), *program, *data, *only); err != nil {
		fmt.Fprintln(os.Stderr, "redteam:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, program, data, only string) (err error) {
	t := &team{counts: map[string]*count{}}
	if t.program, err = filepath.Abs(program); err != nil {
		return err
	}
	if t.data, err = filepath.Abs(data); err != nil {
		return err
	}
	if t.work, err = os.MkdirTemp("", "redteam-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(t.work)) }()
	t.model = startModel()
	defer t.model.server.Close()
	classes := []class{
		{"command lines", commandLines}, {"programs", programOptions}, {"directories", foreignDirectories}, {"inert Org", inertOrg}, {"files and tags", filesAndTags},
		{"notes", notes}, {"MCP", programsThatConnect}, {"approvals", approvals}, {"hostile streams", hostileStreams},
	}
	failed := false
	fmt.Printf("as user %d\n%-16s %6s %12s %10s %8s\n", os.Getuid(), "class", "cases", "let through", "too harsh", "seconds")
	for _, c := range classes {
		if only != "" && only != c.name {
			continue
		}
		counted, began := &count{}, time.Now()
		if err := c.run(t, ctx, counted); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		fmt.Printf("%-16s %6d %12d %10d %8.0f\n", c.name, counted.cases, len(counted.through), len(counted.harsh), time.Since(began).Seconds())
		for _, what := range append(counted.through, counted.harsh...) {
			failed = true
			fmt.Printf("    %.600s\n", what)
		}
	}
	if failed {
		return errors.New("something got through, or was too harsh")
	}
	return nil
}

// home is a home of a person with an agent.
type home struct {
	team *team
	user string // the person's directory
}

// newHome makes a home with these files, which are named from the person's directory.
func (t *team) newHome(files map[string]string) (*home, error) {
	t.mu.Lock()
	t.homes++
	h := &home{team: t, user: filepath.Join(t.work, fmt.Sprint("p", t.homes))}
	t.mu.Unlock()
	for _, directory := range []string{".org-agent/sessions", ".org-agent/sub", "project", "run"} {
		if err := os.MkdirAll(filepath.Join(h.user, directory), 0o700); err != nil {
			return nil, err
		}
	}
	return h, h.add(files)
}

// add makes files, which are named from the person's directory. One whose name ends with a slash is a directory.
func (h *home) add(files map[string]string) error {
	for name, text := range files {
		path := filepath.Join(h.user, name)
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o700); err != nil {
				return err
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// output is what the program writes to, and what it wrote.
type output interface {
	io.Writer
	String() string
}

// answer is what the program printed, and how it ended.
type answer struct {
	out, err string
	code     int
}

// agent runs the program in a directory of the person's.
func (h *home) agent(ctx context.Context, directory, input string, arguments ...string) (answer, error) {
	return h.speak(ctx, directory, strings.NewReader(input), &bytes.Buffer{}, arguments...)
}

// speak runs the program with this input, and writes its output.
func (h *home) speak(ctx context.Context, directory string, input io.Reader, out output, arguments ...string) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, h.team.program, arguments...)
	command.Dir = filepath.Join(h.user, directory)
	command.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + h.user, "XDG_RUNTIME_DIR=" + filepath.Join(h.user, "run"), "LC_ALL=C.UTF-8", "TMPDIR=" + h.team.work,
		"ORG_AGENT_LLM_BASE_URL=" + h.team.model.server.URL, "ORG_AGENT_LLM_MODEL=test-model",
	}
	command.Stdin = input
	var stderr bytes.Buffer
	command.Stdout, command.Stderr = out, &stderr
	err := command.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return answer{}, err
	}
	return answer{out.String(), stderr.String(), command.ProcessState.ExitCode()}, nil
}

// stop ends the kernel of a home, if there is one.
func (h *home) stop(ctx context.Context) {
	_, _ = h.agent(ctx, "", "", "stop") // one that ended has nothing to say
}
