package daemon

import (
	"context"
	"errors"
	"sync"

	"org-agent/kernel/llm/builtin"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// errSuperseded is why a completion ends that its client does not wait for any more.
var errSuperseded = errors.New("another completion was asked for")

// completions is what is being completed, one for each client. The zero value is ready.
type completions struct {
	mu      sync.Mutex
	running map[string]*completion // by the client's id
}

type completion struct{ cancel context.CancelCauseFunc }

// begin gives up what the client had asked for before. Done is to be called at the end.
func (c *completions) begin(ctx context.Context, client string) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	this := &completion{cancel}
	c.mu.Lock()
	defer c.mu.Unlock()
	if former := c.running[client]; former != nil {
		former.cancel(errSuperseded)
	}
	if c.running == nil {
		c.running = map[string]*completion{}
	}
	c.running[client] = this
	return ctx, func() {
		cancel(nil)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.running[client] == this {
			delete(c.running, client)
		}
	}
}

// complete answers complete. Other requests of the client do not wait for it.
func (d *daemon) complete(ctx context.Context, client *rpc.Client, p *protocol.CompleteParams) (protocol.CompleteResult, error) {
	rpc.Release(ctx)
	if p.Model == "" {
		p.Model = d.settings.Load().CompletionModel
	}
	if p.Model != "" {
		if err := d.models.Find(p.Model); err != nil {
			return protocol.CompleteResult{}, err
		}
	}
	if err := d.models.CheckConsent(p.Consent); err != nil {
		return protocol.CompleteResult{}, err
	}
	ctx, done := d.pending.begin(ctx, client.ID())
	defer done()
	result, err := d.agent.Complete(ctx, *p)
	switch {
	case context.Cause(ctx) == errSuperseded:
		return protocol.CompleteResult{}, protocol.Errorf(protocol.CodeCancelled, "%w", errSuperseded)
	case err == nil && result.Model == builtin.Name:
		return protocol.CompleteResult{}, protocol.Errorf(protocol.CodeModel,
			"the built-in guide completes nothing; config.org in %s says how to add a model", d.paths.Home)
	}
	return result, err
}
