package tool

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"org-agent/kernel/files"
	"org-agent/kernel/protocol"
	"org-agent/kernel/suggest"
)

// Files is what the tools for files work with; without a home they are not offered.
type Files struct {
	// Home is the directory that relative names begin in.
	Home string
	// Unread reports whether a file is never looked at when files are looked through, whatever
	// directory it is in; nil: none is.
	Unread func(path string) bool
}

func (f Files) there() bool { return f.Home != "" }

// short is a file's name as it is told, and can be given again.
func (f Files) short(path string) string { return files.Short(path, f.Home) }

// resolve puts the one name of a file that has to be there in the place of the one that was
// given. Of one that is never looked at it is not told whether it is there: it is judged.
func (f Files) resolve(name *string) error {
	path, exists, err := files.Resolve(*name, f.Home)
	if err == nil && !exists && (f.Unread == nil || !f.Unread(path)) {
		err = f.missing(path)
	}
	if err == nil {
		*name = path
	}
	return err
}

// missing is the error for a file that is not there. In the home it has the name that was
// probably meant.
func (f Files) missing(path string) error {
	meant := ""
	directory := filepath.Dir(path)
	if short := f.short(path); !filepath.IsAbs(short) && files.IsDirectory(directory) && (f.Unread == nil || !f.Unread(path)) {
		const looked = 1000
		names, _, _ := files.Listed(directory, looked) // without them nothing is guessed
		if near := suggest.Of(filepath.Base(path), names); near != "" {
			meant = fmt.Sprintf("; did you mean %q?", f.short(filepath.Join(directory, strings.TrimRight(near, "/@="))))
		}
	}
	return protocol.ToolErrorf(protocol.ToolNotFound, "there is no file %s%s", path, meant)
}

// reach is that of what reads or writes a file, or a directory with all that is in it, which
// has to be there.
func (f Files) reach(by *Caller, kind protocol.ReachKind, path *string) ([]protocol.Reach, error) {
	if err := by.alone(); err != nil {
		return nil, err
	}
	if err := f.resolve(path); err != nil {
		return nil, err
	}
	return []protocol.Reach{{Kind: kind, Path: *path}}, nil
}

// searched is the reach of what looks through a file or a directory, which must not be one that
// is passed over.
func (f Files) searched(by *Caller, path *string) ([]protocol.Reach, error) {
	reach, err := f.reach(by, protocol.ReachReads, path)
	if err == nil && f.Unread != nil && f.Unread(*path) {
		return nil, protocol.ToolErrorf(protocol.ToolRefused, "%s is passed over when files are looked through; what was said is found by search_messages", f.short(*path))
	}
	return reach, err
}

// alone is the error of a call in a conversation that others listen to: what is in the files,
// among them all that was ever said, is the person's to tell.
func (c *Caller) alone() error {
	if in := c.Conversation; in != (Conversation{}) && !in.Alone {
		return protocol.ToolErrorf(protocol.ToolRefused, "others listen here, so no file is read or written")
	}
	return nil
}

// tree is the files beneath a directory.
func (f Files) tree(path string, all bool) files.Tree {
	return files.Tree{Root: path, All: all, Unread: f.Unread}
}

// orHome is the directory that is looked through if none is named.
func orHome(path *string) {
	if *path == "" {
		*path = "."
	}
}

// changed is what is told of a file that was written.
func (f Files) changed(did string, c files.Change) string {
	return fmt.Sprintf("%s %s: %d bytes, hash %s.", did, f.short(c.Path), len(c.After), files.Hash(c.After))
}

// preview is what a person is shown of a change.
func (f Files) preview(summary string, c files.Change, effects ...string) Preview {
	for _, directory := range c.Directories() {
		effects = append(effects, "it makes the directory "+directory)
	}
	return Preview{Summary: summary + " " + f.short(c.Path), File: c.Path, Before: string(c.Before), After: string(c.After), Effects: effects}
}

// errNoChange is the error of a change after which nothing would be different.
var errNoChange = errors.New("the file has this content already: nothing is to be done")
