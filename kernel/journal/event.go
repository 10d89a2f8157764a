package journal

import (
	"encoding/json"
	"fmt"

	"org-agent/kernel/protocol"
)

// eventData is the data of an event's row; id and session have columns.
type eventData struct {
	Sensor protocol.Sensor `json:"sensor"`
	// Channel replaces a route in events that were recorded before there were routes.
	Channel protocol.Channel `json:"channel,omitempty"`
	Route   protocol.Route   `json:"route,omitzero"`
	Level   int              `json:"level"`
	Text    string           `json:"text"`
	// Of a command.
	Command   string `json:"command,omitempty"`
	Arguments string `json:"arguments,omitempty"`
	// Context describes the context items. A row of the kind context has their content.
	Context []protocol.ContextItem `json:"context,omitempty"`
	Payload protocol.ExactObject   `json:"payload,omitzero"`
	Instead string                 `json:"instead,omitempty"`
	Parent  string                 `json:"parent,omitempty"`
	// Properties are those of the heading of the event, Presets the presets that its text names.
	// The settings that follow from them belong to the turn, because a later attempt may have
	// others.
	Properties []protocol.Property `json:"properties,omitempty"`
	Presets    []string            `json:"presets,omitempty"`
}

func eventDataOf(e protocol.Event) eventData {
	return eventData{e.Sensor, "", e.Route, e.Level, e.Text, e.Command, e.Arguments, e.Context, protocol.ExactObject(e.Payload), e.Instead,
		e.Parent, e.Properties, e.Presets}
}

// Event returns the event that a row of kind event records.
func (e Entry) Event() (protocol.Event, error) {
	if e.Kind != KindEvent {
		return protocol.Event{}, fmt.Errorf("read row %d as an event: it is a %s", e.Seq, e.Kind)
	}
	var data eventData
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return protocol.Event{}, fmt.Errorf("read the event %s of row %d: %w", e.ID, e.Seq, err)
	}
	if data.Route.Kind == "" {
		data.Route = protocol.RouteOf(data.Sensor, data.Channel, protocol.Object(data.Payload).Chat())
	}
	return protocol.Event{
		ID: e.ID, Session: e.Session, Sensor: data.Sensor, Route: data.Route,
		Text: data.Text, Command: data.Command, Arguments: data.Arguments, Level: data.Level, Context: data.Context, Payload: protocol.Object(data.Payload), Instead: data.Instead,
		Parent: data.Parent, Properties: data.Properties, Presets: data.Presets,
	}, nil
}
