package main

import (
	"io"

	"org-agent/kernel/org"
)

// md2orgCommand is "org-agent md2org".
type md2orgCommand struct{}

func (c *md2orgCommand) Run(proc *process) error {
	text, err := proc.readInput()
	if err != nil {
		return err
	}
	_, err = io.WriteString(proc.stdout, org.MarkdownToOrg(text))
	return err
}
