package rpc

import (
	"context"
	"fmt"
	"reflect"

	"org-agent/kernel/protocol"
)

// typed keeps a handler to the schema. It answers what none should see: methods
// there are not, those that the other side sends, the old form and params that
// could not be read. A result must have the method's type; nil is its zero.
func typed(s schema, fromClient bool, next handler) handler {
	return func(ctx context.Context, c *call) (any, error) {
		row, known := s[c.method]
		switch {
		case c.oldForm:
			return nil, protocol.Errorf(protocol.CodeForbidden, sayOldForm)
		case !known:
			return nil, protocol.Errorf(protocol.CodeMethodNotFound, "there is no method %q; the nearest is %q", clip(c.method), s.nearest(c.method, fromClient))
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
