// Package service answers the methods of the wire, by families: each is a small type with only
// what it needs, whose Methods lists what it answers. A [Table] is made of such lists.
//
// A handler answers one request of one client. Those of one client are handled in the order in
// which they came, one at a time, unless a handler is [Concurrent]; those of several clients at
// the same time. So every type here is safe for use by several goroutines.
package service

import (
	"context"
	"fmt"

	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// Handler answers a method. Parameters and results have the types that [protocol.Methods]
// gives.
type Handler func(ctx context.Context, client *rpc.Client, params any) (any, error)

// Method is a method of the wire and what answers it.
type Method struct {
	Name   string
	Handle Handler
}

// For makes a handler of a function that knows the type of its parameters, and to which it is
// all the same who asks.
func For[P, R any](answer func(ctx context.Context, params P) (R, error)) Handler {
	return ForClient(func(ctx context.Context, _ *rpc.Client, params P) (R, error) { return answer(ctx, params) })
}

// ForClient is [For] of a function that is told who asks.
func ForClient[P, R any](answer func(ctx context.Context, client *rpc.Client, params P) (R, error)) Handler {
	return func(ctx context.Context, client *rpc.Client, params any) (any, error) {
		return answer(ctx, client, *params.(*P))
	}
}

// Concurrent lets the client's next request be handled while this one is.
func Concurrent(handle Handler) Handler {
	return func(ctx context.Context, client *rpc.Client, params any) (any, error) {
		rpc.Release(ctx)
		return handle(ctx, client, params)
	}
}

// Table answers what clients may ask. It implements [rpc.Handler].
type Table map[string]Handler

// NewTable makes a table of lists of methods. It fails where two answer the same.
func NewTable(lists ...[]Method) (Table, error) {
	table := Table{}
	for _, list := range lists {
		for _, m := range list {
			if table[m.Name] != nil {
				return nil, fmt.Errorf("two services answer %s", m.Name)
			}
			table[m.Name] = m.Handle
		}
	}
	return table, nil
}

// Handle implements [rpc.Handler].
func (t Table) Handle(ctx context.Context, client *rpc.Client, name string, params any) (any, error) {
	handle := t[name]
	if handle == nil {
		return nil, protocol.Errorf(protocol.CodeMethodNotFound, "%s is not a method that clients call", name)
	}
	return handle(ctx, client, params)
}
