package tool

import (
	"context"

	"org-agent/kernel/protocol"
)

// Emacs is the Emacs that is connected: the one of the conversation in which a call is made.
// Each question has an end: an Emacs that hangs or dies is an error, and what it says later is
// not heard. It is [ErrNoEmacs] when there is none.
type Emacs interface {
	Notes(ctx context.Context, in Conversation, p protocol.EmacsNotesParams) (protocol.EmacsNotes, error)
	Agenda(ctx context.Context, in Conversation, p protocol.EmacsAgendaParams) (protocol.EmacsAgenda, error)
	Buffers(ctx context.Context, in Conversation, p protocol.EmacsBuffersParams) (protocol.EmacsBuffers, error)
	Read(ctx context.Context, in Conversation, p protocol.EmacsReadParams) (protocol.EmacsRead, error)
	// Edit puts a text in the place of another, which stands in the file once, in the buffer
	// that visits it, as one step of undo.
	Edit(ctx context.Context, in Conversation, file, old, new string) (protocol.Receipt, error)
}

// ErrNoEmacs is the error of what only an Emacs can do.
var ErrNoEmacs error = protocol.ToolErrorf(protocol.ToolNotFound, "no Emacs is connected")
