package agent

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// projectTurns is how many earlier turns are looked at for projects.
const projectTurns = 50

// projectsOf returns the projects that the conversation is about: those of what the person sent along,
// in this turn and in earlier ones, and that of the directory they asked from. They are found once in
// a turn, when they are first asked for. Only messages from this machine count.
func (s *scene) projectsOf(ctx context.Context) []string {
	if s.projects != nil {
		return *s.projects
	}
	found := []string{}
	record := s.turn.Record
	found = append(found, s.program.projects...)
	if record.Question.Route.Local() {
		add := func(path string) {
			if project := policy.ProjectOf(path); project != "" && !slices.Contains(found, project) {
				found = append(found, project)
			}
		}
		add(record.Question.Payload.Text(protocol.PayloadDirectory))
		sent := record.Question.Context
		earlier, err := s.journal.History(ctx, record.Session, record.ID, projectTurns)
		if err != nil {
			s.log.Warn("what was sent along before opens no project", "err", err)
		}
		for _, e := range earlier {
			sent = append(slices.Clip(sent), e.Context...)
		}
		for _, item := range sent {
			add(placed(item))
		}
	}
	s.projects = &found
	return found
}

// placed is the file or the directory of an item that a person sent along, read from its place, which
// is written for people: "lines 3-9 of ~/src/a.go, not saved". It is "" for an item without a file,
// and for one of another machine.
func placed(item protocol.ContextItem) string {
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
