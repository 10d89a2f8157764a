package act

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"unicode/utf8"

	"org-agent/kernel/kind"
	"org-agent/kernel/protocol"
)

// reconcileLimit is the maximum size, in bytes, of a file that reconcileByFile reads.
const reconcileLimit = 16 << 20

// reconcile finds out whether a change of a text was made although its receipt never came. A client
// that has reconnected knows this or sees it in its buffer. If none comes, the client that had the
// buffer is gone, and the file decides. The errors are those of [Editors.Perform]; one that does
// not wrap [kind.ErrOutcomeUnknown] means that nothing was changed.
func reconcile(ctx context.Context, d Deps, o kind.Order, lost error) (kind.Result, error) {
	order, err := o.Act(o.Action.Action())
	if err != nil {
		return kind.Result{}, err
	}
	order.Reconcile = true
	client, receipt, err := d.Editors.Reconcile(ctx, order)
	if errors.Is(err, kind.ErrNoPerformer) {
		err = kind.ErrOutcomeUnknown
		if ctx.Err() == nil {
			receipt, err = reconcileByFile(order.Payload)
		}
	}
	if errors.Is(err, kind.ErrOutcomeUnknown) {
		err = errors.Join(err, lost)
	}
	return kind.Result{Text: "done in Emacs", Client: client, Receipt: receipt}, err
}

// reconcileByFile looks for the texts of the edit in its file. It cannot reconcile an edit of an
// entry, because the kernel does not know the entry's file.
func reconcileByFile(edit protocol.Object) (protocol.Receipt, error) {
	before, after := edit.Text("old"), edit.Text("new")
	info, err := os.Stat(edit.Text("file"))
	if err != nil || !info.Mode().IsRegular() || info.Size() > reconcileLimit {
		return protocol.Receipt{}, kind.ErrOutcomeUnknown
	}
	source, err := os.ReadFile(edit.Text("file"))
	if err != nil {
		return protocol.Receipt{}, kind.ErrOutcomeUnknown
	}
	text := strings.ReplaceAll(string(source), "\r\n", "\n")
	switch {
	case after != "" && strings.Contains(text, after), after == "" && !strings.Contains(text, before):
		sum := sha256.Sum256([]byte(after))
		return protocol.Receipt{
			Chars: utf8.RuneCountInString(after), SHA256: hex.EncodeToString(sum[:]), Saved: true, Done: true, File: edit.Text("file"),
		}, nil
	case before != "" && strings.Contains(text, before):
		return protocol.Receipt{}, errors.New("the connection to Emacs was lost before it: nothing was changed in the file")
	}
	return protocol.Receipt{}, kind.ErrOutcomeUnknown
}
