package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Object is an object whose keys are not fixed by a Go type: an event's
// payload, an action's fields. It keeps the order of its fields; a key stands
// once. Values are string, bool, int64, float64, [Keyword], Object and []any of
// these. A nil value and a missing field are the same.
type Object []Field

// Field is one key and its value; keys are lower case, without a colon.
type Field struct {
	Key   string
	Value any
}

// enumKeys are the keys whose values are enums wherever they stand in an
// object with free keys: JSON has only strings there, a plist has keywords.
var enumKeys = map[string]bool{
	"type": true, "target": true, "action": true, "sensor": true, "channel": true, "act": true,
}

// IsEnumKey reports whether the values of key are enums.
func IsEnumKey(key string) bool { return enumKeys[key] }

// Get returns the value of key, or nil.
func (o Object) Get(key string) any {
	for _, f := range o {
		if f.Key == key {
			return f.Value
		}
	}
	return nil
}

// Text returns the value of key as text: a string, or the name of a keyword;
// "" for anything else.
func (o Object) Text(key string) string {
	switch v := o.Get(key).(type) {
	case string:
		return v
	case Keyword:
		return string(v)
	}
	return ""
}

// Set gives key a value, in its old place or at the end.
func (o *Object) Set(key string, value any) {
	for i, f := range *o {
		if f.Key == key {
			(*o)[i].Value = value
			return
		}
	}
	*o = append(*o, Field{key, value})
}

// Take returns the value of key as [Object.Text] does and takes the field away.
func (o *Object) Take(key string) string {
	text := o.Text(key)
	*o = slices.DeleteFunc(*o, func(f Field) bool { return f.Key == key })
	return text
}

// PlistFields yields the fields in order, for the plist codec.
func (o Object) PlistFields() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for _, f := range o {
			if !yield(f.Key, f.Value) {
				return
			}
		}
	}
}

// SetPlistField takes a field from the plist codec, which knows keywords that
// are not ours by their name.
func (o *Object) SetPlistField(key string, value any) error {
	if o.Get(key) != nil {
		return fmt.Errorf("the key :%s stands twice", key)
	}
	value = own(value)
	if text, ok := value.(string); ok && IsEnumKey(key) {
		value = enum(text)
	}
	o.Set(key, value)
	return nil
}

// enum is the keyword that a string under an enum key stands for; an empty one
// is nil.
func enum(text string) any {
	name := strings.ToLower(strings.TrimPrefix(text, ":"))
	if name == "" {
		return nil
	}
	return Keyword(name)
}

// own turns the codec's values into ours.
func own(value any) any {
	switch v := value.(type) {
	case interface{ KeywordName() string }:
		return Keyword(v.KeywordName())
	case *Object:
		return *v
	case []any:
		for i := range v {
			v[i] = own(v[i])
		}
		return v
	}
	return value
}

// MarshalJSON writes the fields in order; keywords become strings.
func (o Object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(f.Key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(f.Value)
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", f.Key, err)
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads an object in order. Keys are folded to lower case; a key
// that then stands twice is an error. Strings under an enum key become
// keywords; false, null, {} and [] are left out, being nil.
func (o *Object) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	v, err := readValue(dec, "")
	if err != nil {
		return err
	}
	switch v := v.(type) {
	case nil:
		*o = nil
		return nil
	case Object:
		*o = v
		return nil
	}
	return fmt.Errorf("want an object, not %s", strings.TrimSpace(string(data[:min(len(data), 40)])))
}

func readValue(dec *json.Decoder, key string) (any, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '[' {
			return readArray(dec, key)
		}
		return readObject(dec)
	case string:
		if IsEnumKey(key) {
			return enum(t), nil
		}
		return t, nil
	case json.Number:
		if i, err := t.Int64(); err == nil {
			return i, nil
		}
		f, err := t.Float64()
		if err != nil {
			return nil, fmt.Errorf("the number %s is out of range", t)
		}
		return f, nil
	case bool:
		if !t {
			return nil, nil
		}
		return true, nil
	}
	return nil, nil
}

func readObject(dec *json.Decoder) (any, error) {
	var o Object
	seen := map[string]bool{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, err
		}
		key := strings.ToLower(token.(string)) // the decoder yields only strings here
		if seen[key] {
			return nil, fmt.Errorf("the key %q stands twice", key)
		}
		seen[key] = true
		value, err := readValue(dec, key)
		if err != nil {
			return nil, err
		}
		if value != nil {
			o = append(o, Field{key, value})
		}
	}
	if _, err := dec.Token(); err != nil { // the closing brace
		return nil, err
	}
	if o == nil {
		return nil, nil
	}
	return o, nil
}

func readArray(dec *json.Decoder, key string) (any, error) {
	var items []any
	for dec.More() {
		v, err := readValue(dec, "")
		if err != nil {
			return nil, fmt.Errorf("in the array of %s: %w", key, err)
		}
		items = append(items, v)
	}
	if _, err := dec.Token(); err != nil { // the closing bracket
		return nil, err
	}
	if items == nil {
		return nil, nil
	}
	return items, nil
}

// Chat is the room or chat that a message's payload names, "" for none.
func (o Object) Chat() string {
	if room := o.Text("room-id"); room != "" {
		return room
	}
	return o.Text("chat-id")
}
