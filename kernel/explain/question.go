package explain

import (
	"encoding/json"
	"strings"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// question shows a question to a person.
func (s *story) question(e journal.Entry) error {
	var data protocol.Ask
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return err
	}
	if data.Form == nil {
		data.Form = &protocol.QuestionForm{}
	}
	s.event("A person was asked: %s", data.Form.Title)
	s.field("Question", "%s", e.ID)
	for _, f := range data.Form.Fields {
		s.field(f.Name, "%s (%s) %s", f.Question, f.Kind, strings.Join(f.Options, ", "))
	}
	return nil
}

// answer shows a person's answer. The journal does not have its secrets.
func (s *story) answer(e journal.Entry) error {
	outcome, err := journal.ReadOutcome(e)
	if err != nil {
		return err
	}
	state := string(outcome.Decision)
	if state == "" {
		state = "withdrawn"
	}
	s.event("The question was %s", state)
	s.field("Question", "%s", e.ID)
	s.field("When", "%s", clockText(e.Time))
	s.field("With", "%s", outcome.Client)
	s.field("Reason", "%s", outcome.Comment)
	for _, a := range outcome.Answers {
		value := strings.Join(a.Values, ", ")
		if len(a.Values) == 0 {
			value = "secret, and recorded nowhere"
		}
		s.field(a.Name, "%s", value)
	}
	return nil
}
