package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"org-agent/kernel/protocol"
)

// conversation is a chat of several messages on a terminal. Each line is a message. When a turn asks the
// person something, the next lines answer it. A line that was typed while a turn ran is queued as a
// message, and never taken as an answer.
type conversation struct {
	*chat
	lines       *lineReader
	queued      []string        // messages typed while a turn ran
	inputEnded  bool            // the input has ended
	prompted    bool            // the prompt for a message is on the screen
	ownTurns    map[string]bool // unfinished turns of this conversation's messages
	awaitedTurn string          // the turn that the conversation waits for
	reply       printer
	asks        []protocol.Ask  // asks that wait for the person, oldest first
	postponed   map[string]bool // ids of the asks that the person postponed
	answering   *pendingAnswer
}

// pendingAnswer is the ask that the person is answering now. done receives the outcome once.
type pendingAnswer struct {
	ask    protocol.Ask
	cancel context.CancelFunc
	done   chan error
}

// converse holds a conversation until the input or ctx ends.
func converse(ctx context.Context, t *chat) error {
	if t.session == "" {
		t.session = protocol.MainSession
	}
	if err := t.attach(ctx); err != nil {
		return err
	}
	readCtx, stop := context.WithCancel(ctx)
	defer stop()
	c := &conversation{
		chat: t, lines: readLines(readCtx, t.proc.stdin), ownTurns: map[string]bool{}, postponed: map[string]bool{},
		reply: printer{out: t.proc.stdout, stream: t.stream},
	}
	fmt.Fprintf(t.proc.stderr, "org-agent: session %s; an empty line or C-d ends\n", t.session)
	for {
		if done, err := c.advance(ctx); done || err != nil {
			return err
		}
		if done, err := c.waitForEvent(ctx); done || err != nil {
			return err
		}
	}
}

// advance takes the next step that needs no waiting: it starts the answer to an open ask, sends a queued
// message, or prints the prompt for a message. It returns true when the conversation has ended.
func (c *conversation) advance(ctx context.Context) (done bool, err error) {
	open := slices.IndexFunc(c.asks, func(a protocol.Ask) bool { return !c.postponed[a.ID] })
	switch {
	case c.answering != nil:
	case c.awaitedTurn != "" && open >= 0:
		c.startAnswer(ctx, c.asks[open])
	case c.awaitedTurn != "":
	case len(c.queued) > 0:
		text := c.queued[0]
		c.queued = c.queued[1:]
		if err := c.sendMessage(ctx, text); err != nil {
			return true, err
		}
		return c.advance(ctx)
	case c.inputEnded:
		c.freshLine()
		return true, nil
	case !c.prompted:
		fmt.Fprint(c.proc.stderr, "* ")
		c.prompted = true
	}
	return false, nil
}

// waitForEvent waits for one event and handles it. It returns true when the conversation has ended.
func (c *conversation) waitForEvent(ctx context.Context) (done bool, err error) {
	lines, answerDone := c.lines.typed, chan error(nil)
	if c.inputEnded {
		lines = nil
	}
	if c.answering != nil {
		lines, answerDone = nil, c.answering.done
	}
	select {
	case line, more := <-lines:
		return c.handleLine(line, more), line.err
	case e := <-c.chat.events:
		c.handleEvent(e)
	case err := <-answerDone:
		return false, c.answerEnded(err)
	case <-ctx.Done():
		c.handleInterrupt()
		return true, exit{code: 130}
	case <-c.conn.Done():
		c.abandonAnswer()
		return true, c.connectionLost()
	}
	return false, nil
}

// handleLine handles a typed line that is no answer to an ask.
func (c *conversation) handleLine(line typedLine, more bool) (done bool) {
	blank := strings.TrimSpace(line.text) == ""
	idle := c.awaitedTurn == "" && len(c.queued) == 0
	c.prompted = c.prompted && !more
	switch {
	case !more:
		c.inputEnded = true
	case !blank:
		c.queued = append(c.queued, line.text)
	case idle && slices.ContainsFunc(c.asks, func(a protocol.Ask) bool { return !c.postponed[a.ID] }):
		c.awaitedTurn = c.awaitOpenAsk()
	case idle:
		return true
	}
	return false
}

// awaitOpenAsk returns the turn of the first ask that is not postponed, or "". The conversation then also
// shows the events of that turn.
func (c *conversation) awaitOpenAsk() string {
	for _, a := range c.asks {
		if !c.postponed[a.ID] {
			c.ownTurns[a.Turn] = true
			return a.Turn
		}
	}
	return ""
}

