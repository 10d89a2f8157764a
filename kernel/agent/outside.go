package agent

import (
	"github.com/chewxy/sexp"

	"org-agent/kernel/agent/history"
	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
)

const attached = "what was attached"

// outside names something that came into what the model is shown and that others may have
// written, in this turn or in an earlier one that is still shown: what was attached, or what a
// tool returned that does not only tell what the person or the kernel wrote. "" when there is
// nothing of the kind. What a person types or pastes into a message is theirs, and so is what
// they are reminded of from their own notes.
func (r *run) outside() string {
	if r.handed != nil && r.handed.Outside != "" {
		return r.handed.Outside
	}
	if r.turn.Record.Question.Route.Kind == protocol.RouteMCP {
		return "another program's call" // of which nobody knows whose words it has
	}
	if len(r.turn.Record.Question.Context) > 0 {
		return attached
	}
	for _, round := range r.rounds {
		if name := r.agent.returned(round.Action); name != "" {
			return name
		}
	}
	return r.pastOutside()
}

// pastOutside is outside for the earlier turns. It is found once for what is shown of them: a
// verdict is wanted for each batch of a reply, and a conversation may have had many calls.
func (r *run) pastOutside() string {
	if r.pastFound != r.past {
		r.pastFound, r.pastNames = r.past, r.namesOutside(r.past)
	}
	return r.pastNames
}

func (r *run) namesOutside(past *history.Shown) string {
	for _, action := range past.Actions {
		if name := r.agent.returned(action); name != "" {
			return name
		}
	}
	switch {
	case past.Attached:
		return attached
	case past.NotedOutside:
		return "what was noted of earlier turns"
	}
	return ""
}

// returned names what came of an action if others may have written it; "" otherwise.
func (a *Agent) returned(action string) string {
	made, err := readAction(action)
	if err != nil {
		return ""
	}
	target, _ := plist.Get(made, "target")
	switch target {
	case plist.Keyword("shell"):
		return "what a command wrote"
	case plist.Keyword("tool"):
		for _, call := range append(callsOf(made), fieldsOf(made)) {
			if name := a.foreign(call); name != "" {
				return "what " + name + " returned"
			}
		}
	}
	return ""
}

// foreign is the tool that a call is of, "" if it tells only what the person or the kernel wrote.
func (a *Agent) foreign(call sexp.List) string {
	tool, _ := plist.Get(call, "tool")
	name, _ := tool.(plist.String)
	if name == "" || a.config.Tools.Own(string(name)) {
		return ""
	}
	return string(name)
}
