package lisp

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ServerRequest is what is asked of a server of the network.
type ServerRequest struct {
	Method, Address string
	// Header are names and values.
	Header [][2]string
	Body   []byte
	// Redirects is how many redirects are followed, if the method allows it.
	Redirects int
	// Timeout is how long it may take. A call waits no longer than its limits allow.
	Timeout time.Duration
}

// ServerAnswer is what a server sent.
type ServerAnswer struct {
	Address string // that it came from
	Status  int
	Header  [][2]string
	Body    []byte
	// Text is the decoded body, where IsText says that it is one.
	Text   string
	IsText bool
}

// AskServer asks a server, if the access of the environment allows it. Other calls may run meanwhile. The
// clock of the call stands: what it may ask and wait for altogether are limits of their own. An error is a
// condition in the note.
func (c *Call) AskServer(request ServerRequest) ServerAnswer {
	ask := c.environment.config.Access.Ask
	if ask == nil {
		c.resume(errors.New("there is no network here"))
	}
	if c.requests--; c.requests < 0 {
		c.abort(stepsCondition, fmt.Sprintf("the limit of %d requests is exceeded", c.limits.Requests))
	}
	if c.waiting <= 0 {
		c.abort(timeCondition, fmt.Sprintf("the limit of %v for servers is exceeded", c.limits.Waiting))
	}
	if request.Timeout <= 0 || request.Timeout > c.waiting {
		request.Timeout = c.waiting
	}
	began := time.Now()
	var answer ServerAnswer
	var err error
	c.beside(func(ctx context.Context) { answer, err = ask(ctx, c.reason, request) })
	c.waiting -= time.Since(began)
	if err != nil {
		c.resume(err)
	}
	c.Charge(len(answer.Body) + len(answer.Text))
	return answer
}

// beside does something with the guard released, the clock stopped and the unused memory given back.
func (c *Call) beside(do func(ctx context.Context)) {
	began := time.Now()
	c.giveBackUnused()
	c.environment.release()
	c.held = false
	do(c.ctx)
	if again := c.environment.acquire(c.ctx); again != nil {
		c.cancelled(again)
	}
	c.held = true
	c.deadline = c.deadline.Add(time.Since(began))
}
