package tool

import (
	"context"

	"org-agent/kernel/protocol"
)

// Emacs is the connected Emacs of the conversation in which a call is made. Each question has a
// deadline: an Emacs that hangs or dies is an error, and a late answer is dropped. The error is
// [ErrNoEmacs] if no Emacs is connected.
type Emacs interface {
	Notes(ctx context.Context, in Conversation, p protocol.EmacsNotesParams) (protocol.EmacsNotes, error)
	Agenda(ctx context.Context, in Conversation, p protocol.EmacsAgendaParams) (protocol.EmacsAgenda, error)
	Buffers(ctx context.Context, in Conversation, p protocol.EmacsBuffersParams) (protocol.EmacsBuffers, error)
	Read(ctx context.Context, in Conversation, p protocol.EmacsReadParams) (protocol.EmacsRead, error)
	// Edit replaces a text that occurs once in a file by another, in the buffer that visits the
	// file, as one step of undo.
	Edit(ctx context.Context, in Conversation, file, old, new string) (protocol.Receipt, error)
}

// ErrNoEmacs is the error for a call that needs an Emacs when none is connected.
var ErrNoEmacs error = protocol.ToolErrorf(protocol.ToolNotFound, "no Emacs is connected")
