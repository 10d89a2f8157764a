package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"org-agent/kernel/protocol"
)

// conversation is a talk on a terminal: a line is a message, and what a turn asks is asked
// in between. What is typed while a turn runs are the next messages and answers nothing.
type conversation struct {
	*talk
	lines    *lineReader
	ahead    []string        // messages that were typed meanwhile
	ended    bool            // there are no more lines
	prompted bool            // the cursor stands behind the sign for a message
	turns    map[string]bool // of this conversation's messages, until they have finished
	waits    string          // the turn that is waited for
	shown    printer
	asks     []ask           // what waits for the person, oldest first
	put      map[string]bool // what of it they left for later
	asking   *asking
}

// asking is an ask that the person is being asked; done gets its end once.
type asking struct {
	ask
	cancel context.CancelFunc
	done   chan error
}

// converse holds a conversation until the lines or ctx end.
func converse(ctx context.Context, t *talk) error {
	if t.session == "" {
		t.session = protocol.MainSession
	}
	if err := t.attach(ctx); err != nil {
		return err
	}
	reading, stop := context.WithCancel(ctx)
	defer stop()
	c := &conversation{
		talk: t, lines: readLines(reading, t.world.in), turns: map[string]bool{}, put: map[string]bool{},
		shown: printer{out: t.world.out, stream: t.stream},
	}
	fmt.Fprintf(t.world.err, "org-agent: session %s; an empty line or C-d ends\n", t.session)
	for {
		if done, err := c.next(ctx); done || err != nil {
			return err
		}
		if done, err := c.wait(ctx); done || err != nil {
			return err
		}
	}
}

// next does what can be done now: asks what a turn asks, sends what was typed meanwhile, or
// says that a message is awaited.
func (c *conversation) next(ctx context.Context) (done bool, err error) {
	open := slices.IndexFunc(c.asks, func(a ask) bool { return !c.put[a.id()] })
	switch {
	case c.asking != nil:
	case c.waits != "" && open >= 0:
		c.begin(ctx, c.asks[open])
	case c.waits != "":
	case len(c.ahead) > 0:
		text := c.ahead[0]
		c.ahead = c.ahead[1:]
		if err := c.say(ctx, text); err != nil {
			return true, err
		}
		return c.next(ctx)
	case c.ended:
		c.freshLine()
		return true, nil
	case !c.prompted:
		fmt.Fprint(c.world.err, "* ")
		c.prompted = true
	}
	return false, nil
}

// wait waits for one thing to happen.
func (c *conversation) wait(ctx context.Context) (done bool, err error) {
	lines, answered := c.lines.typed, chan error(nil)
	if c.ended {
		lines = nil
	}
	if c.asking != nil {
		lines, answered = nil, c.asking.done
	}
	select {
	case line, more := <-lines:
		return c.typed(line, more), line.err
	case e := <-c.talk.turns:
		c.happened(e)
	case err := <-answered:
		return false, c.answered(err)
	case <-ctx.Done():
		c.interrupted()
		return true, exit{code: 130}
	case <-c.conn.Done():
		c.forsake()
		return true, c.gone()
	}
	return false, nil
}

// typed takes a line that no ask wanted.
func (c *conversation) typed(line typedLine, more bool) (done bool) {
	blank := strings.TrimSpace(line.text) == ""
	idle := c.waits == "" && len(c.ahead) == 0
	c.prompted = c.prompted && !more
	switch {
	case !more:
		c.ended = true
	case !blank:
		c.ahead = append(c.ahead, line.text)
	case idle && slices.ContainsFunc(c.asks, func(a ask) bool { return !c.put[a.id()] }):
		c.waits = c.turnThatAsks()
	case idle:
		return true
	}
	return false
}

// turnThatAsks is the turn of the first ask that was not put off.
func (c *conversation) turnThatAsks() string {
	for _, a := range c.asks {
		if !c.put[a.id()] {
			c.turns[a.turn()] = true
			return a.turn()
		}
	}
	return ""
}

