package modeltest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/journal"
	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
)

// Measured is what a task took. Cost is nil if any part of it is not known.
type Measured struct {
	Input   int      `json:"input"`
	Output  int      `json:"output"`
	Seconds float64  `json:"seconds"` // that the model took
	Cost    *float64 `json:"cost,omitempty"`
}

// add adds what something else took. first is true if nothing was added before.
func (m *Measured) add(other Measured, first bool) {
	m.Input, m.Output, m.Seconds = m.Input+other.Input, m.Output+other.Output, m.Seconds+other.Seconds
	switch {
	case other.Cost == nil:
		m.Cost = nil
	case first:
		m.Cost = new(*other.Cost)
	case m.Cost != nil:
		m.Cost = new(*m.Cost + *other.Cost)
	}
}

// story is what the journal of a task's home tells.
type story struct {
	outcome  Outcome
	measured Measured
	fault    string // why the model's server did not answer, "" if it did
	notice   string // what a person would have been told at the end
	asked    bool   // the model was asked at all
	replies  []string
}

// readStory reads the journal of the home after its kernel has ended. last is the turn of the last question.
func (h *home) readStory(ctx context.Context, last string) (s story, err error) {
	j, err := journal.OpenToRead(ctx, h.paths.Journal)
	if err != nil {
		return s, err
	}
	defer j.Close()
	for query := (journal.Query{}); ; {
		entries, err := j.Records.Entries(ctx, query)
		if err != nil {
			return s, fmt.Errorf("read what the kernel recorded: %w", err)
		}
		if len(entries) == 0 {
			return s, nil
		}
		for _, e := range entries {
			if err := s.read(h, e, last); err != nil {
				return s, fmt.Errorf("read row %d of what the kernel recorded: %w", e.Seq, err)
			}
		}
		query.After = entries[len(entries)-1].Seq
	}
}

// read reads one row.
func (s *story) read(h *home, e journal.Entry, last string) error {
	switch e.Kind {
	case journal.KindModelReply:
		return s.reply(e)
	case journal.KindToolStep:
		var step journal.ToolStep
		if err := json.Unmarshal(e.Data, &step); err != nil {
			return err
		}
		s.step(h, step)
	case journal.KindApproval, journal.KindQuestion:
		var ask protocol.Ask
		if err := json.Unmarshal(e.Data, &ask); err != nil {
			return err
		}
		what := ask.Reason
		if ask.Sort == protocol.AskQuestion {
			what = "an answer to a question"
		}
		s.outcome.Refused = append(s.outcome.Refused, what)
	case journal.KindAct:
		var act journal.Act
		if err := json.Unmarshal(e.Data, &act); err != nil {
			return err
		}
		if act.Kind == journal.ActAnswer && e.Turn == last {
			s.outcome.Answer = action.Recorded(act.Action).Text("text")
		}
	case journal.KindTurn:
		var turn struct {
			State  protocol.TurnState
			Notice string
		}
		if err := json.Unmarshal(e.Data, &turn); err != nil {
			return err
		}
		if e.Turn == last {
			s.outcome.Answered, s.notice = turn.State == protocol.TurnAnswered, turn.Notice
		}
	}
	return nil
}

// reply counts a reply of the model.
func (s *story) reply(e journal.Entry) error {
	var data struct {
		Text, Err     string
		Input, Output int
		Cost          *float64
		Seconds       float64
		Calls         json.RawMessage
	}
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return err
	}
	s.measured.add(Measured{data.Input, data.Output, data.Seconds, data.Cost}, !s.asked)
	s.asked = true
	if s.fault = data.Err; s.fault == "" || data.Text != "" {
		s.replies = append(s.replies, strings.TrimSpace(data.Text+"\n"+string(data.Calls)))
	}
	return nil
}

// step notes the calls of a step that did not end the turn.
func (s *story) step(h *home, step journal.ToolStep) {
	a := action.Recorded(step.Action)
	if a.IsZero() {
		return // it was no action; the model was told so
	}
	performed := step.Verdict == "performed"
	calls := a.Calls()
	if len(calls) == 0 {
		s.call(h, action.Call{Tool: a.Name()}, performed && step.Code == "")
	}
	for i, c := range calls {
		did := performed && step.Code == ""
		if i < len(step.Calls) { // of a batch
			did = performed && !step.Calls[i].Failed
		}
		s.call(h, c, did)
	}
}

// call notes one call.
func (s *story) call(h *home, made action.Call, performed bool) {
	c := Call{Tool: made.Tool, Arguments: map[string]any{}, Performed: performed}
	fields, _ := made.Args.(sexp.List)
	for i := 0; i+1 < len(fields); i += 2 {
		if key, ok := fields[i].(plist.Keyword); ok {
			c.Arguments[string(key)] = h.value(fields[i+1])
		}
	}
	s.outcome.Calls = append(s.outcome.Calls, c)
}

// value returns the value of an argument.
func (h *home) value(x sexp.Sexp) any {
	if text, ok := x.(plist.String); ok {
		return h.relative(string(text))
	}
	return plist.Print(x)
}
