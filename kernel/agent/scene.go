package agent

import (
	"cmp"
	"context"

	"org-agent/kernel/agent/history"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/policy"
	"org-agent/kernel/tool"
)

// scene has for the policy the place of a turn, its projects, and whether its model was shown text of
// other authors.
type scene struct {
	record   journal.Turn
	foreign  string // names text of other authors that the turn begins with; "" for none
	projects *policy.Projects
	tools    *tool.Registry // the tools of the turn
	kinds    *kind.Set      // the kinds of actions of the turn

	steps interface{ Outside() string } // nil in a dry run
	past  func() *history.Excerpt       // returns nil before the model is shown any
}

// where returns the place of the turn for the policy.
func (s *scene) where() policy.Where {
	return policy.Where{Session: s.record.Session, Turn: s.record.ID, Route: s.record.Question.Route, Projects: s.projects, Tools: s.tools, Kinds: s.kinds}
}

// Projects returns the projects of the turn.
func (s *scene) Projects(ctx context.Context) []string { return s.projects.All(ctx) }

const attached = "what was attached"

// Outside names text in the requests that other authors may have written, "" if there is none.
// Attachments are such text, and results of tools that return more than the words of the person or of
// the kernel, in this turn and in the shown earlier turns. A message counts as the person's own text
// even if parts of it were pasted, and so do the person's notes.
func (s *scene) Outside() string {
	if s.foreign != "" {
		return s.foreign
	}
	if len(s.record.Question.Context) > 0 {
		return attached
	}
	return cmp.Or(s.steps.Outside(), s.pastOutside())
}

// pastOutside is Outside for the shown earlier turns.
func (s *scene) pastOutside() string {
	switch past := s.past(); {
	case past == nil:
		return ""
	case past.Outside != "":
		return past.Outside
	case past.HasAttachments:
		return attached
	case past.NotesOutside:
		return "what was noted of earlier turns"
	}
	return ""
}
