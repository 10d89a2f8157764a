package policy

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// projectSigns are the names that mark a directory as a project.
var projectSigns = [...]string{".git", ".org-agent"}

// ProjectOf returns the project of a file or a directory: the nearest directory above it that
// contains .git or .org-agent. It returns "" if there is none. A person's whole home directory is
// never a project, even if it is a git repository.
func ProjectOf(path string) string {
	if !filepath.IsAbs(path) {
		return ""
	}
	user, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	for at := resolved(path); at != "/"; at = filepath.Dir(at) {
		for _, sign := range projectSigns {
			if _, err := os.Lstat(filepath.Join(at, sign)); err == nil {
				if within(resolved(user), at) {
					return ""
				}
				return at
			}
		}
	}
	return ""
}

// Projects are the projects that the conversation of a turn is about: those that are given, those of
// what the person sent along, in this turn and in earlier ones, and that of the directory they asked
// from. They are found once, when they are first asked for. Only messages from this machine count. The
// nil Projects are none.
type Projects struct {
	Turn    journal.Turn
	Given   []string
	Earlier Earlier
	Log     *slog.Logger

	find  sync.Once
	found []string
}

// Earlier are the earlier turns of conversations.
type Earlier interface {
	History(ctx context.Context, session, beforeTurn string, limit int) ([]*journal.Exchange, error)
}

// earlierTurns is how many earlier turns are looked at for projects.
const earlierTurns = 50

// All returns the projects. The caller must not change the slice.
func (p *Projects) All(ctx context.Context) []string {
	if p == nil {
		return nil
	}
	p.find.Do(func() { p.found = p.look(ctx) })
	return p.found
}

func (p *Projects) look(ctx context.Context) []string {
	found := slices.Clone(p.Given)
	question := p.Turn.Question
	if !question.Route.Local() {
		return found
	}
	add := func(path string) {
		if project := ProjectOf(path); project != "" && !slices.Contains(found, project) {
			found = append(found, project)
		}
	}
	add(question.Payload.Text(protocol.PayloadDirectory))
	sent := question.Context
	earlier, err := p.Earlier.History(ctx, p.Turn.Session, p.Turn.ID, earlierTurns)
	if err != nil {
		p.Log.Warn("what was sent along before opens no project", "err", err)
	}
	for _, e := range earlier {
		sent = append(slices.Clip(sent), e.Context...)
	}
	for _, item := range sent {
		add(placeOf(item))
	}
	return found
}

// project returns which project of the judged turn contains the file, or "".
func (p *Policy) project(path string) string {
	if p.projectOf == nil {
		return ""
	}
	return p.projectOf(path)
}

// with returns the project that contains the file, or "".
func (p *Projects) with(ctx context.Context, path string) string {
	all := p.All(ctx)
	i := slices.IndexFunc(all, func(project string) bool { return project != "" && isBelow(path, project) })
	if i < 0 {
		return ""
	}
	return all[i]
}

// placeOf is the file or the directory of an item that a person sent along, read from its place, which
// is written for people: "lines 3-9 of ~/src/a.go, not saved". It is "" for an item without a file,
// and for one of another machine.
func placeOf(item protocol.ContextItem) string {
	if item.Kind == protocol.ContextMemory {
		return ""
	}
	place := item.Place
	if strings.HasPrefix(place, "line") {
		if _, of, found := strings.Cut(place, " of "); found {
			place = of
		}
	}
	if rest, ok := strings.CutPrefix(place, "~/"); ok {
		user, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		place = filepath.Join(user, rest)
	}
	if !filepath.IsAbs(place) {
		return ""
	}
	for { // the name of a file may contain ", " itself
		if _, err := os.Lstat(place); err == nil {
			return place
		}
		at := strings.LastIndex(place, ", ")
		if at < 0 {
			return ""
		}
		place = place[:at]
	}
}
