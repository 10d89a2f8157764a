package protocol

import "iter"

// Arguments is an [Object] in which a value that is nil differs from a missing one: the arguments of a
// call. A tool may take a missing argument for true, and false has to reach it. In JSON false, null, [] and
// {} are nil when they are read, and nil is null when it is written.
type Arguments Object

// MarshalJSON writes the fields in order; keywords become strings.
func (a Arguments) MarshalJSON() ([]byte, error) { return Object(a).MarshalJSON() }

// UnmarshalJSON reads an object as [Object.UnmarshalJSON] does, and keeps the keys of values that are nil.
func (a *Arguments) UnmarshalJSON(data []byte) error {
	object, err := readObject(data, objectReader{nils: true})
	if err == nil {
		*a = Arguments(object)
	}
	return err
}

// PlistFields yields the fields in order, for the plist codec.
func (a Arguments) PlistFields() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for _, f := range a {
			if !yield(f.Key, inner(f.Value)) {
				return
			}
		}
	}
}

// inner returns a value with the objects in it as Arguments.
func inner(value any) any {
	switch v := value.(type) {
	case Object:
		return Arguments(v)
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = inner(v[i])
		}
		return all
	}
	return value
}

// SetPlistField sets a field from the plist codec, as that of [Object] does.
func (a *Arguments) SetPlistField(key string, value any) error {
	if value == nil {
		*a = append(*a, Field{key, nil})
		return nil
	}
	return (*Object)(a).SetPlistField(key, value)
}

// KeepsNil tells the plist codec that a field that is nil is not a missing one.
func (Arguments) KeepsNil() {}
