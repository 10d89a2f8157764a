package main

import (
	"fmt"
	"io"
	"strings"

	"org-agent/kernel/plist"
)

// inputLimit is the most that a command reads from stdin, in bytes.
const inputLimit = 64 << 20

// readInput reads all of stdin, up to inputLimit.
func (proc *process) readInput() (string, error) {
	text, err := io.ReadAll(io.LimitReader(proc.stdin, inputLimit+1))
	if err != nil {
		return "", fmt.Errorf("read standard input: %w", err)
	}
	if len(text) > inputLimit {
		return "", fmt.Errorf("standard input has more than %d MiB; send less", inputLimit>>20)
	}
	return string(text), nil
}

// readCommand is "org-agent read".
type readCommand struct {
	Explain bool `help:"Print the steps of the recovery on stderr."`
}

func (c *readCommand) Run(proc *process) error {
	text, err := proc.readInput()
	if err != nil {
		return err
	}
	proposal, steps, err := plist.ReadProposal(text, builtInKinds().IsReply)
	if c.Explain {
		fmt.Fprintf(proc.stderr, "steps: %s\n", strings.Join(steps, " "))
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(proc.stdout, plist.Print(proposal))
	return err
}
