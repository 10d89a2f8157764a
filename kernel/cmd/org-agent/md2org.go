package main

import (
	"io"

	"org-agent/kernel/org"
)

// md2orgCommand is "org-agent md2org".
type md2orgCommand struct{}

func (c *md2orgCommand) Run(w *world) error {
	text, err := w.readInput()
	if err != nil {
		return err
	}
	_, err = io.WriteString(w.out, org.MarkdownToOrg(text))
	return err
}
