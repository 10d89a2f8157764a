package agent

import (
	"cmp"
	"context"
	"log/slog"
	"slices"

	"org-agent/kernel/agent/history"
	"org-agent/kernel/journal"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/tool"
)

// pastTurns are the earlier turns of a conversation.
type pastTurns interface {
	History(ctx context.Context, session, beforeTurn string, limit int) ([]*journal.Exchange, error)
}

// scene tells the policy where a turn takes place: which projects it is about, and what others may
// have written of what its model is shown.
type scene struct {
	record  journal.Turn
	known   []string // the projects of what is known when the turn begins
	foreign string   // what others may have written of that
	earlier pastTurns
	tools   *tool.Registry // in whose name calls are judged
	log     *slog.Logger

	steps    interface{ Outside() string } // nil in a turn that is only shown
	past     func() *history.Shown         // nil before there is any
	projects *[]string                     // nil before they are known
}

// where is the turn for the policy.
func (s *scene) where() policy.Where {
	return policy.Where{Session: s.record.Session, Turn: s.record.ID, Route: s.record.Question.Route, Projects: s.Projects, Tools: s.tools}
}

const attached = "what was attached"

// Outside names something in what the model is shown that others may have written, "" if there is
// nothing of the kind. It counts what was attached, and the results of tools that return more than
// the words of the person or of the kernel, in this turn and in the earlier turns that are shown. A
// message is the person's, also where they pasted something, and so are their own notes.
func (s *scene) Outside() string {
	if s.foreign != "" {
		return s.foreign
	}
	if len(s.record.Question.Context) > 0 {
		return attached
	}
	return cmp.Or(s.steps.Outside(), s.pastOutside())
}

// pastOutside is Outside for the earlier turns that are shown.
func (s *scene) pastOutside() string {
	switch past := s.past(); {
	case past == nil:
		return ""
	case past.Outside != "":
		return past.Outside
	case past.Attached:
		return attached
	case past.NotedOutside:
		return "what was noted of earlier turns"
	}
	return ""
}

// projectTurns is how many earlier turns are looked at for projects.
const projectTurns = 50

// Projects returns the projects that the conversation is about: those of what the person sent along,
// in this turn and in earlier ones, and that of the directory they asked from. They are found once in
// a turn, when they are first asked for. Only messages from this machine count.
func (s *scene) Projects(ctx context.Context) []string {
	if s.projects != nil {
		return *s.projects
	}
	found := append([]string{}, s.known...)
	if question := s.record.Question; question.Route.Local() {
		add := func(path string) {
			if project := policy.ProjectOf(path); project != "" && !slices.Contains(found, project) {
				found = append(found, project)
			}
		}
		add(question.Payload.Text(protocol.PayloadDirectory))
		sent := question.Context
		earlier, err := s.earlier.History(ctx, s.record.Session, s.record.ID, projectTurns)
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
