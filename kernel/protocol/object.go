package protocol

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Object is an object whose keys are not fixed by a Go type: an event's
// payload, an action's fields. It keeps the order of its fields and has each key
// once. Values are string, bool, int64, float64, [Keyword], Object and []any of
// these. A nil value and a missing field are the same.
type Object []Field

// Field is one key and its value; keys are lower case, without a colon.
type Field struct {
	Key   string
	Value any
}

// enumKeys are the keys whose values are enums at any depth of an object with
// free keys. JSON has strings for them, a plist has keywords.
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

// Remove returns the value of key as [Object.Text] does and removes the field.
func (o *Object) Remove(key string) string {
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

// SetPlistField sets a field from the plist codec. The codec's own keywords become a [Keyword] of
// the same name.
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

// enum returns the keyword for a string under an enum key, nil for an empty one.
func enum(text string) any {
	name := strings.ToLower(strings.TrimPrefix(text, ":"))
	if name == "" {
		return nil
	}
	return Keyword(name)
}

// own converts the codec's values into those of an Object.
func own(value any) any {
	switch v := value.(type) {
	case interface{ KeywordName() string }:
		return Keyword(v.KeywordName())
	case *Object:
		return *v
	case *Arguments:
		return Object(*v)
	case []any:
		for i := range v {
			v[i] = own(v[i])
		}
		return v
	}
	return value
}

// Chat returns the chat that a message's payload names, "" for none.
func (o Object) Chat() string { return o.Text("chat-id") }
