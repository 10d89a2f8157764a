package explain

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"org-agent/kernel/action"
	"org-agent/kernel/describe"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// Kinds describe an action in a line.
type Kinds interface {
	Describe(a action.Action, w describe.Deps) describe.Description
}

// Outline returns the trace as Org. It has a heading for each event, in order. Long texts
// are blocks below headings of their own.
func (t Trace) Outline(kinds Kinds) string {
	s := &story{trace: t, kinds: kinds, attemptStart: t.Turn.Accepted}
	s.header()
	for _, e := range t.Entries {
		s.entry(e)
	}
	if t.Truncated {
		s.heading(1, "There is more")
		s.write("The turn has more rows than are read at once.\n")
	}
	return s.out.String()
}

// story writes the outline of one turn.
type story struct {
	outline
	trace        Trace
	kinds        Kinds
	attemptStart time.Time // the start of this attempt
	rowTime      time.Time // the time of the current row
	requests     int       // the number of requests in this attempt
	// proposalText is the current proposal. rewritten is set if the skill returned another one.
	proposalText string
	rewritten    bool
}

// summary describes an action of the journal in a line.
func (s *story) summary(text string) string {
	return s.kinds.Describe(action.Recorded(text), describe.Deps{}).Summary
}

// header shows the turn and its end.
func (s *story) header() {
	turn := s.trace.Turn
	s.heading(1, "%s: %s", stateText(turn.State), turn.Question.Text)
	s.field("You asked about", "the %s %s", s.trace.Named.Kind, s.trace.Named.ID)
	s.field("Turn", "%s", turn.ID)
	s.field("Session", "%s", turn.Session)
	if origin := s.trace.Origin; origin.ID != "" {
		s.field("Copied from", "the turn %s of the conversation %s, where this happened", origin.ID, origin.Session)
	}
	s.field("Received", "%s", clockText(turn.Accepted))
	if turn.Attempt > 1 {
		s.field("Attempts", "%d", turn.Attempt)
	}
	if turn.Attempt <= 1 && !turn.Started.IsZero() && !turn.Accepted.IsZero() {
		s.field("Waited in the queue", "%s", durationText(turn.Started.Sub(turn.Accepted)))
	}
	if !turn.Started.IsZero() && !turn.Finished.IsZero() {
		s.field("Took", "%s", durationText(turn.Finished.Sub(turn.Started)))
	}
	s.field("Skill", "%s", turn.Skill)
	s.field("Model", "%s", turn.Model)
	s.field("Tokens and cost", "%s", usageText(turn.Input, turn.Output, turn.Cost))
	s.field("Notice", "%s", turn.Notice)
	s.field("Asked below", "%s", turn.Parent)
	for _, set := range turn.Settings {
		if set.Name != protocol.SettingSystem {
			s.field(set.Name, "%s, set by %s", set.Value, set.From)
		}
	}
	for _, set := range turn.Settings {
		if set.Name == protocol.SettingSystem {
			s.text(2, "SYSTEM, set by "+set.From, set.Value)
		}
	}
}

func stateText(of protocol.TurnState) string {
	if of == "" {
		return "Turn"
	}
	return strings.ToUpper(string(of[:1])) + string(of[1:])
}

// usageText returns the tokens and the cost of a turn or a reply, "" if they are unknown.
func usageText(input, output int, cost float64) string {
	if input == 0 && output == 0 && cost == 0 {
		return ""
	}
	text := fmt.Sprintf("%d tokens in, %d out", input, output)
	if cost > 0 {
		text += fmt.Sprintf(", $%.4f", cost)
	}
	return text
}

// event adds a heading for an event, with the time since the start of the attempt.
func (s *story) event(format string, args ...any) {
	s.heading(1, "%s", fmt.Sprintf("+%s ", durationText(s.rowTime.Sub(s.attemptStart)))+fmt.Sprintf(format, args...))
}

// entry shows one row. If its data are not as its kind requires, it shows the data verbatim.
func (s *story) entry(e journal.Entry) {
	s.rowTime = e.Time
	render := renderers[e.Kind]
	if missing, some := missingPart(e); missing != "" {
		if some && render(s, e) == nil {
			s.field("Not whole", "%s", missing)
		} else {
			s.event("%s that is not here", e.Kind)
			s.field("Why", "%s", missing)
		}
		return
	}
	if render == nil {
		s.event("%s", e.Kind)
		s.code(2, "Row "+fmt.Sprint(e.Seq), string(e.Data))
		return
	}
	if err := render(s, e); err != nil {
		s.event("%s that cannot be read: %v", e.Kind, err)
		s.code(2, "Row "+fmt.Sprint(e.Seq), string(e.Data))
	}
}

