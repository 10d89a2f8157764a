package daemon

import (
	"context"
	"errors"
	"fmt"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/kind"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/tool"
)

const (
	// emacsPatience is how long an Emacs has to answer what it is asked, however often it says
	// that it is busy.
	emacsPatience = 8 * time.Second
	// emacsPause is how long one that is being typed into is left alone.
	emacsPause = 150 * time.Millisecond
)

// emacs is the Emacs of a conversation, as tools ask it: the one that the question came from,
// else the one that was used last.
type emacs struct {
	editors  *editors
	patience time.Duration
}

// ask asks for something until the answer is not that the Emacs is busy.
func ask[R any](ctx context.Context, e emacs, in tool.Conversation, method string, params any, busy func(*R) bool) (answer R, err error) {
	ctx, stop := context.WithTimeoutCause(ctx, e.patience, protocol.ToolErrorf(protocol.ToolTimeout,
		"Emacs did not answer within %v: it may be waiting for its user, or at work; go on without it, or try again later", e.patience))
	defer stop()
	for {
		client := e.editors.foremost(in.Event, method)
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
		read := result.(*R) // by the schema
		if !busy(read) {
			return *read, nil
		}
		select {
		case <-ctx.Done():
			return answer, context.Cause(ctx)
		case <-time.After(emacsPause):
		}
	}
}

// refusedByEmacs is what an Emacs says of a request that it does not answer.
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
func (e emacs) Notes(ctx context.Context, in tool.Conversation, p protocol.EmacsNotesParams) (protocol.EmacsNotes, error) {
	return ask(ctx, e, in, protocol.MethodEmacsNotes, p, func(r *protocol.EmacsNotes) bool { return r.Busy })
}

// Agenda implements [tool.Emacs].
func (e emacs) Agenda(ctx context.Context, in tool.Conversation, p protocol.EmacsAgendaParams) (protocol.EmacsAgenda, error) {
	return ask(ctx, e, in, protocol.MethodEmacsAgenda, p, func(r *protocol.EmacsAgenda) bool { return r.Busy })
}

// Buffers implements [tool.Emacs].
func (e emacs) Buffers(ctx context.Context, in tool.Conversation, p protocol.EmacsBuffersParams) (protocol.EmacsBuffers, error) {
	return ask(ctx, e, in, protocol.MethodEmacsBuffers, p, func(r *protocol.EmacsBuffers) bool { return r.Busy })
}

// Read implements [tool.Emacs].
func (e emacs) Read(ctx context.Context, in tool.Conversation, p protocol.EmacsReadParams) (protocol.EmacsRead, error) {
	return ask(ctx, e, in, protocol.MethodEmacsRead, p, func(r *protocol.EmacsRead) bool { return r.Busy })
}

// Edit implements [tool.Emacs]: it is an :edit as a model may propose it by itself.
func (e emacs) Edit(ctx context.Context, in tool.Conversation, file, old, new string) (protocol.Receipt, error) {
	_, receipt, err := e.editors.Perform(ctx, protocol.Act{
		ID: newID(), Session: in.Session, Turn: in.Turn, Event: in.Event,
		Type: protocol.TypeRequest, Target: "emacs", Payload: protocol.Object{
			{Key: "action", Value: protocol.Keyword("edit")}, {Key: "file", Value: file}, {Key: "old", Value: old}, {Key: "new", Value: new},
		},
	})
	switch {
	case errors.Is(err, kind.ErrNoPerformer):
		return receipt, tool.ErrNoEmacs
	case protocol.ErrorCode(err) == protocol.CodeForbidden && err != nil:
		return receipt, protocol.ToolErrorf(protocol.ToolChanged, "%w", err)
	}
	return receipt, err
}

// files are what the tools for files work with.
func (d *daemon) files() tool.Files {
	return tool.Files{Home: d.paths.Home, Unread: policy.Unread(d.paths.Home, d.paths.State)}
}

// notes are what the tools for Org files and for Emacs work with.
func (d *daemon) notes(settings config.Settings) tool.Notes {
	n := tool.Notes{Files: d.files(), Emacs: emacs{&d.editors, d.config.EmacsPatience}, NewID: newID, Now: d.now}
	for _, path := range settings.Notes {
		n.Roots = append(n.Roots, d.notePath(path))
	}
	return n
}
