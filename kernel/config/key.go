package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"org-agent/kernel/secret"
)

// KeySource says where a key is; at most one field is set, none means that no
// key is needed. It holds no secret.
type KeySource struct {
	Env        string // a variable of the environment
	Command    string // a shell command whose first line of output is the key
	AuthSource string // a host in Emacs's auth-source
}

// keyPatience is how long a key may take: somebody may have to type a
// passphrase.
const keyPatience = 30 * time.Second

// errLiteralKey is the fault of a key that stands in the file itself.
var errLiteralKey = errors.New("a key does not belong into a file: write \"env:NAME\", \"command: pass show NAME\" or \"auth-source:HOST\"")

// ParseKeySource reads "env:NAME", "command: SHELL COMMAND" or
// "auth-source:HOST". Anything else is taken for a key, and its text is not in
// the error.
func ParseKeySource(text string) (KeySource, error) {
	kind, value, _ := strings.Cut(strings.TrimSpace(text), ":")
	value = strings.TrimSpace(value)
	if value == "" {
		return KeySource{}, errLiteralKey
	}
	switch strings.TrimSpace(kind) {
	case "env":
		if strings.ContainsAny(value, " \t=$") {
			return KeySource{}, errors.New("\"env:\" is followed by the name of a variable, without $")
		}
		return KeySource{Env: value}, nil
	case "command":
		return KeySource{Command: value}, nil
	case "auth-source":
		return KeySource{AuthSource: value}, nil
	}
	return KeySource{}, errLiteralKey
}

// String is the source as it is written in config.org, without the command:
// that may name what is nobody's business.
func (k KeySource) String() string {
	switch {
	case k.Env != "":
		return "env:" + k.Env
	case k.Command != "":
		return "command"
	case k.AuthSource != "":
		return "auth-source:" + k.AuthSource
	}
	return ""
}

// GoString is String.
func (k KeySource) GoString() string { return k.String() }

// askAuthSource is what Emacs does with the host that follows it.
const askAuthSource = `(condition-case fault
    (let* ((host (pop command-line-args-left))
           (found (progn (require 'auth-source)
                         (car (auth-source-search :host host :max 1 :require '(:secret)))))
           (secret (plist-get found :secret)))
      (unless secret (error "no entry for this machine"))
      (princ (if (functionp secret) (funcall secret) secret)))
  (error (message "%s" (error-message-string fault)) (kill-emacs 1)))`

// Resolve gets the key: from env, or by running the command or a batch Emacs,
// for half a minute at most. No source is no key and no error.
func (k KeySource) Resolve(ctx context.Context, env func(string) string) (secret.Text, error) {
	ctx, cancel := context.WithTimeout(ctx, keyPatience)
	defer cancel()
	switch {
	case k.Env != "":
		if key := strings.TrimSpace(env(k.Env)); key != "" {
			return secret.Text(key), nil
		}
		return "", fmt.Errorf("the key is to be in %s, which is not set: set it where the kernel starts, then restart it", k.Env)
	case k.Command != "":
		return keyFrom(ctx, "the key's command", "sh", "-c", k.Command)
	case k.AuthSource != "":
		return keyFrom(ctx, "Emacs's auth-source for "+k.AuthSource, "emacs", "-Q", "--batch", "--eval", askAuthSource, k.AuthSource)
	}
	return "", nil
}

// keyFrom runs a program in a process group of its own and takes the first
// line it prints. what names it in errors.
func keyFrom(ctx context.Context, what, program string, args ...string) (secret.Text, error) {
	command := exec.CommandContext(ctx, program, args...)
	var output, complaint bytes.Buffer
	command.Stdout, command.Stderr = &output, &complaint
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.WaitDelay = time.Second
	err := command.Run()
	if ctx.Err() != nil {
		return "", fmt.Errorf("%s took too long: %w", what, ctx.Err())
	}
	if err != nil {
		return "", fmt.Errorf("%s gave no key: %w%s; try it in a shell", what, err, lastLine(complaint.String()))
	}
	key, _, _ := strings.Cut(strings.TrimSpace(output.String()), "\n")
	if key = strings.TrimSpace(key); key == "" {
		return "", fmt.Errorf("%s printed nothing; try it in a shell", what)
	}
	return secret.Text(key), nil
}

// lastLine is the last line of what a program complained, in brackets.
func lastLine(complaint string) string {
	lines := strings.Split(strings.TrimSpace(complaint), "\n")
	last := []rune(lines[len(lines)-1])
	if len(last) == 0 {
		return ""
	}
	return " (" + string(last[:min(len(last), 200)]) + ")"
}
