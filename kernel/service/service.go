// Package service answers the methods of the wire. Each family of methods is a small type that
// holds only what it needs; its Methods returns the list of what it answers. A [Table] is made from
// such lists.
//
// A handler answers one request of one client. The requests of one client are handled one at a time
// in the order of their arrival, unless a handler is [Concurrent]. The requests of different
// clients are handled at the same time, so every type here is safe for many goroutines.
package service

import (
	"context"
	"fmt"

	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// Handler answers a method. Parameters and results have the types in [protocol.Methods].
type Handler func(ctx context.Context, r *rpc.Request) (any, error)

// Method is a method of the wire with its handler.
type Method struct {
	Name   string
	Handle Handler
}

// For makes a handler from a function with typed parameters that does not need the client.
func For[P, R any](answer func(ctx context.Context, params P) (R, error)) Handler {
	return ForRequest(func(ctx context.Context, _ *rpc.Request, params P) (R, error) { return answer(ctx, params) })
}

// ForClient is [For] for a function that also gets the client.
func ForClient[P, R any](answer func(ctx context.Context, client *rpc.Client, params P) (R, error)) Handler {
	return ForRequest(func(ctx context.Context, r *rpc.Request, params P) (R, error) { return answer(ctx, r.Client, params) })
}

// ForRequest is [For] for a function that also gets the request, which it may release.
func ForRequest[P, R any](answer func(ctx context.Context, r *rpc.Request, params P) (R, error)) Handler {
	return func(ctx context.Context, r *rpc.Request) (any, error) { return answer(ctx, r, *r.Params.(*P)) }
}

// Concurrent allows the client's next request to be handled at the same time.
func Concurrent(handle Handler) Handler {
	return func(ctx context.Context, r *rpc.Request) (any, error) {
		r.Release()
		return handle(ctx, r)
	}
}

// Table maps the methods to their handlers. It implements [rpc.Handler].
type Table map[string]Handler

// NewTable makes a table from lists of methods. It returns an error if two lists have the same
// method.
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
func (t Table) Handle(ctx context.Context, r *rpc.Request) (any, error) {
	handle := t[r.Method]
	if handle == nil {
		return nil, protocol.Errorf(protocol.CodeMethodNotFound, "%s is not a method that clients call", r.Method)
	}
	return handle(ctx, r)
}
