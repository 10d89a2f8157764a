package clients

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"org-agent/kernel/kind"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/tool"
)

// DefaultTimeout is how long an Emacs may take to answer a question, including the time in which
// it reports that it is busy.
const DefaultTimeout = 8 * time.Second

// busyPause is the pause before a busy Emacs, in which the person is typing, is asked again.
const busyPause = 150 * time.Millisecond

// Emacs is the Emacs of a conversation for tools: the one that sent the message, or else the one
// that was used last.
type Emacs struct {
	Clients *Clients
	Timeout time.Duration // 0 for [DefaultTimeout]
	NewID   func() string
	// Change returns the act by which an editor changes a text in a file.
	Change func(file, old, new string) protocol.Act
}

// ask asks the Emacs again until its answer is not that it is busy.
func ask[R any](ctx context.Context, e Emacs, in tool.Conversation, method string, params any, busy func(*R) bool) (answer R, err error) {
	timeout := cmp.Or(e.Timeout, DefaultTimeout)
	ctx, stop := context.WithTimeoutCause(ctx, timeout, protocol.ToolErrorf(protocol.ToolTimeout,
		"Emacs did not answer within %v: it may be waiting for its user, or at work; go on without it, or try again later", timeout))
	defer stop()
	for {
		client := e.Clients.choose(in.Event, func(can protocol.Capabilities) bool { return can.CanAnswer(method) })
		if client == nil {
			return answer, tool.ErrNoEmacs
		}
		result, err := client.Ask(ctx, method, params)
		switch {
		case ctx.Err() != nil:
			return answer, context.Cause(ctx)
		case protocol.ErrorCode(err) == protocol.CodeMethodNotFound && err != nil:
			return answer, fmt.Errorf("%w that answers this: its org-agent is older than the kernel", tool.ErrNoEmacs)
		case errors.Is(err, rpc.ErrConnectionLost), errors.Is(err, rpc.ErrNotConnected):
			return answer, fmt.Errorf("%w any more: it went before it answered", tool.ErrNoEmacs)
		case err != nil:
			return answer, refusedByEmacs(err)
		}
		read := result.(*R) // the method's schema guarantees the type
		if !busy(read) {
			return *read, nil
		}
		select {
		case <-ctx.Done():
			return answer, context.Cause(ctx)
		case <-time.After(busyPause):
		}
	}
}

// refusedByEmacs returns the tool error for a request that an Emacs does not answer.
func refusedByEmacs(err error) error {
	code := protocol.ToolFailed
	switch protocol.ErrorCode(err) {
	case protocol.CodeForbidden:
		code = protocol.ToolRefused
	case protocol.CodeNotFound:
		code = protocol.ToolNotFound
	case protocol.CodeConflict:
		code = protocol.ToolChanged
	}
	return protocol.ToolErrorf(code, "%w", err)
}

// Notes implements [tool.Emacs].
func (e Emacs) Notes(ctx context.Context, in tool.Conversation, p protocol.EmacsNotesParams) (protocol.EmacsNotes, error) {
	return ask(ctx, e, in, protocol.MethodEmacsNotes, p, func(r *protocol.EmacsNotes) bool { return r.Busy })
}

// Agenda implements [tool.Emacs].
func (e Emacs) Agenda(ctx context.Context, in tool.Conversation, p protocol.EmacsAgendaParams) (protocol.EmacsAgenda, error) {
	return ask(ctx, e, in, protocol.MethodEmacsAgenda, p, func(r *protocol.EmacsAgenda) bool { return r.Busy })
}

// Buffers implements [tool.Emacs].
func (e Emacs) Buffers(ctx context.Context, in tool.Conversation, p protocol.EmacsBuffersParams) (protocol.EmacsBuffers, error) {
	return ask(ctx, e, in, protocol.MethodEmacsBuffers, p, func(r *protocol.EmacsBuffers) bool { return r.Busy })
}

// Read implements [tool.Emacs].
func (e Emacs) Read(ctx context.Context, in tool.Conversation, p protocol.EmacsReadParams) (protocol.EmacsRead, error) {
	return ask(ctx, e, in, protocol.MethodEmacsRead, p, func(r *protocol.EmacsRead) bool { return r.Busy })
}

// Contacts returns the entries of the person's address books in which a query occurs.
func (e Emacs) Contacts(ctx context.Context, in tool.Conversation, p protocol.EmacsContactsParams) (protocol.EmacsContacts, error) {
	return ask(ctx, e, in, protocol.MethodEmacsContacts, p, func(r *protocol.EmacsContacts) bool { return r.Busy })
}

// Edit implements [tool.Emacs]: it is an :edit as a model may propose it by itself.
func (e Emacs) Edit(ctx context.Context, in tool.Conversation, file, old, new string) (protocol.Receipt, error) {
	change := e.Change(file, old, new)
	change.ID, change.Session, change.Turn, change.Event = e.NewID(), in.Session, in.Turn, in.Event
	_, receipt, err := e.Clients.Perform(ctx, change)
	switch {
	case errors.Is(err, kind.ErrNoPerformer):
		return receipt, tool.ErrNoEmacs
	case protocol.ErrorCode(err) == protocol.CodeForbidden && err != nil:
		return receipt, protocol.ToolErrorf(protocol.ToolChanged, "%w", err)
	}
	return receipt, err
}
