package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"org-agent/kernel/protocol"
)

// conversation is a talk on a terminal. Each line is a message. When a turn asks the person
// something, the next lines answer it. Lines typed while a turn runs are kept as the next messages
// and answer nothing.
type conversation struct {
	*talk
	lines    *lineReader
	ahead    []string        // messages typed while a turn ran
	ended    bool            // the input has ended
	prompted bool            // the prompt for a message is on the screen
	turns    map[string]bool // unfinished turns of this conversation's messages
	waits    string          // the turn that the conversation waits for
	shown    printer
	asks     []protocol.Ask  // asks that wait for the person, oldest first
	put      map[string]bool // asks that the person left for later
	asking   *asking
}

// asking is the ask that the person is answering now. done receives its outcome once.
type asking struct {
	ask    protocol.Ask
	cancel context.CancelFunc
	done   chan error
}

// converse holds a conversation until the input or ctx ends.
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

// next does what can be done without waiting: it begins a pending ask, sends a kept message, or
// prints the prompt for a message.
func (c *conversation) next(ctx context.Context) (done bool, err error) {
	open := slices.IndexFunc(c.asks, func(a protocol.Ask) bool { return !c.put[a.ID] })
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

// wait waits for one event.
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

// typed handles a line that no ask consumed.
func (c *conversation) typed(line typedLine, more bool) (done bool) {
	blank := strings.TrimSpace(line.text) == ""
	idle := c.waits == "" && len(c.ahead) == 0
	c.prompted = c.prompted && !more
	switch {
	case !more:
		c.ended = true
	case !blank:
		c.ahead = append(c.ahead, line.text)
	case idle && slices.ContainsFunc(c.asks, func(a protocol.Ask) bool { return !c.put[a.ID] }):
		c.waits = c.turnThatAsks()
	case idle:
		return true
	}
	return false
}

// turnThatAsks returns the turn of the first ask that was not left for later, or "".
func (c *conversation) turnThatAsks() string {
	for _, a := range c.asks {
		if !c.put[a.ID] {
			c.turns[a.Turn] = true
			return a.Turn
		}
	}
	return ""
}

// say sends a message. Asks that were left for later block it, so they are asked again first.
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

// tell prints a notice on its own line.
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

// begin starts to ask the person in a goroutine, which reports on done.
func (c *conversation) begin(ctx context.Context, a protocol.Ask) {
	c.freshLine()
	patience, cancel := context.WithCancel(ctx)
	c.asking = &asking{ask: a, cancel: cancel, done: make(chan error, 1)}
	go func(done chan<- error) {
		done <- c.answer(ctx, patience, c.lines, a)
	}(c.asking.done)
}

// answered continues after an ask has ended.
func (c *conversation) answered(err error) error {
	a := c.asking
	a.cancel()
	c.asking = nil
	switch {
	case err == nil:
		c.drop(a.ask.ID)
	case errors.Is(err, errLater):
		c.put[a.ask.ID] = true
		c.waits = ""
		c.tell("it keeps waiting")
		printLater(c.world.err, a.ask)
	case protocol.ErrorCode(err) == protocol.CodeInternal:
		return err
	default:
		c.drop(a.ask.ID)
		c.tell("%v", err)
	}
	return nil
}

// forsake cancels the current ask without an answer and waits until its goroutine ends.
func (c *conversation) forsake() (a *asking, err error) {
	if a = c.asking; a == nil {
		return nil, nil
	}
	a.cancel()
	c.asking = nil
	return a, <-a.done
}

// interrupted leaves the current ask for later, or stops a turn that asks nothing.
func (c *conversation) interrupted() {
	a, err := c.forsake()
	switch {
	case a != nil && err != nil:
		fmt.Fprintln(c.world.err)
		c.tell("it keeps waiting")
		printLater(c.world.err, a.ask)
	case a == nil && c.waits != "":
		c.cancel(c.waits)
	}
}

// drop removes an ask that no longer waits.
func (c *conversation) drop(id string) {
	c.asks = slices.DeleteFunc(c.asks, func(a protocol.Ask) bool { return a.ID == id })
	delete(c.put, id)
}

// happened handles a notification of the kernel.
func (c *conversation) happened(e turnEvent) {
	switch {
	case e.ask != nil:
		c.opened(*e.ask)
	case e.closed != nil:
		c.closed(*e.closed)
	case e.renamed != nil || e.memory != nil:
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

// opened records a new ask. A person who is typing a message gets a notice and is not interrupted.
func (c *conversation) opened(a protocol.Ask) {
	if slices.ContainsFunc(c.asks, func(known protocol.Ask) bool { return known.ID == a.ID }) {
		return
	}
	c.asks = append(c.asks, a)
	if c.waits == "" {
		c.tell("%s\norg-agent: an empty line answers it", askTitle(a))
	}
}

// closed removes an ask that no longer waits, even while the person is answering it.
func (c *conversation) closed(closed closedAsk) {
	c.drop(closed.id)
	if c.asking == nil || c.asking.ask.ID != closed.id {
		return
	}
	if _, err := c.forsake(); err != nil {
		fmt.Fprintln(c.world.err)
		c.tell("%s", closed)
	}
}
