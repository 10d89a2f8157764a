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

// Outline returns the story as Org. It has a heading for each thing that happened, in order. Long texts
// are blocks below headings of their own.
func (t Trace) Outline(kinds Kinds) string {
	s := &story{trace: t, kinds: kinds, begun: t.Turn.Accepted}
	s.opening()
	for _, e := range t.Entries {
		s.entry(e)
	}
	if t.Left {
		s.heading(1, "There is more")
		s.write("The turn has more rows than are read at once.\n")
	}
	return s.out.String()
}

// story writes the outline of one turn.
type story struct {
	outline
	trace    Trace
	kinds    Kinds
	begun    time.Time // of this attempt
	at       time.Time // of the row at hand
	requests int       // how often the model was asked in this attempt
	// before is the proposal at hand; rewritten says that the skill returned another.
	before    string
	rewritten bool
}

// summary describes an action of the journal in a line.
func (s *story) summary(text string) string {
	return s.kinds.Describe(action.Recorded(text), describe.Deps{}).Summary
}

// opening shows the turn and how it ended.
func (s *story) opening() {
	turn := s.trace.Turn
	s.heading(1, "%s: %s", state(turn.State), turn.Question.Text)
	s.field("You asked about", "the %s %s", s.trace.Named.Kind, s.trace.Named.ID)
	s.field("Turn", "%s", turn.ID)
	s.field("Session", "%s", turn.Session)
	if origin := s.trace.Origin; origin.ID != "" {
		s.field("Copied from", "the turn %s of the conversation %s, where this happened", origin.ID, origin.Session)
	}
	s.field("Received", "%s", clock(turn.Accepted))
	if turn.Attempt > 1 {
		s.field("Attempts", "%d", turn.Attempt)
	}
	if turn.Attempt <= 1 && !turn.Started.IsZero() && !turn.Accepted.IsZero() {
		s.field("Waited in the queue", "%s", duration(turn.Started.Sub(turn.Accepted)))
	}
	if !turn.Started.IsZero() && !turn.Finished.IsZero() {
		s.field("Took", "%s", duration(turn.Finished.Sub(turn.Started)))
	}
	s.field("Skill", "%s", turn.Skill)
	s.field("Model", "%s", turn.Model)
	s.field("Tokens and cost", "%s", spent(turn.Input, turn.Output, turn.Cost))
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

func state(of protocol.TurnState) string {
	if of == "" {
		return "Turn"
	}
	return strings.ToUpper(string(of[:1])) + string(of[1:])
}

// spent returns the tokens and the cost of a turn or a reply, "" when they are not known.
func spent(input, output int, cost float64) string {
	if input == 0 && output == 0 && cost == 0 {
		return ""
	}
	text := fmt.Sprintf("%d tokens in, %d out", input, output)
	if cost > 0 {
		text += fmt.Sprintf(", $%.4f", cost)
	}
	return text
}

// event adds the heading of something that happened, with the time since the attempt began.
func (s *story) event(format string, args ...any) {
	s.heading(1, "%s", fmt.Sprintf("+%s ", duration(s.at.Sub(s.begun)))+fmt.Sprintf(format, args...))
}

// entry shows one row. A row that cannot be read as one of its kind is shown as it is.
func (s *story) entry(e journal.Entry) {
	s.at = e.Time
	tell := tellers[e.Kind]
	if tell == nil {
		s.event("%s", e.Kind)
		s.code(2, "Row "+fmt.Sprint(e.Seq), string(e.Data))
		return
	}
	if err := tell(s, e); err != nil {
		s.event("%s that cannot be read: %v", e.Kind, err)
		s.code(2, "Row "+fmt.Sprint(e.Seq), string(e.Data))
	}
}

// tellers are the functions that show each kind of row. A teller that returns an error has written
// nothing.
var tellers = map[journal.Kind]func(*story, journal.Entry) error{
	journal.KindEvent:        (*story).received,
	journal.KindChoice:       (*story).choice,
	journal.KindModelRequest: (*story).request,
	journal.KindAsked:        (*story).asking,
	journal.KindToolStep:     (*story).toolStep,
	journal.KindModelReply:   (*story).reply,
	journal.KindProposal:     (*story).proposal,
	journal.KindVerdict:      (*story).verdict,
	journal.KindApproval:     (*story).approval,
	journal.KindDecision:     (*story).decision,
	journal.KindQuestion:     (*story).question,
	journal.KindAnswer:       (*story).answer,
	journal.KindAct:          (*story).act,
	journal.KindReceipt:      (*story).receipt,
	journal.KindUndo:         (*story).undone,
	journal.KindTurn:         (*story).turn,
	journal.KindContext:      (*story).context,
	journal.KindSteer:        (*story).steer,
	journal.KindRecall:       (*story).recall,
	journal.KindMemory:       (*story).memory,
	journal.KindPreference:   (*story).preference,
	journal.KindUsage:        func(*story, journal.Entry) error { return nil }, // the reply told it
	journal.KindNotice:       (*story).verbatim,
	journal.KindLog:          (*story).verbatim,
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
	s.event("What went along: %d", len(data.Items))
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
	s.event("Told while it ran")
	s.text(2, "Text", data.Text)
	return nil
}

func (s *story) preference(e journal.Entry) error {
	var data struct{ Not bool }
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return err
	}
	if data.Not {
		s.event("Not preferred any more: %s", e.ID)
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
		s.begun, s.requests = e.Time, 0
		s.event("Answered again, attempt %d", data.Attempt)
		return nil
	}
	s.event("Turn %s", data.State)
	s.field("Notice", "%s", data.Notice)
	return nil
}

// verbatim shows a row by its kind and its data.
func (s *story) verbatim(e journal.Entry) error {
	s.event("%s", e.Kind)
	s.text(2, "Said", string(e.Data))
	return nil
}
