package explain

import (
	"encoding/json"
	"fmt"
	"strings"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// pastTurns shows which part of the conversation a model got.
func (s *story) pastTurns(h *protocol.History) {
	if h == nil {
		return
	}
	known := h.Source
	if known == "" {
		known = "nobody, so it is an assumption"
	}
	s.field("Window", "%d tokens, known by %s", h.Window, known)
	parts := []string{text.Count(h.Turns, "turn") + " in their words"}
	if h.Shortened+h.Omitted > 0 {
		parts = append(parts, fmt.Sprintf("with %d results shortened and %d left out", h.Shortened, h.Omitted))
	}
	if h.Summarised > 0 {
		parts = append(parts, fmt.Sprintf("notes (row %d) of the first %s", h.Compaction, text.Count(h.Summarised, "turn")))
	}
	if h.Left > 0 {
		parts = append(parts, text.Count(h.Left, "turn")+" left out")
	}
	s.field("Earlier turns", "%s; about %d tokens", strings.Join(parts, ", "), h.Tokens)
}

// modelQuestion shows that the model got the question in other words than the person's.
func (s *story) modelQuestion(e journal.Entry) error {
	var data struct{ Text string }
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return err
	}
	s.event("Question as it was sent to the model, %s", sizeText(len(data.Text)))
	s.field("For the answer", "%s", e.ID)
	return nil
}

// toolStep shows a step: the result that the model got, or a person's message to the running turn. The
// next request has the whole text.
func (s *story) toolStep(e journal.Entry) error {
	var data journal.ToolStep
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return err
	}
	if data.Steer != "" {
		s.event("Message of a person to the running turn: %s", data.Steer)
		return nil
	}
	if data.Action == "" && data.Note != "" {
		s.event("Note of the kernel for the model: %s", data.Note)
		return nil
	}
	if !data.IsResult() {
		s.event("Hooks added to the question")
		s.hookTexts(data.Hooks)
		return nil
	}
	bytes := len(data.Text)
	for _, c := range data.Calls {
		bytes += len(c.Text)
	}
	s.event("Result for the model: %s, %s", data.Verdict, sizeText(bytes))
	s.field("Number", "%d", e.Seq)
	s.hookTexts(data.Hooks)
	if data.Note != "" {
		s.field("The kernel added", "%s", data.Note)
	}
	return nil
}

// hookTexts shows the texts that hooks added for the model.
func (s *story) hookTexts(all []journal.StepHook) {
	for _, h := range all {
		s.text(2, "The hook "+h.Hook+" added", h.Text)
	}
}
