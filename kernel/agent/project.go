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

// projectTurns is how many of the earlier turns say what a conversation is about.
const projectTurns = 50

// projectsOf finds, once in a turn and when it is first asked for, the projects that the
// conversation is about: those of what the person sent along, and of the directory that they
// asked from, now and before. Only who sits at this machine can say so.
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

// placed is the file or the directory that something stands in which a person sent along: its
// place is written for people, as in "lines 3-9 of ~/src/a.go, not saved". It is "" where it stands
// in none, or in one of another machine.
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
	for { // a file's name may have what else is said in it
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
