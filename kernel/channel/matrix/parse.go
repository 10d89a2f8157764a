package matrix

import (
	"encoding/json"
	"errors"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"
)

// parse reads an event of a room. Other servers write events, and one that is no event must not stand in the way of
// those that are: ok is false. Of a message whose fields are of wrong types, its text is left.
func parse(raw json.RawMessage, room id.RoomID) (evt *event.Event, ok bool) {
	evt = &event.Event{}
	if err := json.Unmarshal(raw, evt); err != nil {
		var bare struct {
			StateKey  *string       `json:"state_key"`
			Sender    id.UserID     `json:"sender"`
			Type      event.Type    `json:"type"`
			Timestamp json.Number   `json:"origin_server_ts"`
			ID        id.EventID    `json:"event_id"`
			Content   event.Content `json:"content"`
		}
		if json.Unmarshal(raw, &bare) != nil {
			return nil, false
		}
		at, _ := bare.Timestamp.Float64()
		evt = &event.Event{StateKey: bare.StateKey, Sender: bare.Sender, Type: bare.Type, Timestamp: int64(at), ID: bare.ID, Content: bare.Content}
	}
	evt.RoomID = room
	return evt, evt.Type.Type != "" && evt.Content.Raw != nil && parseContent(evt)
}

// parseContent reads the content of an event by its type.
func parseContent(evt *event.Event) bool {
	evt.Type.Class = event.MessageEventType
	if evt.StateKey != nil {
		evt.Type.Class = event.StateEventType
	}
	evt.Content.Parsed = nil
	err := evt.Content.ParseRaw(evt.Type)
	if err == nil {
		return evt.Content.Parsed != nil
	}
	evt.Content.Parsed = nil
	if errors.Is(err, event.ErrUnsupportedContentType) {
		return true
	}
	if evt.Type != event.EventMessage {
		return false
	}
	body, said := evt.Content.Raw["body"].(string)
	evt.Content.Parsed = &event.MessageEventContent{MsgType: event.MsgText, Body: body}
	return said
}
