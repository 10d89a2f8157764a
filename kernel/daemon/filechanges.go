package daemon

import (
	"context"
	"slices"

	"org-agent/kernel/files"
	"org-agent/kernel/kind"
	"org-agent/kernel/protocol"
)

// keptChange is how many bytes of a change of a file a receipt has at most: the journal keeps
// it for good. What is longer is told, and cannot be taken back.
const keptChange = 256 << 10

// noted keeps what tools change in files in the receipts of a performer, so that it can be taken
// back; who edits is told of it at once.
func (d *daemon) noted(perform kind.Performer) kind.Performer {
	return func(ctx context.Context, order kind.Order) (kind.Result, error) {
		ctx, made := files.Noting(ctx)
		result, err := perform(ctx, order)
		var names []string
		for _, c := range made() {
			result.Receipt.Files = append(result.Receipt.Files, fileChange(c))
			if !slices.Contains(names, c.Path) {
				names = append(names, c.Path)
			}
		}
		if len(names) > 0 {
			d.editors.notify(protocol.MethodFileChanged, protocol.FileChanged{Turn: order.Turn, Files: names})
		}
		return result, err
	}
}

func fileChange(c files.Change) protocol.FileChange {
	kept := protocol.FileChange{File: c.Path, Created: c.New}
	piece, isText := c.Piece()
	if !isText || len(piece.Old)+len(piece.New) > keptChange {
		kept.Opaque = true
		return kept
	}
	kept.Old, kept.New, kept.Before, kept.After = piece.Old, piece.New, piece.Before, piece.After
	return kept
}
