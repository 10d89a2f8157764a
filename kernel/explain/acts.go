package explain

import (
	"encoding/json"
	"strings"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// verdict shows the verdict of the skill or of the policy on a proposal.
func (s *story) verdict(e journal.Entry) error {
	var data struct {
		Gate, Verdict, Reason, Hash, Action, Err string
		Event                                    string
		Symbolic                                 *bool
		Hooks                                    []hookVerdict
	}
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return err
	}
	if data.Gate == "skill" {
		s.event("Verdict of the skill: %s", data.Verdict)
		s.field("Reason", "%s", data.Reason)
		s.field("Error", "%s", data.Err)
		if data.Action != "" {
			s.code(2, "Before", s.proposalText)
			s.code(2, "After", data.Action)
			s.rewritten = true
		}
		return nil
	}
	if data.Gate == "hooks" {
		s.event("Hooks at %s: %s", data.Event, data.Verdict)
		s.field("Reason", "%s", data.Reason)
		return nil
	}
	if data.Symbolic != nil && !s.rewritten {
		outcome := "same: its symbolic function left the proposal as it is"
		if !*data.Symbolic {
			outcome = "same: it has no symbolic function"
		}
		s.event("Verdict of the skill: %s", outcome)
	}
	s.rewritten = false
	s.event("Verdict of the %s: %s", data.Gate, data.Verdict)
	s.field("Rule", "%s", data.Reason)
	s.field("Hash of the action", "%s", data.Hash)
	for _, h := range data.Hooks {
		s.event("Verdict of the hook %s: %s", h.Hook, h.Verdict)
		s.field("Reason", "%s", h.Reason)
		s.note("Note", h.File, max(h.Line, 1), false)
		s.text(2, "Added for the model", h.Append)
	}
	return nil
}

// hookVerdict is a hook's verdict on a proposal.
type hookVerdict struct {
	Hook, File, Verdict, Reason, Append string
	Line                                int
}

func (s *story) approval(e journal.Entry) error {
	var data protocol.Ask
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return err
	}
	s.event("A person was asked: %s", data.Reason)
	s.field("What", "%s", s.summary(data.Action))
	s.field("Approval", "%s", e.ID)
	s.code(2, "Action", data.Action)
	return nil
}

// decision shows a person's decision, and for how long it counts.
func (s *story) decision(e journal.Entry) error {
	data, err := journal.ReadOutcome(e)
	if err != nil {
		return err
	}
	scope := map[protocol.Decision]string{
		protocol.AllowOnce: "allowed once", protocol.AllowTurn: "allowed for this turn",
		protocol.AllowSession: "allowed for this session", protocol.AllowAlways: "always allowed", protocol.AllowReading: "allowed with all reading in the project",
		protocol.Deny: "refused", "": "not decided, because the turn ended",
	}[data.Decision]
	if scope == "" {
		scope = string(data.Decision)
	}
	s.event("A person's decision: %s", scope)
	s.field("Approval", "%s", e.ID)
	s.field("When", "%s", clockText(e.Time))
	s.field("With", "%s", data.Client)
	s.field("Reason", "%s", data.Comment)
	s.code(2, "Edited to", data.Edited)
	return nil
}

// act shows an action that was begun.
func (s *story) act(e journal.Entry) error {
	var data journal.Act
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return err
	}
	s.event("%s", map[string]string{
		journal.ActAnswer: "Answer put into the conversation", journal.ActNotice: "Notice put into the conversation",
		journal.ActSent: "Put into the conversation before the answer", journal.ActAsk: "Ask put into the conversation",
		journal.ActAction: "Action performed",
	}[data.Kind]+" ")
	if data.Kind == journal.ActAction {
		s.field("What", "%s", s.summary(data.Action))
	}
	s.field("Id", "%s", e.ID)
	s.code(2, "Action", data.Action)
	s.code(2, "Org text", data.Text)
	return nil
}

// receipt shows the report of whoever carried out the action.
func (s *story) receipt(e journal.Entry) error {
	var data journal.Receipt
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return err
	}
	by := data.Client
	if by == "" {
		by = "the kernel"
	}
	if data.Failure != "" {
		s.event("Receipt of %s: failure", by)
	} else {
		s.event("Receipt of %s", by)
	}
	s.field("Of", "%s", e.ID)
	s.field("Failure", "%s", data.Failure)
	s.field("Buffer", "%s", data.Buffer)
	s.field("File", "%s", data.File)
	if data.Chars > 0 {
		s.field("Characters", "%d, from %d to %d", data.Chars, data.Start, data.End)
	}
	s.field("SHA-256", "%s", data.SHA256)
	for _, former := range data.Former {
		was := strings.TrimSpace(former.Line)
		if was == "" {
			was = "nothing"
		}
		s.field("Before, "+former.Name, "%s", was)
	}
	var parts []string
	if data.Saved {
		parts = append(parts, "saved in the file")
	}
	if data.Done {
		parts = append(parts, "done")
	}
	s.field("Outcome", "%s", strings.Join(parts, ", "))
	return nil
}

// undo shows that a person took an action back.
func (s *story) undo(e journal.Entry) error {
	s.event("Undone by a person")
	s.field("Of", "%s", e.ID)
	s.field("When", "%s", clockText(e.Time))
	return nil
}
