package tool

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"org-agent/kernel/autorun"
	"org-agent/kernel/files"
	"org-agent/kernel/protocol"
	"org-agent/kernel/suggest"
)

// Files is the dependency of the tools for files. Without a home they are not offered.
type Files struct {
	// Home is the directory in which relative names begin.
	Home string
	// Unread reports whether a file is skipped in every directory that is searched. nil: none is.
	Unread func(path string) bool
	// Keys reports whether a file that a search finds has keys by what it is. nil: none has.
	Keys func(path string) bool
}

func (f Files) there() bool { return f.Home != "" }

// short returns a file's name as it is shown. The tools accept it again.
func (f Files) short(path string) string { return files.Short(path, f.Home) }

// resolve replaces the name of an existing file by its real path. For a file that is skipped it
// does not say whether the file exists; the policy judges it.
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

// resolveFor does the same for a caller. Another program is not told which files there are before the
// policy has judged its call.
func (f Files) resolveFor(by *Caller, name *string) error {
	if !by.Conversation.Program {
		return f.resolve(name)
	}
	path, _, err := files.Resolve(*name, f.Home)
	if err == nil {
		*name = path
	}
	return err
}

// missing returns the error for a file that does not exist. In the home it suggests a similar name.
func (f Files) missing(path string) error {
	suggestion := ""
	directory := filepath.Dir(path)
	if short := f.short(path); !filepath.IsAbs(short) && files.IsDirectory(directory) && (f.Unread == nil || !f.Unread(path)) {
		const limit = 1000
		names, _, _ := files.Listed(directory, limit) // without names there is no suggestion
		if near := suggest.Of(filepath.Base(path), names); near != "" {
			suggestion = suggest.Question(f.short(filepath.Join(directory, strings.TrimRight(near, "/@="))), "%q")
		}
	}
	return protocol.ToolErrorf(protocol.ToolNotFound, "there is no file %s%s", path, suggestion)
}

// reach returns the reach of a call that reads or writes a file, or a directory with everything in
// it. The file must exist.
func (f Files) reach(by *Caller, kind protocol.ReachKind, path *string) ([]protocol.Reach, error) {
	if err := by.judged(); err != nil {
		return nil, err
	}
	if err := f.resolveFor(by, path); err != nil {
		return nil, err
	}
	return []protocol.Reach{{Kind: kind, Path: *path}}, nil
}

// changes returns the reach of a call that changes an existing file. It reads the file too: why it fails,
// and that it does not, says what is there.
func changes(path string) []protocol.Reach {
	return []protocol.Reach{{Kind: protocol.ReachReads, Path: path}, {Kind: protocol.ReachWrites, Path: path}}
}

// searched returns the reach of a call that searches a file or a directory. A file that is skipped
// is refused.
func (f Files) searched(by *Caller, path *string) ([]protocol.Reach, error) {
	reach, err := f.reach(by, protocol.ReachReads, path)
	if err == nil && f.Unread != nil && f.Unread(*path) {
		return nil, protocol.ToolErrorf(protocol.ToolRefused, "%s is passed over when files are looked through; what was said is found by search_messages", f.short(*path))
	}
	return reach, err
}

// alone refuses a call in a conversation with others. The files are private, and all conversations
// are among them.
func (c *Caller) alone() error {
	if in := c.Conversation; in != (Conversation{}) && !in.Alone {
		return protocol.ToolErrorf(protocol.ToolRefused, "others listen here, so no file is read or written")
	}
	return nil
}

// judged refuses the same, but for a program: the policy judges each file for it.
func (c *Caller) judged() error {
	if c.Conversation.Program {
		return nil
	}
	return c.alone()
}

// stale returns what a person is told of the error with which a change would fail. It does not say what
// the file has instead.
func (f Files) stale(ctx context.Context, path, hash string, err error) error {
	if err == nil {
		return nil
	}
	text, unread := files.Whole(ctx, path)
	if unread != nil {
		return err
	}
	return f.staleIn(text, path, hash, err)
}

// staleIn is [Files.stale] for a text of the file.
func (f Files) staleIn(text []byte, path, hash string, err error) error {
	if err == nil {
		return nil
	}
	code := protocol.ToolErrorOf(err).Code
	switch {
	case hash != "" && files.Hash(text) != hash:
		return protocol.ToolErrorf(protocol.ToolChanged, "%s is not the text that this was proposed for", f.short(path))
	case code == protocol.ToolNotFound, code == protocol.ToolNotUnique:
		return protocol.ToolErrorf(code, "the text that this would replace is not in %s exactly once", f.short(path))
	}
	return err
}

// setting adds to the reach of a change that it gives the file variables.
func setting(reach []protocol.Reach, path, before, after string) []protocol.Reach {
	if autorun.SetsVariables(before, after) {
		reach = append(reach, protocol.Reach{Kind: protocol.ReachSets, Path: path})
	}
	return reach
}

// tree returns the files below a directory.
func (f Files) tree(path string, all bool) files.Tree {
	return files.Tree{Root: path, All: all, Unread: f.Unread, Keys: f.Keys}
}

// orHome fills in the directory that is searched by default.
func orHome(path *string) {
	if *path == "" {
		*path = "."
	}
}

// changed returns the answer after a file was written.
func (f Files) changed(did string, c files.Change) string {
	return fmt.Sprintf("%s %s: %d bytes, hash %s.", did, f.short(c.Path), len(c.After), files.Hash(c.After))
}

// preview returns what a person sees of a change.
func (f Files) preview(summary string, c files.Change, effects ...string) Preview {
	for _, directory := range c.Directories() {
		effects = append(effects, "it makes the directory "+directory)
	}
	return Preview{Summary: summary + " " + f.short(c.Path), File: c.Path, Before: string(c.Before), After: string(c.After), Effects: effects}
}

// errNoChange is the error for a change that would change nothing.
var errNoChange = errors.New("the file has this content already: nothing is to be done")
