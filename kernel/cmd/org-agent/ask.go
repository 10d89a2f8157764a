package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"org-agent/kernel/protocol"
)

// closedAsk is the notification that an ask no longer waits. A person decided it, or its turn ended.
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

// errLater means that the person postponed the ask.
var errLater = errors.New("it keeps waiting")

// askTitle describes an ask in one line.
func askTitle(a protocol.Ask) string {
	if a.Sort == protocol.AskQuestion {
		return "this asks you: " + a.Form.Title
	}
	return "this needs your decision: " + approvalTitle(a)
}

// printAnswerCommand prints the command with which the person can answer an ask later.
func printAnswerCommand(out io.Writer, a protocol.Ask) {
	command := "approve"
	if a.Sort == protocol.AskQuestion {
		command = "answer"
	}
	fmt.Fprintf(out, "org-agent: run: org-agent %s %s\n", command, a.ID)
}

// answer shows an ask, reads the person's answer and sends it. It returns errLater if the person
// postpones the ask, and an error if inputCtx ends while it reads. An answer that was read is sent even
// if inputCtx ends meanwhile.
func (t *chat) answer(ctx, inputCtx context.Context, in *lineReader, a protocol.Ask) error {
	if a.Sort == protocol.AskQuestion {
		return t.fillIn(ctx, inputCtx, in, a)
	}
	return t.decide(ctx, inputCtx, in, a)
}

// decide shows an approval completely, and asks the person until the kernel accepts a decision.
func (t *chat) decide(ctx, inputCtx context.Context, in *lineReader, a protocol.Ask) error {
	if err := t.proc.showApproval(ctx, t.conn, a); err != nil {
		return err
	}
	for {
		params, err := t.decision(inputCtx, in, a)
		if err != nil {
			return err
		}
		var result protocol.AskDecideResult
		err = t.conn.Call(ctx, protocol.MethodAskDecide, params, &result)
		if result.Note != "" {
			fmt.Fprintf(t.proc.stderr, "org-agent: %s\n", result.Note)
		}
		if err == nil || ctx.Err() != nil {
			return err
		}
		fmt.Fprintf(t.proc.stderr, "org-agent: not decided: %s\n", strings.TrimSuffix(err.Error(), "\n"))
	}
}

// decision reads the person's decision on an approval.
func (t *chat) decision(ctx context.Context, in *lineReader, a protocol.Ask) (protocol.AskDecideParams, error) {
	params := protocol.AskDecideParams{ID: a.ID}
	scopes := ", t in this turn, s in this session"
	switch {
	case a.Once:
		scopes = ""
	case a.Always:
		scopes += ", A always"
	}
	if a.Reading != nil {
		scopes += ", r with the rules for reading"
	}
	for {
		fmt.Fprintf(t.proc.stderr, "\nallow this? y once%s; n no; RET later: ", scopes)
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
			fmt.Fprint(t.proc.stderr, "why not? (RET for no reason) ")
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
		case word == "r" && a.Reading != nil:
			params.Decision = protocol.AllowReading
			return params, nil
		case word == "A" && a.Always:
			params.Decision = protocol.AllowAlways
			return params, nil
		default:
			fmt.Fprintf(t.proc.stderr, "%q is none of these\n", word)
		}
	}
}

// fillIn asks the person for the fields of a question until the kernel accepts the answers.
func (t *chat) fillIn(ctx, inputCtx context.Context, in *lineReader, q protocol.Ask) error {
	fmt.Fprintf(t.proc.stderr, "%s (C-c leaves it waiting)\n", q.Form.Title)
	for {
		answers, err := t.proc.fillIn(inputCtx, in, q)
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
		fmt.Fprintf(t.proc.stderr, "org-agent: not answered: %v\n", err)
	}
}
