package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/llm/llmtest"
	"org-agent/skills"
)

// waitLimit is how long to wait for an event that should happen soon.
const waitLimit = 60 * time.Second

// instance is a temporary home with a model server. Its paths are short, because the length of a socket's
// path is limited.
type instance struct {
	directory string
	variables map[string]string
	paths     config.Paths
	model     *llmtest.Server
}

// newInstance makes an instance whose model answers with these exchanges. The caller must close it.
func newInstance(exchanges ...llmtest.Exchange) (*instance, error) {
	model, err := llmtest.Listen("127.0.0.1:0", llmtest.ServerScript{Exchanges: exchanges}, nil)
	if err != nil {
		return nil, err
	}
	directory, err := os.MkdirTemp("", "oa")
	if err != nil {
		model.Close()
		return nil, fmt.Errorf("make a home: %w", err)
	}
	in := &instance{directory: directory, model: model, variables: map[string]string{
		"HOME": directory, "ORG_AGENT_HOME": "", "XDG_STATE_HOME": filepath.Join(directory, "state"),
		"XDG_RUNTIME_DIR": filepath.Join(directory, "run"), "ORG_AGENT_LLM": "", "ORG_AGENT_LLM_MODEL": "test-model",
		"ORG_AGENT_LLM_BASE_URL": model.URL(), "ORG_AGENT_LLM_API_KEY": "bench", "TMUX": "",
	}}
	in.paths, err = config.FindPaths("", func(name string) string { return in.variables[name] })
	if err == nil {
		err = os.MkdirAll(in.variables["XDG_RUNTIME_DIR"], 0o700)
	}
	if err != nil {
		in.close()
		return nil, fmt.Errorf("make a home: %w", err)
	}
	return in, nil
}

// close removes the home and stops the model server.
func (in *instance) close() {
	in.model.Close()
	_ = os.RemoveAll(in.directory) // files that stay are in the system's temporary directory
}

// environment returns the environment of this process with the variables of the instance.
func (in *instance) environment() []string {
	environment := os.Environ()
	for name, value := range in.variables {
		environment = append(environment, name+"="+value)
	}
	return environment
}

// addNotes adds n notes to the home. Each is the shipped chat note with another name and a lower
// priority.
func (in *instance) addNotes(n int) error {
	source, err := skills.Notes().Open("chat.org")
	if err != nil {
		return fmt.Errorf("read the chat note: %w", err)
	}
	defer source.Close()
	var text strings.Builder
	if _, err := bufio.NewReader(source).WriteTo(&text); err != nil {
		return fmt.Errorf("read the chat note: %w", err)
	}
	if err := os.MkdirAll(in.paths.Skills, 0o755); err != nil {
		return fmt.Errorf("make the notes' directory: %w", err)
	}
	for i := range n {
		note := strings.Replace(text.String(), "(defskill :chat", fmt.Sprintf("(defskill :chat-%d", i), 1)
		note = strings.Replace(note, ":priority 50", ":priority 40", 1)
		if err := os.WriteFile(filepath.Join(in.paths.Skills, fmt.Sprintf("note-%d.org", i)), []byte(note), 0o644); err != nil {
			return fmt.Errorf("write a note: %w", err)
		}
	}
	return nil
}

// addPromptSkill adds a prompt skill to the home.
func (in *instance) addPromptSkill(name, description string) error {
	directory := filepath.Join(in.paths.Skills, name)
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return fmt.Errorf("make a skill: %w", err)
	}
	text := fmt.Sprintf("---\nname: %s\ndescription: %s\n---\nNothing is to be done.\n", name, description)
	if err := os.WriteFile(filepath.Join(directory, "SKILL.md"), []byte(text), 0o644); err != nil {
		return fmt.Errorf("write a skill: %w", err)
	}
	return nil
}

// kernel is a running kernel process.
type kernel struct {
	command *exec.Cmd
	ready   time.Duration // from the start of the process to its line on stdout
}

// start starts the kernel and returns when it is ready.
func (in *instance) start(ctx context.Context, program string) (*kernel, error) {
	command := exec.CommandContext(ctx, program, "serve")
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.Env = in.environment()
	command.Stderr = os.Stderr
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start the kernel: %w", err)
	}
	began := time.Now()
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start the kernel: %w", err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	k := &kernel{command: command, ready: time.Since(began)}
	if err != nil || !strings.HasPrefix(line, "org-agent: ready ") {
		return nil, errors.Join(fmt.Errorf("the kernel printed %q and not that it is ready", line), err, k.stop())
	}
	return k, nil
}

// stop stops the kernel and waits until it has ended.
func (k *kernel) stop() error {
	if err := k.command.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop the kernel: %w", err)
	}
	if err := k.command.Wait(); err != nil {
		return fmt.Errorf("the kernel ended: %w", err)
	}
	return nil
}

// peakMemory returns the maximum resident size of the kernel so far, in bytes.
func (k *kernel) peakMemory() (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", k.command.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("read the kernel's size: %w", err)
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	var kibibytes float64
	if _, err := fmt.Sscan(after, &kibibytes); err != nil {
		return 0, fmt.Errorf("read the kernel's size: %w", err)
	}
	return kibibytes * 1024, nil
}
