package undo

import (
	"context"
	"slices"

	"org-agent/kernel/files"
	"org-agent/kernel/kind"
	"org-agent/kernel/protocol"
)

// keptBytes is how many bytes of a change of a file a receipt has at most: the journal keeps it for
// good. A longer change is told, and cannot be taken back.
const keptBytes = 256 << 10

// KeepChanges returns a performer that does the same and keeps, in the receipt, what tools change in
// files meanwhile. changed is called once for each order that changed a file, after it was performed,
// also when it failed then.
func KeepChanges(perform kind.Performer, changed func(protocol.FileChanged)) kind.Performer {
	return func(ctx context.Context, order kind.Order) (kind.Result, error) {
		ctx, made := files.WithRecorder(ctx)
		result, err := perform(ctx, order)
		var names []string
		for _, c := range made() {
			result.Receipt.Files = append(result.Receipt.Files, fileChange(c))
			if !slices.Contains(names, c.Path) {
				names = append(names, c.Path)
			}
		}
		if len(names) > 0 {
			changed(protocol.FileChanged{Turn: order.Turn, Files: names})
		}
		return result, err
	}
}

// fileChange is a change as a receipt has it: opaque if it cannot be taken back.
func fileChange(c files.Change) protocol.FileChange {
	kept := protocol.FileChange{File: c.Path, Created: c.New}
	piece, isText := c.Piece()
	if !isText || len(piece.Old)+len(piece.New) > keptBytes {
		kept.Opaque = true
		return kept
	}
	kept.Old, kept.New, kept.Before, kept.After = piece.Old, piece.New, piece.Before, piece.After
	return kept
}
