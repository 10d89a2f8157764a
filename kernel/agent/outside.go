package agent

import "cmp"

const attached = "what was attached"

// outside names something in what the model is shown that others may have written, "" if there is
// nothing of the kind. It counts what was attached, and the results of tools that return more than
// the words of the person or of the kernel, in this turn and in the earlier turns that are shown. A
// message is the person's, also where they pasted something, and so are their own notes.
func (s *scene) outside() string {
	if s.program.outside != "" {
		return s.program.outside
	}
	if len(s.turn.Record.Question.Context) > 0 {
		return attached
	}
	return cmp.Or(s.steps.Outside(), s.pastOutside())
}

// pastOutside is outside for the earlier turns that are shown.
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
