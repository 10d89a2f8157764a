package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"org-agent/kernel/protocol"
)

// eventData is the data of an event's row; id and session have columns.
type eventData struct {
	Sensor protocol.Sensor `json:"sensor"`
	// Channel is in the place of a route in events that were kept before there were any.
	Channel protocol.Channel `json:"channel,omitempty"`
	Route   protocol.Route   `json:"route,omitzero"`
	Level   int              `json:"level"`
	Text    string           `json:"text"`
	// Of a command.
	Command   string `json:"command,omitempty"`
	Arguments string `json:"arguments,omitempty"`
	// Context tells of what went along; a row of the kind context holds it.
	Context []protocol.ContextItem `json:"context,omitempty"`
	Payload payload                `json:"payload,omitzero"`
	Instead string                 `json:"instead,omitempty"`
	Parent  string                 `json:"parent,omitempty"`
	// Properties are those of its heading, Presets what the text names of them. What they
	// set is the turn's: an attempt after the first may have others.
	Properties []protocol.Property `json:"properties,omitempty"`
	Presets    []string            `json:"presets,omitempty"`
}

func eventDataOf(e protocol.Event) eventData {
	return eventData{e.Sensor, "", e.Route, e.Level, e.Text, e.Command, e.Arguments, e.Context, payload(e.Payload), e.Instead,
		e.Parent, e.Properties, e.Presets}
}

// Event reads the event that a row of kind event records.
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

// payload is an object that comes back from its JSON as it was: the wire's
// JSON has one type for keywords and strings and one for both numbers, which
// the journal must not lose. A keyword is a string that begins with a colon; a
// string that begins with a colon or a quote has a quote before it; a float
// has a point or an exponent.
type payload protocol.Object

// IsZero reports whether there is nothing to write.
func (p payload) IsZero() bool { return len(p) == 0 }

// MarshalJSON writes the object in order.
func (p payload) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	err := writeValue(&b, protocol.Object(p))
	return b.Bytes(), err
}

func writeValue(b *bytes.Buffer, value any) error {
	switch v := value.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case int64:
		b.WriteString(strconv.FormatInt(v, 10))
	case float64:
		return writeFloat(b, v)
	case protocol.Keyword:
		return writeString(b, ":"+string(v))
	case string:
		if strings.HasPrefix(v, ":") || strings.HasPrefix(v, "'") {
			v = "'" + v
		}
		return writeString(b, v)
	case []any:
		return writeItems(b, '[', ']', len(v), func(i int) error { return writeValue(b, v[i]) })
	case protocol.Object:
		return writeItems(b, '{', '}', len(v), func(i int) error {
			if err := writeString(b, v[i].Key); err != nil {
				return err
			}
			b.WriteByte(':')
			if err := writeValue(b, v[i].Value); err != nil {
				return fmt.Errorf("write %s: %w", v[i].Key, err)
			}
			return nil
		})
	default:
		return fmt.Errorf("a value of type %T has no place in an event", value)
	}
	return nil
}

func writeItems(b *bytes.Buffer, begin, end byte, count int, item func(int) error) error {
	b.WriteByte(begin)
	for i := range count {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := item(i); err != nil {
			return err
		}
	}
	b.WriteByte(end)
	return nil
}

func writeString(b *bytes.Buffer, s string) error {
	quoted, err := encode(s)
	b.Write(quoted)
	return err
}

func writeFloat(b *bytes.Buffer, f float64) error {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return fmt.Errorf("%v is not a number", f)
	}
	digits := strconv.FormatFloat(f, 'g', -1, 64)
	b.WriteString(digits)
	if !strings.ContainsAny(digits, ".e") {
		b.WriteString(".0")
	}
	return nil
}

// UnmarshalJSON is the inverse of MarshalJSON.
func (p *payload) UnmarshalJSON(data []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	value, err := readValue(decoder)
	if err != nil {
		return err
	}
	object, ok := value.(protocol.Object)
	if !ok && value != nil {
		return fmt.Errorf("a payload is an object, not %T", value)
	}
	*p = payload(object)
	return nil
}

func readValue(decoder *json.Decoder) (any, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '[' {
			items := []any{}
			for decoder.More() {
				item, err := readValue(decoder)
				if err != nil {
					return nil, err
				}
				items = append(items, item)
			}
			_, err := decoder.Token() // the closing bracket
			return items, err
		}
		object := protocol.Object{}
		for decoder.More() {
			key, err := decoder.Token()
			if err != nil {
				return nil, err
			}
			value, err := readValue(decoder)
			if err != nil {
				return nil, err
			}
			object = append(object, protocol.Field{Key: key.(string), Value: value}) // the decoder yields only strings here
		}
		_, err := decoder.Token() // the closing brace
		return object, err
	case string:
		if name, ok := strings.CutPrefix(t, ":"); ok {
			return protocol.Keyword(name), nil
		}
		return strings.TrimPrefix(t, "'"), nil
	case json.Number:
		if strings.ContainsAny(t.String(), ".eE") {
			return t.Float64()
		}
		return t.Int64()
	}
	return token, nil
}
