package rpc_test

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/sourcegraph/jsonrpc2"

	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// The library's own connection, with its Content-Length codec, is a client as any
// other: it initializes, sends events, performs an act and reads an error.
func TestLibraryIsAClient(t *testing.T) {
	path := serve(t, &rpc.Server{Handler: handlerFunc(func(ctx context.Context, r *rpc.Request) (any, error) {
		event, ok := r.Params.(*protocol.Object)
		if !ok {
			return nil, protocol.Errorf(protocol.CodeNotFound, "there is none")
		}
		r.Release()
		receipt, err := r.Client.Act(ctx, protocol.Act{ID: "a1", Payload: *event})
		return protocol.EventResult{Event: event.Text("id"), Turn: receipt.SHA256}, err
	})})
	over, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	perform := func(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
		if r.Method != protocol.MethodAct {
			return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound}
		}
		return protocol.Receipt{SHA256: "performed"}, nil
	}
	c := jsonrpc2.NewConn(t.Context(), jsonrpc2.NewBufferedStream(over, jsonrpc2.VSCodeObjectCodec{}), jsonrpc2.HandlerWithError(perform))
	defer c.Close()
	hello := protocol.InitializeParams{Protocol: protocol.ProtocolRange{Min: 1, Max: 1}, Token: string(testToken)}
	var welcome protocol.InitializeResult
	if err := c.Call(t.Context(), protocol.MethodInitialize, hello, &welcome); err != nil || welcome.Server.Name != "org-agent" {
		t.Fatalf("initialize: %+v %v", welcome, err)
	}
	var result protocol.EventResult
	event := protocol.Object{{Key: "id", Value: "q1"}, {Key: "text", Value: "zażółć <b> 😀"}}
	if err := c.Call(t.Context(), protocol.MethodEvent, event, &result, jsonrpc2.StringID()); err != nil || result.Event != "q1" || result.Turn != "performed" {
		t.Errorf("event: %+v %v", result, err)
	}
	err = c.Call(t.Context(), protocol.MethodTurnGet, protocol.TurnGetParams{Turn: "x"}, nil)
	if theirs, ok := errors.AsType[*jsonrpc2.Error](err); !ok || theirs.Code != int64(protocol.CodeNotFound) || theirs.Message != "there is none" {
		t.Errorf("turn/get: %v", err)
	}
}

// The codes of package protocol, which does not know the library, are the library's.
func TestCodesAreTheLibrarys(t *testing.T) {
	for ours, theirs := range map[protocol.Code]int64{
		protocol.CodeParse:          jsonrpc2.CodeParseError,
		protocol.CodeInvalidRequest: jsonrpc2.CodeInvalidRequest,
		protocol.CodeMethodNotFound: jsonrpc2.CodeMethodNotFound,
		protocol.CodeInvalidParams:  jsonrpc2.CodeInvalidParams,
		protocol.CodeInternal:       jsonrpc2.CodeInternalError,
	} {
		if int64(ours) != theirs {
			t.Errorf("%d is the library's %d", ours, theirs)
		}
	}
}
