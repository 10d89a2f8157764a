package clients

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"org-agent/kernel/describe"
	"org-agent/kernel/kind"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

const (
	defaultCheckTimeout     = 5 * time.Second
	defaultReconcileTimeout = 5 * time.Second
	reconcilePause          = 50 * time.Millisecond // between two looks for a client that reconnects
)

// errNoEditor is the error of a change of a text that waits for an editor.
var errNoEditor = fmt.Errorf("no Emacs is connected that could make the change: open one, and decide then (%w)", kind.ErrNoPerformer)

// actionName returns the name by which clients announce that they perform such an act.
func actionName(order protocol.Act) string {
	return cmp.Or(order.Payload.Text("action"), string(order.Target))
}

// performer returns the client for an act: the sender of its event, or else the one that was used
// last, among those that perform such an action.
func (c *Clients) performer(order protocol.Act) Client {
	name := actionName(order)
	return c.choose(order.Event, func(can protocol.Capabilities) bool { return can.CanPerform(name) })
}

// Perform implements [org-agent/kernel/act.Editors].
func (c *Clients) Perform(ctx context.Context, order protocol.Act) (string, protocol.Receipt, error) {
	client := c.performer(order)
	if client == nil {
		return "", protocol.Receipt{}, fmt.Errorf("no connected Emacs performs :%s: %w", actionName(order), kind.ErrNoPerformer)
	}
	receipt, err := client.Act(ctx, order)
	if errors.Is(err, rpc.ErrConnectionLost) {
		err = errors.Join(kind.ErrOutcomeUnknown, err)
	}
	return client.ID(), receipt, err
}

// Check implements [org-agent/kernel/act.Editors].
func (c *Clients) Check(ctx context.Context, order protocol.Act) error {
	client := c.performer(order)
	if client == nil {
		return errNoEditor
	}
	ctx, stop := context.WithTimeout(ctx, cmp.Or(c.CheckTimeout, defaultCheckTimeout))
	defer stop()
	if _, err := client.Act(ctx, order); protocol.ErrorCode(err) == protocol.CodeForbidden {
		return protocol.ToolErrorf(protocol.ToolRefused, "%s", describe.Visible(err.Error()))
	}
	return nil
}

// Reconcile implements [org-agent/kernel/act.Editors]. A client that has reconnected knows whether the
// act was done, or sees it in its buffer.
func (c *Clients) Reconcile(ctx context.Context, order protocol.Act) (string, protocol.Receipt, error) {
	until := time.Now().Add(cmp.Or(c.ReconcileTimeout, defaultReconcileTimeout))
	for ctx.Err() == nil && time.Now().Before(until) {
		if client := c.performer(order); client != nil {
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
		case <-time.After(reconcilePause):
		case <-ctx.Done():
		}
	}
	return "", protocol.Receipt{}, kind.ErrNoPerformer
}
