package tool

import (
	"cmp"
	"context"
	"fmt"
	"reflect"

	"org-agent/kernel/protocol"
)

// reachFunction adapts a definition's Reach. It returns nil if there is none. The arguments that
// the function returns have the tool's own names and order, without those that are not set, so that
// two equal calls look equal.
func reachFunction[A any](t *Tool, reach func(context.Context, *Caller, *A) ([]protocol.Reach, error)) func(context.Context, *Caller, protocol.Object) (protocol.Object, []protocol.Reach, error) {
	if reach == nil {
		return nil
	}
	return func(ctx context.Context, by *Caller, arguments protocol.Object) (protocol.Object, []protocol.Reach, error) {
		var a A
		value := reflect.ValueOf(&a).Elem()
		if err := t.schema.read(arguments, value); err != nil {
			return nil, nil, t.argumentError(err)
		}
		all, err := reach(ctx, by, &a)
		if err != nil {
			return nil, nil, err
		}
		return t.schema.write(value), all, nil
	}
}

// touchesShown is the maximum number of things that a call would touch in a list of them.
const touchesShown = 8

// touches lists what a call would touch, for a tool without a preview of its own.
func (t Tool) touches(ctx context.Context, by *Caller, arguments protocol.Object) ([]string, error) {
	_, all, err := t.reach(ctx, by, arguments)
	if err != nil {
		return nil, err
	}
	var lines []string
	reads := len(all) > 0
	for i, r := range all {
		reads = reads && r.Kind == protocol.ReachReads
		switch {
		case i == touchesShown:
			lines = append(lines, fmt.Sprintf("and %d more", len(all)-i))
		case i < touchesShown:
			lines = append(lines, fmt.Sprintf("it %s %s", r.Kind, cmp.Or(r.Command, r.URL, r.Path)))
		}
	}
	if reads {
		lines = append(lines, "it changes nothing")
	}
	return lines, nil
}

// write does the inverse of [schema.read].
func (s schema) write(from reflect.Value) protocol.Object {
	var arguments protocol.Object
	for _, a := range s {
		field := from.Field(a.field)
		if field.IsZero() {
			continue
		}
		arguments = append(arguments, protocol.Field{Key: a.name, Value: a.value(field)})
	}
	return arguments
}

// value returns a field as a value of the wire.
func (a argument) value(field reflect.Value) any {
	switch a.kind {
	case integer:
		return field.Int()
	case flag:
		return field.Bool()
	case number:
		return field.Elem().Float()
	case texts, records:
		all := make([]any, field.Len())
		for i := range all {
			if a.kind == texts {
				all[i] = field.Index(i).String()
			} else {
				all[i] = a.fields.write(field.Index(i))
			}
		}
		return all
	}
	if field.Kind() == reflect.Pointer {
		field = field.Elem()
	}
	return field.String()
}

// Reach returns what a call would touch, and its arguments with resolved names. These arguments are
// judged, shown and performed. A nil reach means that the tool does not know and that the arguments
// are unchanged. An empty one means that the call touches nothing. An error refuses the call and
// says what to do.
func (r *Registry) Reach(ctx context.Context, name string, arguments protocol.Object) (resolved protocol.Object, reach []protocol.Reach, err error) {
	t, found := r.named(name)
	if !found {
		return nil, nil, unknown(name)
	}
	if t.reach == nil {
		return arguments, nil, nil
	}
	resolved, reach, err = t.reach(ctx, r.by(), arguments)
	if err != nil {
		return nil, nil, err
	}
	return resolved, reach, nil
}
