package explain

import (
	"encoding/json"
	"strings"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// question shows a question to a person.
func (s *story) question(e journal.Entry) error {
	var data protocol.Question
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return err
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
	var data struct {
		State   protocol.QuestionState
		Reason  string
		Client  string
		Answers []protocol.FieldAnswer
	}
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return err
	}
	s.event("The question was %s", data.State)
	s.field("Question", "%s", e.ID)
	s.field("When", "%s", clock(e.Time))
	s.field("With", "%s", data.Client)
	s.field("Reason", "%s", data.Reason)
	for _, a := range data.Answers {
		value := strings.Join(a.Values, ", ")
		if len(a.Values) == 0 {
			value = "given, and kept nowhere"
		}
		s.field(a.Name, "%s", value)
	}
	return nil
}
