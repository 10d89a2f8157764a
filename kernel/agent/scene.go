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

// scene tells the policy where a turn takes place: which projects it is about, and what others may
// have written of what its model is shown.
type scene struct {
	record   journal.Turn
	foreign  string // what others may have written of what is known when the turn begins
	projects *policy.Projects
	tools    *tool.Registry // in whose name calls are judged
	kinds    *kind.Set      // the actions that there are in the turn

	steps interface{ Outside() string } // nil in a turn that is only shown
	past  func() *history.Shown         // nil before there is any
}

// where is the turn for the policy.
func (s *scene) where() policy.Where {
	return policy.Where{Session: s.record.Session, Turn: s.record.ID, Route: s.record.Question.Route, Projects: s.projects, Tools: s.tools, Kinds: s.kinds}
}

// Projects are the projects that the turn is about.
func (s *scene) Projects(ctx context.Context) []string { return s.projects.All(ctx) }

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