// sendMessage sends a message. Postponed asks are asked again afterwards, because the new turn waits for
// them.
func (c *conversation) sendMessage(ctx context.Context, text string) error {
	turn, err := c.send(ctx, text)
	if err != nil {
		if ctx.Err() != nil || protocol.ErrorCode(err) == protocol.CodeInternal {
			return err
		}
		c.notify("%v", err)
		return nil
	}
	clear(c.postponed)
	c.ownTurns[turn], c.awaitedTurn = true, turn
	return nil
}

// notify prints a notice on its own line.
func (c *conversation) notify(format string, arguments ...any) {
	c.freshLine()
	fmt.Fprintf(c.proc.stderr, "org-agent: "+format+"\n", arguments...)
}

func (c *conversation) freshLine() {
	if c.prompted {
		fmt.Fprintln(c.proc.stderr)
		c.prompted = false
	}
}

// startAnswer starts a goroutine that has the person answer the ask, and sends the outcome to done.
func (c *conversation) startAnswer(ctx context.Context, a protocol.Ask) {
	c.freshLine()
	inputCtx, cancel := context.WithCancel(ctx)
	c.answering = &pendingAnswer{ask: a, cancel: cancel, done: make(chan error, 1)}
	go func(done chan<- error) {
		done <- c.answer(ctx, inputCtx, c.lines, a)
	}(c.answering.done)
}

// answerEnded handles the outcome of an answer.
func (c *conversation) answerEnded(err error) error {
	a := c.answering
	a.cancel()
	c.answering = nil
	switch {
	case err == nil:
		c.removeAsk(a.ask.ID)
	case errors.Is(err, errLater):
		c.postponed[a.ask.ID] = true
		c.awaitedTurn = ""
		c.notify("it keeps waiting")
		printAnswerCommand(c.proc.stderr, a.ask)
	case protocol.ErrorCode(err) == protocol.CodeInternal:
		return err
	default:
		c.removeAsk(a.ask.ID)
		c.notify("%v", err)
	}
	return nil
}

// abandonAnswer cancels the current answer, if there is one, and waits until its goroutine has ended.
func (c *conversation) abandonAnswer() (a *pendingAnswer, err error) {
	if a = c.answering; a == nil {
		return nil, nil
	}
	a.cancel()
	c.answering = nil
	return a, <-a.done
}

// handleInterrupt leaves the current ask waiting, or stops a turn that asks nothing.
func (c *conversation) handleInterrupt() {
	a, err := c.abandonAnswer()
	switch {
	case a != nil && err != nil:
		fmt.Fprintln(c.proc.stderr)
		c.notify("it keeps waiting")
		printAnswerCommand(c.proc.stderr, a.ask)
	case a == nil && c.awaitedTurn != "":
		c.cancel(c.awaitedTurn)
	}
}

// removeAsk removes an ask that no longer waits.
func (c *conversation) removeAsk(id string) {
	c.asks = slices.DeleteFunc(c.asks, func(a protocol.Ask) bool { return a.ID == id })
	delete(c.postponed, id)
}

// handleEvent handles a notification of the kernel.
func (c *conversation) handleEvent(e chatEvent) {
	switch {
	case e.ask != nil:
		c.askOpened(*e.ask)
	case e.closed != nil:
		c.askClosed(*e.closed)
	case e.renamed != nil || e.memory != nil:
		c.freshLine()
		_, _ = c.show(&c.reply, "", e)
	case c.ownTurns[e.turn()]:
		c.freshLine()
		done, err := c.show(&c.reply, e.turn(), e)
		if err != nil {
			c.notify("%v", err)
		}
		if done {
			c.turnFinished(e.turn())
		}
	}
}

func (c *conversation) turnFinished(turn string) {
	delete(c.ownTurns, turn)
	if c.awaitedTurn == turn {
		c.awaitedTurn = ""
	}
	c.reply = printer{out: c.proc.stdout, stream: c.stream}
}

// askOpened records a new ask. If the person may be typing a message, it only prints a notice.
func (c *conversation) askOpened(a protocol.Ask) {
	if slices.ContainsFunc(c.asks, func(known protocol.Ask) bool { return known.ID == a.ID }) {
		return
	}
	c.asks = append(c.asks, a)
	if c.awaitedTurn == "" {
		c.notify("%s\norg-agent: an empty line answers it", askTitle(a))
	}
}

// askClosed removes an ask that no longer waits, even while the person is answering it.
func (c *conversation) askClosed(closed closedAsk) {
	c.removeAsk(closed.id)
	if c.answering == nil || c.answering.ask.ID != closed.id {
		return
	}
	if _, err := c.abandonAnswer(); err != nil {
		fmt.Fprintln(c.proc.stderr)
		c.notify("%s", closed)
	}
}
