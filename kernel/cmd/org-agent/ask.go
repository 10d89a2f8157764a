package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"org-agent/kernel/protocol"
)

// closedAsk says that an ask no longer waits: a person decided it, or its turn ended.
type closedAsk struct {
	id, client string
	decided    bool
}

func (c closedAsk) String() string {
	if !c.decided {
		return "this no longer waits: its turn has ended"
	}
	return "this was decided elsewhere (" + c.client + ")"
}

// errLater means that the person left the ask waiting.
var errLater = errors.New("it keeps waiting")

// askTitle writes what the person is asked, in one line.
func askTitle(a protocol.Ask) string {
	if a.Sort == protocol.AskQuestion {
		return "this asks you: " + a.Form.Title
	}
	return "this needs your decision: " + orAction(a)
}

// printLater prints the command that answers an ask later.
func printLater(out io.Writer, a protocol.Ask) {
	command := "approve"
	if a.Sort == protocol.AskQuestion {
		command = "answer"
	}
	fmt.Fprintf(out, "org-agent: run: org-agent %s %s\n", command, a.ID)
}

// answer has the person answer an ask: it shows the ask, reads the answer and sends it. It returns
// errLater when the person leaves the ask, and an error when the context patience ends. Once the
// person has answered, the answer is sent even if patience ends.
func (t *talk) answer(ctx, patience context.Context, in *lineReader, a protocol.Ask) error {
	if a.Sort == protocol.AskQuestion {
		return t.fillIn(ctx, patience, in, a)
	}
	return t.decide(ctx, patience, in, a)
}

// decide shows the whole of an approval and asks until the kernel accepts a decision.
func (t *talk) decide(ctx, patience context.Context, in *lineReader, a protocol.Ask) error {
	if err := t.world.showWhole(ctx, t.conn, a); err != nil {
		return err
	}
	for {
		params, err := t.decision(patience, in, a)
		if err != nil {
			return err
		}
		err = t.conn.Call(ctx, protocol.MethodAskDecide, params, nil)
		if err == nil || ctx.Err() != nil {
			return err
		}
		fmt.Fprintf(t.world.err, "org-agent: not decided: %s\n", strings.TrimSuffix(err.Error(), "\n"))
	}
}

// decision reads the person's decision on an approval.
func (t *talk) decision(ctx context.Context, in *lineReader, a protocol.Ask) (protocol.AskDecideParams, error) {
	params := protocol.AskDecideParams{ID: a.ID}
	scopes := ", t in this turn, s in this session, A always"
	if a.Once {
		scopes = ""
	}
	for {
		fmt.Fprintf(t.world.err, "\nallow this? y once%s; n no; RET later: ", scopes)
		line, err := in.line(ctx)
		if errors.Is(err, io.EOF) {
			return params, errLater
		}
		if err != nil {
			return params, err
		}
		switch word := strings.TrimSpace(line); {
		case word == "":
			return params, errLater
		case word == "n" || word == "no":
			fmt.Fprint(t.world.err, "why not? (RET for no reason) ")
			params.Decision = protocol.Deny
			params.Reason, err = in.line(ctx)
			return params, err
		case word == "y" || word == "yes":
			params.Decision = protocol.AllowOnce
			return params, nil
		case word == "t" && !a.Once:
			params.Decision = protocol.AllowTurn
			return params, nil
		case word == "s" && !a.Once:
			params.Decision = protocol.AllowSession
			return params, nil
		case word == "A" && !a.Once:
			params.Decision = protocol.AllowAlways
			return params, nil
		default:
			fmt.Fprintf(t.world.err, "%q is none of these\n", word)
		}
	}
}

// fillIn asks for the fields of a question until the kernel accepts the answers.
func (t *talk) fillIn(ctx, patience context.Context, in *lineReader, q protocol.Ask) error {
	fmt.Fprintf(t.world.err, "%s (C-c leaves it waiting)\n", q.Form.Title)
	for {
		answers, err := t.world.fillIn(patience, in, q)
		if errors.Is(err, io.EOF) {
			return errLater
		}
		if err != nil {
			return err
		}
		err = t.conn.Call(ctx, protocol.MethodAskDecide, protocol.AskDecideParams{ID: q.ID, Decision: protocol.Answered, Answers: answers}, nil)
		if err == nil || ctx.Err() != nil {
			return err
		}
		fmt.Fprintf(t.world.err, "org-agent: not answered: %v\n", err)
	}
}
