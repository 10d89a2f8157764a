// Package complete asks a model what a person would write next.
//
// A completion is no turn. It runs no skill, journals only the usage of the reply, and performs nothing
// that the model writes. A [Completer] is safe for many goroutines and starts none.
package complete

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"org-agent/kernel/action"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// requestTimeout bounds a completion. A late one is of no use to the person.
const requestTimeout = 20 * time.Second

// errTimeout is the cause of the end of a completion that took too long.
var errTimeout = fmt.Errorf("the model did not answer within %v; a smaller one completes better", requestTimeout)

// Completer completes texts. All fields are required.
type Completer struct {
	Provider llm.Provider
	Policy   Policy
	Usage    Usage
	// Hide removes secrets from requests.
	Hide   func(text string) string
	Logger *slog.Logger
}

// Policy verifies that a text may be shown.
type Policy interface {
	Verify(ctx context.Context, a action.Action, where policy.Where) (policy.Verified, policy.Verdict, error)
}

// Usage stores the usage of completions.
type Usage interface {
	PutCompletion(ctx context.Context, spent journal.ReplyUsage) error
}

// Complete returns what comes next. It blocks until the model has answered, for 20 seconds at most, and
// closes the connection when ctx ends.
func (c *Completer) Complete(ctx context.Context, p protocol.CompleteParams) (protocol.CompleteResult, error) {
	if len(p.Before) > protocol.CompleteBeforeLimit || len(p.After) > protocol.CompleteAfterLimit || len(p.Name)+len(p.Mode) > 1000 {
		return protocol.CompleteResult{}, protocol.Errorf(protocol.CodeInvalidParams,
			"a completion is asked with at most %d bytes before the place and %d behind it", protocol.CompleteBeforeLimit, protocol.CompleteAfterLimit)
	}
	if strings.TrimSpace(p.Before+p.After) == "" {
		return protocol.CompleteResult{}, nil
	}
	// A deadline would count as the model's failure, for turns as well. A cancellation does not.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer time.AfterFunc(requestTimeout, func() { cancel(errTimeout) }).Stop()
	request := requestFor(p).Map(c.Hide)
	begun := time.Now()
	reply, err := llm.Collect(c.Provider.Stream(ctx, request))
	c.Logger.Debug("completion asked for", "model", reply.Model, "bytes", len(reply.Text), "dur", time.Since(begun))
	c.recordUsage(ctx, reply)
	if err != nil && context.Cause(ctx) == errTimeout {
		err = errTimeout
	}
	if err != nil {
		return protocol.CompleteResult{Model: reply.Model}, userError(err)
	}
	text := continuation(reply.Text, p.Before, p.After, reply.Finish == llm.FinishLength)
	if text == "" && reply.Finish == llm.FinishLength {
		return protocol.CompleteResult{Model: reply.Model}, protocol.Errorf(protocol.CodeModel,
			"%s came to no text within %d tokens; choose a model for completions that does not think first", reply.Model, maximumTokens)
	}
	text, err = c.verify(ctx, text)
	return protocol.CompleteResult{Text: text, Model: reply.Model}, err
}

// verify has the policy verify the text, like any text of a model, and returns the verified text.
func (c *Completer) verify(ctx context.Context, text string) (string, error) {
	if text == "" {
		return "", nil
	}
	verified, verdict, err := c.Policy.Verify(ctx, action.Response(text), policy.Where{Session: protocol.MainSession, Route: protocol.LocalRoute(protocol.ChannelEmacs)})
	if err != nil {
		return "", err
	}
	if verdict.Kind != policy.Allow {
		return "", protocol.Errorf(protocol.CodeForbidden, "the completion is not shown: %s", verdict.Reason)
	}
	return verified.Action().Text("text"), nil
}

// recordUsage stores the usage of a reply. An error is only logged, because the person is waiting for a
// few words.
func (c *Completer) recordUsage(ctx context.Context, reply llm.Reply) {
	if reply.Usage == nil {
		return
	}
	err := c.Usage.PutCompletion(context.WithoutCancel(ctx), journal.ReplyUsage{
		Model: reply.Model, Input: reply.Usage.Input, Output: reply.Usage.Output, Cost: reply.Usage.Cost,
	})
	if err != nil {
		c.Logger.Error("usage of a completion not recorded", "err", err)
	}
}

// userError returns an error of a model as one line for the person.
func userError(err error) error {
	if _, described := errors.AsType[*protocol.Error](err); described || llm.ClassOf(err) == llm.ClassCanceled {
		return err
	}
	text := err.Error()
	if hint := llm.HintOf(err); hint != "" {
		text += "; " + hint
	}
	return protocol.Errorf(protocol.CodeModel, "%s", text)
}
