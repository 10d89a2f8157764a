package service_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/protocol"
	"org-agent/kernel/service"
)

func contains(text, part string) bool { return strings.Contains(text, part) }

// status is a method that answers immediately.
var status = []service.Method{{Name: protocol.MethodStatus, Handle: service.For(func(context.Context, protocol.Empty) (protocol.StatusResult, error) {
	return protocol.StatusResult{Version: "made up"}, nil
})}}

func TestTable(t *testing.T) {
	if _, err := service.NewTable(status, nil, status); err == nil || !contains(err.Error(), protocol.MethodStatus) {
		t.Errorf("two that answer the same: %v", err)
	}
	conn := serve(t, status)("test")
	var result protocol.StatusResult
	if err := conn.Call(within(t), protocol.MethodStatus, protocol.Empty{}, &result); err != nil || result.Version != "made up" {
		t.Errorf("%+v, %v", result, err)
	}
	wantError(t, "what nobody answers", conn.Call(within(t), protocol.MethodShutdown, protocol.Empty{}, nil), protocol.CodeMethodNotFound, protocol.MethodShutdown)
}

// A client's next request waits for the previous one, unless that is concurrent.
func TestConcurrent(t *testing.T) {
	blocked := func(wrap func(service.Handler) service.Handler) (answered bool) {
		started, end := make(chan struct{}), make(chan struct{})
		slow := wrap(service.For(func(ctx context.Context, _ protocol.Empty) (protocol.Empty, error) {
			close(started)
			select {
			case <-end:
			case <-ctx.Done():
			}
			return protocol.Empty{}, nil
		}))
		conn := serve(t, status, []service.Method{{Name: protocol.MethodShutdown, Handle: slow}})("test")
		slowResult := make(chan error, 1)
		go func() { slowResult <- conn.Call(within(t), protocol.MethodShutdown, protocol.Empty{}, nil) }()
		<-started
		next := make(chan error, 1)
		go func() { next <- conn.Call(within(t), protocol.MethodStatus, protocol.Empty{}, nil) }()
		select {
		case <-next:
			answered = true
		case <-time.After(300 * time.Millisecond):
		}
		if !answered {
			close(end)
			<-next
		} else {
			close(end)
		}
		<-slowResult
		return answered
	}
	if !blocked(service.Concurrent) {
		t.Error("a request waits for a concurrent one")
	}
	if blocked(func(h service.Handler) service.Handler { return h }) {
		t.Error("a request does not wait for the one before")
	}
}
