package agent

import (
	"cmp"
)

const attached = "what was attached"

// outside names something that came into what the model is shown and that others may have
// written, in this turn or in an earlier one that is still shown: what was attached, or what a
// tool returned that does not only tell what the person or the kernel wrote. "" when there is
// nothing of the kind. What a person types or pastes into a message is theirs, and so is what
// they are reminded of from their own notes.
func (s *scene) outside() string {
	if s.program.outside != "" {
		return s.program.outside
	}
	if len(s.turn.Record.Question.Context) > 0 {
		return attached
	}
	return cmp.Or(s.steps.foreign, s.pastOutside())
}

// pastOutside is outside for the earlier turns, as far as they are shown.
func (s *scene) pastOutside() string {
	switch past := s.steps.compose.Past(); {
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