// say sends a message. What was left for later is in its way and is asked anew.
func (c *conversation) say(ctx context.Context, text string) error {
	turn, err := c.send(ctx, text)
	if err != nil {
		if ctx.Err() != nil || protocol.ErrorCode(err) == protocol.CodeInternal {
			return err
		}
		c.tell("%v", err)
		return nil
	}
	clear(c.put)
	c.turns[turn], c.waits = true, turn
	return nil
}

// tell says something to the person on a line of its own.
func (c *conversation) tell(format string, arguments ...any) {
	c.freshLine()
	fmt.Fprintf(c.world.err, "org-agent: "+format+"\n", arguments...)
}

func (c *conversation) freshLine() {
	if c.prompted {
		fmt.Fprintln(c.world.err)
		c.prompted = false
	}
}

// begin asks the person. Whoever begins waits for done.
func (c *conversation) begin(ctx context.Context, a ask) {
	c.freshLine()
	patience, cancel := context.WithCancel(ctx)
	c.asking = &asking{ask: a, cancel: cancel, done: make(chan error, 1)}
	go func(done chan<- error) {
		done <- c.answer(ctx, patience, c.lines, a)
	}(c.asking.done)
}

// answered goes on after an ask had its end.
func (c *conversation) answered(err error) error {
	a := c.asking
	a.cancel()
	c.asking = nil
	switch {
	case err == nil:
		c.drop(a.id())
	case errors.Is(err, errLater):
		c.put[a.id()] = true
		c.waits = ""
		c.tell("it waits on")
		a.later(c.world.err)
	case protocol.ErrorCode(err) == protocol.CodeInternal:
		return err
	default:
		c.drop(a.id())
		c.tell("%v", err)
	}
	return nil
}

// forsake ends what is being asked without an answer, and waits for its end.
func (c *conversation) forsake() (a *asking, err error) {
	if a = c.asking; a == nil {
		return nil, nil
	}
	a.cancel()
	c.asking = nil
	return a, <-a.done
}

// interrupted leaves what is being asked for later; a turn that asks nothing is stopped.
func (c *conversation) interrupted() {
	a, err := c.forsake()
	switch {
	case a != nil && err != nil:
		fmt.Fprintln(c.world.err)
		c.tell("it waits on")
		a.later(c.world.err)
	case a == nil && c.waits != "":
		c.cancel(c.waits)
	}
}

// drop forgets what waits no more.
func (c *conversation) drop(id string) {
	c.asks = slices.DeleteFunc(c.asks, func(a ask) bool { return a.id() == id })
	delete(c.put, id)
}

// happened takes what the kernel tells.
func (c *conversation) happened(e turnEvent) {
	switch {
	case e.asked != nil || e.question != nil:
		c.asked(ask{approval: e.asked, question: e.question})
	case e.closed != nil:
		c.closed(*e.closed)
	case e.renamed != nil || e.kept != nil:
		c.freshLine()
		_, _ = c.show(&c.shown, "", e)
	case c.turns[e.turn()]:
		c.freshLine()
		done, err := c.show(&c.shown, e.turn(), e)
		if err != nil {
			c.tell("%v", err)
		}
		if done {
			c.finished(e.turn())
		}
	}
}

func (c *conversation) finished(turn string) {
	delete(c.turns, turn)
	if c.waits == turn {
		c.waits = ""
	}
	c.shown = printer{out: c.world.out, stream: c.stream}
}

// asked takes note of what waits. Who is writing a message is told, and goes on.
func (c *conversation) asked(a ask) {
	if slices.ContainsFunc(c.asks, func(known ask) bool { return known.id() == a.id() }) {
		return
	}
	c.asks = append(c.asks, a)
	if c.waits == "" {
		c.tell("%s\norg-agent: an empty line answers it", a.title())
	}
}

// closed takes away what waits no more, also while the person is being asked.
func (c *conversation) closed(closed closedAsk) {
	c.drop(closed.id)
	if c.asking == nil || c.asking.id() != closed.id {
		return
	}
	if _, err := c.forsake(); err != nil {
		fmt.Fprintln(c.world.err)
		c.tell("%s", closed)
	}
}
