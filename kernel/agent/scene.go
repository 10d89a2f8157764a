package agent

import (
	"org-agent/kernel/agent/history"
	"org-agent/kernel/agent/loop"
	"org-agent/kernel/kind"
	"org-agent/kernel/policy"
	"org-agent/kernel/session"
	"org-agent/kernel/tool"
)

// scene tells the policy where a turn takes place: which projects it is about, and what others may
// have written of what its model is shown. The tools are called in the name of the turn.
type scene struct {
	turn     *session.Turn
	program  *program
	steps    *loop.Steps
	past     func() *history.Shown // nil before there is any
	tools    *tool.Registry
	actions  *kind.Set        // that there are in the turn
	projects *policy.Projects // nil before the program is known
}

// where is the turn for the policy.
func (s *scene) where() policy.Where {
	record := s.turn.Record
	return policy.Where{Session: record.Session, Turn: record.ID, Route: record.Question.Route, Projects: s.projects, Tools: s.tools, Kinds: s.actions}
}
