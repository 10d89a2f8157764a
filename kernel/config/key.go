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
	"org-agent/kernel/text"
)

// KeySource says where a key is. At most one field is set. Without any, no key is needed. It
// contains no secret.
type KeySource struct {
	Env        string // an environment variable
	Command    string // a shell command that prints the key in its first line
	AuthSource string // a host in Emacs's auth-source
}

// keyTimeout is how long a key may take: a person may have to type a passphrase.
const keyTimeout = 30 * time.Second

// errLiteralKey is the error for a key that is written in the file itself.
var errLiteralKey = errors.New("do not write a key into a file: use \"env:NAME\", \"command: pass show NAME\" or \"auth-source:HOST\"")

// parseKeySource reads "env:NAME", "command: SHELL COMMAND" or "auth-source:HOST". It takes other
// text for a key, so the error does not repeat the text.
func parseKeySource(text string) (KeySource, error) {
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

// String returns the source as config.org writes it, but leaves out the command, which may contain
// private names.
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

// Written returns the source as config.org has it. It may contain private names.
func (k KeySource) Written() string {
	if k.Command != "" {
		return "command: " + k.Command
	}
	return k.String()
}

func (k KeySource) GoString() string { return k.String() }

// askAuthSource is the Lisp that Emacs evaluates; the host follows it on the command line.
const askAuthSource = `(condition-case fault
    (let* ((host (pop command-line-args-left))
           (found (progn (require 'auth-source)
                         (car (auth-source-search :host host :max 1 :require '(:secret)))))
           (secret (plist-get found :secret)))
      (unless secret (error "no entry for this machine"))
      (princ (if (functionp secret) (funcall secret) secret)))
  (error (message "%s" (error-message-string fault)) (kill-emacs 1)))`

// Resolve reads the key from env, or runs the command or a batch Emacs for half a minute at most.
// An empty source gives no key and no error.
func (k KeySource) Resolve(ctx context.Context, env func(string) string) (secret.Text, error) {
	ctx, cancel := context.WithTimeout(ctx, keyTimeout)
	defer cancel()
	switch {
	case k.Env != "":
		if key := strings.TrimSpace(env(k.Env)); key != "" {
			return secret.Text(key), nil
		}
		return "", fmt.Errorf("the key must be in the variable %s, which is not set: set it where the kernel starts, then restart the kernel", k.Env)
	case k.Command != "":
		return keyFrom(ctx, "the key's command", "sh", "-c", k.Command)
	case k.AuthSource != "":
		return keyFrom(ctx, "Emacs's auth-source for "+k.AuthSource, "emacs", "-Q", "--batch", "--eval", askAuthSource, k.AuthSource)
	}
	return "", nil
}

// keyFrom runs a program in its own process group and returns the first line it prints. what names
// the program in errors.
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

// lastLine returns the last line of a program's standard error, in brackets.
func lastLine(complaint string) string {
	lines := strings.Split(strings.TrimSpace(complaint), "\n")
	last := text.PlainLine(lines[len(lines)-1], 200)
	if last == "" {
		return ""
	}
	return " (" + last + ")"
}