// missingPart says why data is missing that was moved to the archive, "" if none is. some is set if a part is
// there.
func missingPart(e journal.Entry) (missing string, some bool) {
	switch e.Kind {
	case journal.KindModelRequest, journal.KindModelReply, journal.KindProposal:
		var data struct {
			journal.Stub
			Messages []json.RawMessage
		}
		if json.Unmarshal(e.Data, &data) == nil {
			return data.Missing, len(data.Messages) > 0
		}
	}
	return "", false
}

// renderers has the function for each kind of row. A function that returns an error has written
// nothing.
var renderers = map[journal.Kind]func(*story, journal.Entry) error{
	journal.KindEvent:         (*story).received,
	journal.KindChoice:        (*story).choice,
	journal.KindModelRequest:  (*story).request,
	journal.KindShownQuestion: (*story).modelQuestion,
	journal.KindToolStep:      (*story).toolStep,
	journal.KindModelReply:    (*story).reply,
	journal.KindProposal:      (*story).proposal,
	journal.KindVerdict:       (*story).verdict,
	journal.KindApproval:      (*story).approval,
	journal.KindDecision:      (*story).decision,
	journal.KindQuestion:      (*story).question,
	journal.KindAnswer:        (*story).answer,
	journal.KindAct:           (*story).act,
	journal.KindReceipt:       (*story).receipt,
	journal.KindUndo:          (*story).undo,
	journal.KindTurn:          (*story).turn,
	journal.KindContext:       (*story).context,
	journal.KindSteer:         (*story).steer,
	journal.KindRecall:        (*story).recall,
	journal.KindMemory:        (*story).memory,
	journal.KindPreference:    (*story).preference,
	journal.KindUsage:         func(*story, journal.Entry) error { return nil }, // the reply shows it
	journal.KindNotice:        (*story).rawRow,
	journal.KindLog:           (*story).rawRow,
}

func (s *story) received(e journal.Entry) error {
	event, err := e.Event()
	if err != nil {
		return err
	}
	s.event("Event: %s", event.Sensor)
	s.field("Id", "%s", e.ID)
	s.field("Came from", "%s", event.Route)
	if event.Command != "" {
		s.field("Command", "/%s %s", event.Command, event.Arguments)
	}
	s.text(2, "Text", event.Text)
	if len(event.Payload) > 0 {
		var raw struct{ Payload json.RawMessage }
		if err := json.Unmarshal(e.Data, &raw); err == nil {
			s.code(2, "Payload", string(raw.Payload))
		}
	}
	return nil
}

func (s *story) context(e journal.Entry) error {
	var data struct {
		Items []struct {
			Kind, Name, Text string
			Bytes            int
		}
	}
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return err
	}
	s.event("Items sent with the message: %d", len(data.Items))
	for _, item := range data.Items {
		s.text(2, item.Kind+" "+item.Name, item.Text)
	}
	return nil
}

func (s *story) steer(e journal.Entry) error {
	var data struct{ Text string }
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return err
	}
	s.event("Message to the running turn")
	s.text(2, "Text", data.Text)
	return nil
}

func (s *story) preference(e journal.Entry) error {
	var data struct{ Not bool }
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return err
	}
	if data.Not {
		s.event("No longer preferred: %s", e.ID)
	} else {
		s.event("Preferred to the other answers: %s", e.ID)
	}
	return nil
}

func (s *story) turn(e journal.Entry) error {
	var data struct {
		State   protocol.TurnState
		Attempt int
		Notice  string
	}
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return err
	}
	if data.State == protocol.TurnQueued {
		s.attemptStart, s.requests = e.Time, 0
		s.event("Attempt %d", data.Attempt)
		return nil
	}
	s.event("Turn %s", data.State)
	s.field("Notice", "%s", data.Notice)
	return nil
}

// rawRow shows a row by its kind and its data.
func (s *story) rawRow(e journal.Entry) error {
	s.event("%s", e.Kind)
	s.text(2, "Data", string(e.Data))
	return nil
}
