package explain

import (
	"encoding/json"
	"fmt"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// recall shows the reminders of the turn.
func (s *story) recall(e journal.Entry) error {
	var data struct {
		Items []protocol.ContextItem
		Err   string
	}
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return err
	}
	s.event("Reminders from the memory: %d", len(data.Items))
	s.field("Error", "%s", data.Err)
	for _, item := range data.Items {
		s.text(2, fmt.Sprintf("%s (%s)", item.Name, item.Place), item.Text)
	}
	return nil
}

// memory shows a change of the memory.
func (s *story) memory(e journal.Entry) error {
	var data struct{ Operation, Path, Record, Before, After, Undoes string }
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return err
	}
	s.event("Memory: %s", data.Operation)
	s.field("Change", "%s", e.ID)
	s.field("File", "%s", data.Path)
	s.field("Record", "%s", data.Record)
	s.field("Undoes", "%s", data.Undoes)
	s.code(2, "Before", data.Before)
	s.code(2, "After", data.After)
	return nil
}
