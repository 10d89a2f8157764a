// Package skills holds the notes and the directories with a SKILL.md that come with the
// agent, as they are in this directory.
//
// The notes are embedded when the program is built, so that a kernel without any files
// beside it can chat. They are read-only: a person who wants one changed puts a copy
// into the home's skills directory, where it shadows the one here.
package skills

import (
	"embed"
	"io/fs"
)

//go:embed *.org write-a-skill
var notes embed.FS

// Notes returns the shipped notes, each a file NAME.org at the root, and the shipped
// directories. Reading never blocks and is safe from any goroutine.
func Notes() fs.FS { return notes }
