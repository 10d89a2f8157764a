package rpc

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"org-agent/kernel/protocol"
	"org-agent/kernel/suggest"
	"org-agent/kernel/text"
)

// schema maps each method to its Go types and its sender.
type schema map[string]schemaMethod

type schemaMethod struct {
	protocol.Method
	fromClient bool
}

// newSchema takes the table of package protocol, in which the methods of
// clients come first and MethodAct is the kernel's first.
func newSchema() schema {
	s := schema{}
	fromClient := true
	for _, m := range protocol.Methods() {
		if m.Name == protocol.MethodAct {
			fromClient = false
		}
		s[m.Name] = schemaMethod{m, fromClient}
	}
	return s
}

// newParams is a pointer to a new value of the method's params.
func (m schemaMethod) newParams() any { return reflect.New(m.Params).Interface() }

// checkType reports a value that is neither of the type nor a pointer to it: a
// mistake in this program, not of the peer's.
func checkType(what string, value any, want reflect.Type) error {
	got := reflect.TypeOf(value)
	if got == nil || got == want || got.Kind() == reflect.Pointer && got.Elem() == want && !reflect.ValueOf(value).IsNil() {
		return nil
	}
	return fmt.Errorf("%s must be a %s, not a %s", what, want, got)
}

// suggest returns the method of that side with the most similar name.
func (s schema) suggest(name string, fromClient bool) string {
	name = text.Clip(name, quoted)
	best, least := "", -1
	for _, candidate := range slices.Sorted(s.names(fromClient)) {
		if d := suggest.Distance(name, candidate); least < 0 || d < least {
			best, least = candidate, d
		}
	}
	return best
}

func (s schema) names(fromClient bool) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for name, m := range s {
			if m.fromClient == fromClient && !yield(name) {
				return
			}
		}
	}
}

// typed passes the calls that the schema knows from that side, with params of their type, and answers
// all others itself. The result must have the method's type; nil stands for its zero value.
func typed(s schema, fromClient bool, next handler) handler {
	return func(ctx context.Context, c *call) (any, error) {
		row, known := s[c.method]
		switch {
		case c.oldForm:
			return nil, protocol.Errorf(protocol.CodeForbidden, sayOldForm)
		case !known:
			return nil, protocol.Errorf(protocol.CodeMethodNotFound, "there is no method %q; the nearest is %q", text.Clip(c.method, quoted), s.suggest(c.method, fromClient))
		case row.fromClient != fromClient:
			return nil, protocol.Errorf(protocol.CodeMethodNotFound, "the method %q is for the other direction", c.method)
		case c.fault != nil:
			return nil, c.fault
		}
		result, err := next(ctx, c)
		if err != nil || row.Result == nil {
			return nil, err
		}
		if result == nil {
			return reflect.Zero(row.Result).Interface(), nil
		}
		if err := checkType("the result", result, row.Result); err != nil {
			return nil, fmt.Errorf("answer %s: %w", c.method, err)
		}
		return result, nil
	}
}
