package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ExactObject is an [Object] whose JSON encoding loses nothing, for the journal. The JSON of the
// wire has the same type for keywords and strings and for both kinds of numbers, and leaves out
// empty values. Here a keyword is a string that begins with a colon, a string that begins with a
// colon or a quote has another quote before it, a float has a point or an exponent, and false,
// null, {}, [] and the case of keys are preserved.
type ExactObject Object

// IsZero reports whether the object is empty.
func (o ExactObject) IsZero() bool { return len(o) == 0 }

// MarshalJSON writes the fields in order. A value that no Object holds is an
// error.
func (o ExactObject) MarshalJSON() ([]byte, error) { return writeObject(Object(o), true) }

// UnmarshalJSON is the inverse of MarshalJSON.
func (o *ExactObject) UnmarshalJSON(data []byte) error {
	object, err := readObject(data, objectReader{exact: true})
	*o = ExactObject(object)
	return err
}

// MarshalJSON writes the fields in order; keywords become strings.
func (o Object) MarshalJSON() ([]byte, error) { return writeObject(o, false) }

// UnmarshalJSON reads an object in order. Keys are folded to lower case, and a
// key that occurs twice then is an error. Strings under an enum key become
// keywords. The values false, null, {} and [] are nil, so they are left out.
func (o *Object) UnmarshalJSON(data []byte) error {
	object, err := readObject(data, objectReader{})
	if err == nil {
		*o = object
	}
	return err
}

// An objectWriter writes one object, in the wire's form or exactly.
type objectWriter struct {
	bytes.Buffer
	encoder *json.Encoder // writes into the buffer
	exact   bool
}

func writeObject(o Object, exact bool) ([]byte, error) {
	w := &objectWriter{exact: exact}
	w.encoder = json.NewEncoder(w)
	w.encoder.SetEscapeHTML(false)
	err := w.value(o)
	return w.Bytes(), err
}

func (w *objectWriter) value(value any) error {
	switch v := value.(type) {
	case nil:
		w.WriteString("null")
	case bool:
		w.Write(strconv.AppendBool(w.AvailableBuffer(), v))
	case int64:
		w.Write(strconv.AppendInt(w.AvailableBuffer(), v, 10))
	case float64:
		if w.exact {
			return w.exactFloat(v)
		}
		return w.encode(v)
	case Keyword:
		if w.exact {
			v = ":" + v
		}
		return w.encode(string(v))
	case string:
		if w.exact && (strings.HasPrefix(v, ":") || strings.HasPrefix(v, "'")) {
			v = "'" + v
		}
		return w.encode(v)
	case []any:
		return w.items('[', ']', len(v), func(i int) error { return w.value(v[i]) })
	case Object:
		return w.items('{', '}', len(v), func(i int) error {
			if err := w.encode(v[i].Key); err != nil {
				return err
			}
			w.WriteByte(':')
			if err := w.value(v[i].Value); err != nil {
				return fmt.Errorf("write %s: %w", v[i].Key, err)
			}
			return nil
		})
	default:
		if w.exact {
			return fmt.Errorf("a value of type %T has no place in an object", value)
		}
		return w.encode(value)
	}
	return nil
}

func (w *objectWriter) items(begin, end byte, count int, item func(int) error) error {
	w.WriteByte(begin)
	for i := range count {
		if i > 0 {
			w.WriteByte(',')
		}
		if err := item(i); err != nil {
			return err
		}
	}
	w.WriteByte(end)
	return nil
}

func (w *objectWriter) encode(value any) error {
	if err := w.encoder.Encode(value); err != nil {
		return err
	}
	w.Truncate(w.Len() - 1) // the encoder's newline
	return nil
}

func (w *objectWriter) exactFloat(f float64) error {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return fmt.Errorf("%v is not a number", f)
	}
	digits := strconv.FormatFloat(f, 'g', -1, 64)
	w.WriteString(digits)
	if !strings.ContainsAny(digits, ".e") {
		w.WriteString(".0")
	}
	return nil
}

// An objectReader reads one object, in the wire's form or exactly.
type objectReader struct {
	*json.Decoder
	exact bool
	nils  bool // keys of values that are nil stay
}

// readObject reads an object. If it is not exact, an empty value is nil.
func readObject(data []byte, r objectReader) (Object, error) {
	r.Decoder = json.NewDecoder(bytes.NewReader(data))
	r.UseNumber()
	value, err := r.value("")
	if err != nil {
		return nil, err
	}
	object, ok := value.(Object)
	if !ok && value != nil {
		return nil, fmt.Errorf("want an object, not %s", strings.TrimSpace(string(data[:min(len(data), 40)])))
	}
	return object, nil
}

// value reads the value of key.
func (r objectReader) value(key string) (any, error) {
	token, err := r.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '[' {
			return r.array(key)
		}
		return r.object()
	case string:
		return r.text(key, t), nil
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
		if !t && !r.exact {
			return nil, nil
		}
	}
	return token, nil
}

// text returns the string or keyword for a JSON string.
func (r objectReader) text(key, text string) any {
	switch {
	case r.exact && strings.HasPrefix(text, ":"):
		return Keyword(text[1:])
	case r.exact:
		return strings.TrimPrefix(text, "'")
	case IsEnumKey(key):
		return enum(text)
	}
	return text
}

func (r objectReader) object() (any, error) {
	o := Object{}
	seen := map[string]bool{}
	for r.More() {
		token, err := r.Token()
		if err != nil {
			return nil, err
		}
		key := token.(string) // the decoder yields only strings here
		if !r.exact {
			if key = strings.ToLower(key); seen[key] {
				return nil, fmt.Errorf("the key %q stands twice", key)
			}
			seen[key] = true
		}
		value, err := r.value(key)
		if err != nil {
			return nil, err
		}
		if value != nil || r.exact || r.nils {
			o = append(o, Field{key, value})
		}
	}
	if _, err := r.Token(); err != nil { // the closing brace
		return nil, err
	}
	if len(o) == 0 && !r.exact {
		return nil, nil
	}
	return o, nil
}

func (r objectReader) array(key string) (any, error) {
	items := []any{}
	for r.More() {
		v, err := r.value("")
		if err != nil {
			return nil, fmt.Errorf("in the array of %s: %w", key, err)
		}
		items = append(items, v)
	}
	if _, err := r.Token(); err != nil { // the closing bracket
		return nil, err
	}
	if len(items) == 0 && !r.exact {
		return nil, nil
	}
	return items, nil
}
