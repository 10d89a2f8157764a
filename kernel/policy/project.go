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

// Projects finds the projects that the conversation of a turn is about, at the first call of
// [Projects.All]:
//
//   - the projects in Given,
//   - the project of the directory in which the person asked,
//   - the projects of the files that the person sent along, in this turn and in earlier ones.
//
// Only a turn from this machine has projects beside those in Given. A nil Projects has none.
type Projects struct {
	// Turn is the turn.
	Turn journal.Turn
	// Given are projects that count in every case.
	Given []string
	// Earlier has the earlier turns.
	Earlier Earlier
	// Log gets an error of Earlier. After an error only this turn counts.
	Log *slog.Logger

	once  sync.Once
	found []string
}

// Earlier reads the earlier turns of conversations. The journal implements it.
type Earlier interface {
	// History returns up to limit exchanges of a session before a turn.
	History(ctx context.Context, session, beforeTurn string, limit int) ([]*journal.Exchange, error)
}

// earlierTurns is how many earlier turns are read to find projects.
const earlierTurns = 50

// All returns the projects. The caller must not change the slice.
func (p *Projects) All(ctx context.Context) []string {
	if p == nil {
		return nil
	}
	p.once.Do(func() { p.found = p.find(ctx) })
	return p.found
}

func (p *Projects) find(ctx context.Context) []string {
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

// containing returns the project that contains the file, or "".
func (p *Projects) containing(ctx context.Context, path string) string {
	all := p.All(ctx)
	i := slices.IndexFunc(all, func(project string) bool { return project != "" && isBelow(path, project) })
	if i < 0 {
		return ""
	}
	return all[i]
}

// placeOf returns the file or the directory of an item that a person sent along. It reads the place of
// the item, which is written for people: "lines 3-9 of ~/src/a.go, not saved". It returns "" for an
// item without a file and for a file on another machine.
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
