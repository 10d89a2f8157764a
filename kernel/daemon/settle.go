package daemon

import (
	"context"
	"errors"
	"fmt"
	"time"

	"org-agent/kernel/kind"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// How long a client has to come back after its connection was lost, and how often it is
// looked for. One that lives is back in a fraction of that.
const (
	settlePatience = 5 * time.Second
	settlePause    = 50 * time.Millisecond
)

// Settle implements [act.Editors]: a client that is there again knows whether the act was done, or
// sees it in its buffer.
func (e *editors) Settle(ctx context.Context, order protocol.Act) (string, protocol.Receipt, error) {
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
				return client.ID(), receipt, errors.Join(kind.ErrOutcomeUnknown, err)
			}
		}
		select {
		case <-time.After(settlePause):
		case <-ctx.Done():
		}
	}
	return "", protocol.Receipt{}, kind.ErrNoPerformer
}
