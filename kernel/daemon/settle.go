package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"org-agent/kernel/act"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// How long an Emacs has to come back after its connection was lost, and how often it is
// looked for. One that lives is back in a fraction of that.
const (
	settlePatience = 5 * time.Second
	settlePause    = 50 * time.Millisecond
)

// settledFile is the size of the largest file that is looked at.
const settledFile = 16 << 20

// settled are the actions that can be settled: they change a text, which shows whether they did.
var settled = [...]string{"edit", "set-properties"}

// settle finds out whether such a change was made whose receipt never came. An Emacs that is
// there again knows, or sees it in its buffer; when none comes, the one that had the buffer
// is gone, and the file has the truth. It is not made again. The error is as that of
// Perform; one without [act.ErrOutcomeUnknown] means that nothing was changed.
func (e *editors) settle(ctx context.Context, order protocol.Act, lost error) (string, protocol.Receipt, error) {
	order.Settle = true
	until := time.Now().Add(settlePatience)
	for ctx.Err() == nil && time.Now().Before(until) {
		if client := e.choose(order.Event, order.Payload.Text("action")); client != nil {
			receipt, err := client.Act(ctx, order)
			switch {
			case err == nil:
				return client.ID(), receipt, nil
			case protocol.ErrorCode(err) == protocol.CodeForbidden:
				return client.ID(), receipt, fmt.Errorf("the connection to Emacs was lost before it: %w", err)
			case !errors.Is(err, rpc.ErrConnectionLost) && !errors.Is(err, rpc.ErrNotConnected):
				return client.ID(), receipt, errors.Join(act.ErrOutcomeUnknown, err)
			}
		}
		select {
		case <-time.After(settlePause):
		case <-ctx.Done():
		}
	}
	if ctx.Err() == nil {
		if receipt, err := settleByFile(order.Payload); !errors.Is(err, act.ErrOutcomeUnknown) {
			return "", receipt, err
		}
	}
	return "", protocol.Receipt{}, errors.Join(act.ErrOutcomeUnknown, lost)
}

// settleByFile looks for the edit's texts in its file. Where an entry is, no kernel knows.
func settleByFile(edit protocol.Object) (protocol.Receipt, error) {
	before, after := edit.Text("old"), edit.Text("new")
	info, err := os.Stat(edit.Text("file"))
	if err != nil || !info.Mode().IsRegular() || info.Size() > settledFile {
		return protocol.Receipt{}, act.ErrOutcomeUnknown
	}
	source, err := os.ReadFile(edit.Text("file"))
	if err != nil {
		return protocol.Receipt{}, act.ErrOutcomeUnknown
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
	return protocol.Receipt{}, act.ErrOutcomeUnknown
}
