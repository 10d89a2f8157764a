package tool

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"org-agent/kernel/files"
	"org-agent/kernel/org"
	"org-agent/kernel/orgquery"
	"org-agent/kernel/protocol"
)

// Notes is the dependency of the tools for Org files. Without a home they are not offered.
type Notes struct {
	Files
	// Roots returns the directories and files with notes that the person gives to the agent now. nil:
	// there are none.
	Roots func() []string
	// Held returns the tags that the person has chosen for tasks of the agent, which no change sets. nil: there are none.
	Held func() []string
	// Emacs is asked first. nil: there is none.
	Emacs Emacs
	Now   func() time.Time
	NewID func() string
}

const (
	notesFiles = 2000       // maximum number of files that are read
	notesBytes = 128 << 20  // maximum size of all of them in bytes
	notesNamed = 200        // maximum number of files that a call may name
	orgFiles   = "**/*.org" // the Org files of a directory
)

// reading is what one call reads.
type reading struct {
	files []*orgquery.File
	emacs protocol.EmacsNotes
	live  bool     // Emacs answered with its buffers
	notes []string // remarks for the model, a line each
}

// today returns the person's date.
func (n Notes) today() org.Day { return org.DayOf(n.Now()) }

// tagsOf returns the tags of a function, which may be nil.
func tagsOf(held func() []string) []string {
	if held == nil {
		return nil
	}
	return held()
}

// reach resolves the files that a call names. A call without names gets the agenda files of Emacs
// and the person's notes. The files that the person gave to the agent may be read by it; the policy
// judges all others, and all for another program.
func (n Notes) reach(ctx context.Context, by *Caller, names *[]string) ([]protocol.Reach, error) {
	if err := by.judged(); err != nil {
		return nil, err
	}
	all := []protocol.Reach{}
	paths, err := n.named(ctx, by, *names)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if by.Conversation.Program || !n.own(path) || n.Unread != nil && n.Unread(path) {
			all = append(all, protocol.Reach{Kind: protocol.ReachReads, Path: path})
		}
	}
	*names = paths
	return all, nil
}

// preview describes a call that only reads files to the person who is asked about it.
func (n Notes) preview(ctx context.Context, by *Caller, does string, names []string) (Preview, error) {
	if _, err := n.reach(ctx, by, &names); err != nil {
		return Preview{}, err
	}
	p := Preview{Summary: does + times(len(names), "file")}
	if len(names) == 1 {
		p.Summary = does + n.short(names[0])
	}
	for _, name := range names {
		p.Effects = append(p.Effects, "it reads "+name)
	}
	p.Effects = append(p.Effects, "it changes nothing")
	return p, nil
}

// own reports whether a file is one that the person gave to the agent.
func (n Notes) own(path string) bool {
	return slices.ContainsFunc(n.roots(), func(root string) bool {
		return path == root || strings.HasPrefix(path, strings.TrimSuffix(root, "/")+"/")
	})
}

func (n Notes) roots() []string {
	if n.Roots == nil {
		return nil
	}
	return n.Roots()
}

// named returns the real paths of the files of a call.
func (n Notes) named(ctx context.Context, by *Caller, names []string) ([]string, error) {
	if len(names) > notesNamed {
		return nil, protocol.ToolErrorf(protocol.ToolArguments, "%d files are named; %d can be: name a directory", len(names), notesNamed)
	}
	var paths []string
	for _, name := range names {
		if err := n.resolveFor(by, &name); err != nil {
			return nil, err
		}
		paths = append(paths, name)
	}
	if len(paths) > 0 {
		return paths, nil
	}
	for _, root := range n.roots() {
		if _, exists, err := files.Resolve(root, n.Home); err == nil && exists {
			paths = append(paths, root)
		}
	}
	has, err := n.ask(ctx, by, protocol.EmacsNotesParams{File: "/"}) // this asks for no texts
	if err != nil && !errors.Is(err, ErrNoEmacs) {
		return nil, err
	}
	for _, file := range has.Agenda {
		path, exists, err := files.Resolve(file, n.Home)
		if err == nil && exists && !n.own(path) && !slices.Contains(paths, path) && len(paths) < notesNamed {
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 {
		return nil, protocol.ToolErrorf(protocol.ToolNotFound, "there are no Org files to look in: name :files; the person can set org-agenda-files in Emacs, or :NOTES: in config.org")
	}
	return paths, nil
}

func (n Notes) ask(ctx context.Context, by *Caller, p protocol.EmacsNotesParams) (protocol.EmacsNotes, error) {
	if n.Emacs == nil {
		return protocol.EmacsNotes{}, ErrNoEmacs
	}
	return n.Emacs.Notes(ctx, by.Conversation, p)
}

// readNotes reads the files of a call: the text in Emacs if a buffer visits the file, and otherwise
// the file.
func (n Notes) readNotes(ctx context.Context, by *Caller, names []string) (*reading, error) {
	paths, err := n.named(ctx, by, names)
	if err != nil {
		return nil, err
	}
	l := &reading{}
	if l.emacs, err = n.ask(ctx, by, protocol.EmacsNotesParams{}); err == nil {
		l.live = true
	} else if !errors.Is(err, ErrNoEmacs) {
		if ctx.Err() != nil {
			return nil, err
		}
		l.notes = append(l.notes, fmt.Sprintf("[%v; what follows is from the files, without what is not saved.]", err))
	}
	live := map[string]string{}
	for _, text := range l.emacs.Unsaved {
		live[text.File] = text.Text
	}
	size := 0
	for _, path := range n.expand(ctx, paths, l) {
		text, isLive := live[path]
		if !isLive {
			content, err := files.Whole(ctx, path)
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if err != nil {
				l.notes = append(l.notes, fmt.Sprintf("[%s is left out: %v]", n.short(path), err))
				continue
			}
			text = strings.ReplaceAll(strings.ToValidUTF8(string(content), "�"), "\r\n", "\n")
		}
		if size += len(text); size > notesBytes {
			l.notes = append(l.notes, fmt.Sprintf("[There is more than %d MB of notes: what is not in the first of them was not looked at; name fewer :files.]", notesBytes>>20))
			break
		}
		if slices.Contains(l.emacs.TooLarge, path) {
			l.notes = append(l.notes, fmt.Sprintf("[%s has changes in Emacs that are not saved, and is too large for them to be looked at.]", n.short(path)))
		}
		l.files = append(l.files, orgquery.Read(orgquery.Source{Path: path, Text: text, Sequences: l.emacs.Sequences}))
	}
	return l, nil
}

// expand returns the Org files at some paths, each once.
func (n Notes) expand(ctx context.Context, paths []string, l *reading) []string {
	var all []string
	for _, path := range paths {
		if !files.IsDirectory(path) {
			all = append(all, path)
			continue
		}
		pattern, err := files.ParsePattern(orgFiles)
		var found []files.Found
		whole := false
		if err == nil {
			found, _, whole, err = n.tree(path, false).Find(ctx, pattern, notesFiles)
		}
		if err != nil || !whole {
			l.notes = append(l.notes, fmt.Sprintf("[Not all files of %s were looked at: name fewer :files.]", n.short(path)))
		}
		for _, f := range found {
			all = append(all, filepath.Join(path, f.Name))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// from says in a few words where the answer comes from.
func (l *reading) from() string {
	if l.live {
		return "in " + times(len(l.files), "file") + ", with what is not saved in Emacs"
	}
	return "in " + times(len(l.files), "file")
}
