package llm

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Original is a reply with calls, as its server sent it: the thinking, which is signed or encrypted, and
// the calls that came of it. Servers refuse a conversation in which it is missing or changed, or answer
// worse. It goes back to the model that wrote it and to no other.
type Original struct {
	// Writer is the server and the model, as [Writer] names them.
	Writer string `json:"writer"`
	// Data is JSON in the notation of the server. Only the provider that made it reads it.
	Data json.RawMessage `json:"data"`
}

// Writer names a model of a provider.
func Writer(provider, model string) string { return provider + "/" + model }

// By returns the data if that model wrote it, or else nil.
func (o *Original) By(writer string) json.RawMessage {
	if o == nil || o.Writer != writer {
		return nil
	}
	return o.Data
}

// size returns the number of bytes of the data.
func (o *Original) size() int {
	if o == nil {
		return 0
	}
	return len(o.Data)
}

// Without returns the original, or nil if f, which hides secrets, would change it.
func (o *Original) Without(f func(string) string) *Original {
	if o == nil || !o.stays(f) {
		return nil
	}
	return o
}

// stays reports whether f leaves the data unchanged.
func (o *Original) stays(f func(string) string) bool { return f(string(o.Data)) == string(o.Data) }

// Matches reports whether the names of calls are those of the functions in a message, in the same order.
// What a person or a skill has made of the calls may differ from what the model wrote; it is then not
// shown as the model's.
func (m Message) Matches(names []string) bool {
	return slices.EqualFunc(m.Calls, names, func(c Call, name string) bool { return c.Function != nil && c.Function.Name == FunctionName(name) })
}

// ArgumentsOf returns the arguments of a call to be sent: as the model wrote them, if they still mean the
// same, or else as they are now.
func ArgumentsOf(written, now string) string {
	var one, other any
	if decodeNumbers(written, &one) != nil || decodeNumbers(now, &other) != nil {
		return now
	}
	a, errA := json.Marshal(one)
	b, errB := json.Marshal(other)
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		return now
	}
	return written
}

// decodeNumbers decodes JSON and keeps numbers as they are written.
func decodeNumbers(text string, value *any) error {
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.UseNumber()
	return decoder.Decode(value)
}
