package explain

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// choice shows which skill answers, and which others would have.
func (s *story) choice(e journal.Entry) error {
	var data struct {
		Skill, Hash, Version, File, Command, Set string
		Priority, Line, Unasked                  int
		Shipped                                  bool
		Rivals                                   []struct {
			Name, Hash string
			Priority   int
			CatchAll   bool `json:"catch-all"`
		}
		Faults []string
	}
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return err
	}
	s.event("Skill %s, priority %d", data.Skill, data.Priority)
	s.field("Version", "%s", strings.TrimSpace(data.Version+" "+data.Hash))
	if data.Shipped {
		s.field("Note", "%s, which came with the program", data.File)
	} else {
		s.note("Note", data.File, max(data.Line, 1), false)
	}
	switch {
	case data.Command != "":
		s.field("Why", "it has the command /%s", data.Command)
	case data.Set != "":
		s.field("Why", "%s sets it", data.Set)
	default:
		s.field("Why", "it comes first of the skills whose triggers were true")
	}
	for _, r := range data.Rivals {
		why := "its trigger was true as well"
		if r.CatchAll {
			why = "it answers what no other skill does"
		}
		s.field("Would have answered", "%s@%s, priority %d: %s", r.Name, r.Hash[:min(8, len(r.Hash))], r.Priority, why)
	}
	if len(data.Rivals) == 0 && data.Command == "" && data.Set == "" && data.Unasked == 0 {
		s.field("Would have answered", "no other skill")
	}
	if data.Unasked > 0 {
		s.field("Triggers not run", "%d, because there was no time", data.Unasked)
	}
	for _, fault := range data.Faults {
		s.field("A trigger failed", "%s", fault)
	}
	return nil
}

// request shows the whole request to a model.
func (s *story) request(e journal.Entry) error {
	var data struct {
		Model, System, Grammar string
		Messages               []struct{ Role, Content string }
		Temperature            *float64
		MaxTokens              int
		History                *protocol.History
		Functions              []string
		Structured             bool
	}
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return err
	}
	total := len(data.System)
	for _, m := range data.Messages {
		total += len(m.Content)
	}
	s.requests++
	s.event("Model asked, request %d: %s, %s", s.requests, text.Count(len(data.Messages), "message"), sizeText(total))
	s.field("Model", "%s", data.Model)
	s.pastTurns(data.History)
	if data.Temperature != nil {
		s.field("Temperature", "%g", *data.Temperature)
	}
	if data.MaxTokens > 0 {
		s.field("Tokens at most", "%d", data.MaxTokens)
	}
	if len(data.Functions) > 0 {
		s.field("Functions offered", "%s", strings.Join(data.Functions, ", "))
	}
	if data.Structured {
		s.field("The reply is held to", "%s", "a JSON Schema, made of the kinds of actions and the tools")
	}
	s.code(2, "Grammar", data.Grammar)
	s.text(2, "System prompt", data.System)
	for i, m := range data.Messages {
		s.text(2, fmt.Sprintf("Message %d, %s", i+1, m.Role), m.Content)
	}
	return nil
}

// reply shows a model's reply as it came.
func (s *story) reply(e journal.Entry) error {
	var data struct {
		Text, Finish, Model, Err, Reasoning string
		Input, Output                       int
		Cost                                *float64
		First, Seconds                      float64
	}
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return err
	}
	end := data.Finish
	switch {
	case data.Err != "":
		end = "failure"
	case end == "":
		end = "without a reason for its end"
	}
	s.event("Model replied: %s, %s", sizeText(len(data.Text)), end)
	s.field("Model", "%s", data.Model)
	s.field("Error", "%s", data.Err)
	if data.Seconds > 0 {
		s.field("Took", "%s, %s to the first word", durationText(time.Duration(data.Seconds*float64(time.Second))),
			durationText(time.Duration(data.First*float64(time.Second))))
	}
	cost := 0.0
	if data.Cost != nil {
		cost = *data.Cost
	}
	s.field("Tokens and cost", "%s", usageText(data.Input, data.Output, cost))
	s.text(2, "Thoughts", data.Reasoning)
	s.code(2, "Text", data.Text)
	return nil
}

// proposal shows the proposal in a reply, and the steps of the recovery that found it.
func (s *story) proposal(e journal.Entry) error {
	var data struct {
		Skill, Action, Unusable string
		Steps                   []string
		Candidates              json.RawMessage
		Edited, Asked           bool
	}
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return err
	}
	switch {
	case data.Unusable != "":
		s.event("Reply without a usable proposal")
	case data.Edited:
		s.event("Proposal as a person edited it")
	case data.Asked:
		s.event("Proposal that a person asked for")
	case len(data.Steps) > 0:
		s.event("Proposal, read by %s", strings.Join(data.Steps, ", "))
	default:
		s.event("Proposal of the skill, without a model")
	}
	s.field("Cannot be used", "%s", data.Unusable)
	if data.Unusable != "" {
		s.field("Steps", "%s", strings.Join(data.Steps, ", "))
	}
	if text := string(data.Candidates); text != "" && text != "null" && text != "0" && text != "1" {
		s.field("Candidates", "%s", text)
	}
	s.code(2, "Action", data.Action)
	s.proposalText = data.Action
	return nil
}
