package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"org-agent/kernel/protocol"
)

// ask is what waits for a person in a conversation: an approval or a question.
type ask struct {
	approval *protocol.Approval
	question *protocol.Question
}

// closedAsk says that what was asked waits no more; no client means that its turn ended.
type closedAsk struct{ id, client string }

func (c closedAsk) String() string {
	if c.client == "" {
		return "this waits no more: its turn has ended"
	}
	return "this was decided elsewhere (" + c.client + ")"
}

// errLater: the person leaves it waiting.
var errLater = errors.New("it waits on")

func (a ask) id() string {
	if a.approval != nil {
		return a.approval.ID
	}
	return a.question.ID
}

// turn is the turn that asks.
func (a ask) turn() string {
	if a.approval != nil {
		return a.approval.Turn
	}
	return a.question.Turn
}

// title is what is asked, in a line.
func (a ask) title() string {
	if a.approval != nil {
		return "this needs your decision: " + orAction(*a.approval)
	}
	return "this asks you: " + a.question.Form.Title
}

// later says how it is answered another time.
func (a ask) later(out io.Writer) {
	command := "answer"
	if a.approval != nil {
		command = "approve"
	}
	fmt.Fprintf(out, "org-agent: run: org-agent %s %s\n", command, a.id())
}

// answer has the person answer what waits, from shown to sent. It ends with errLater when
// they leave it, and with the context of the person, patience; what they said is sent
// though patience ends meanwhile.
func (t *talk) answer(ctx, patience context.Context, in *lineReader, a ask) error {
	if a.approval != nil {
		return t.decide(ctx, patience, in, *a.approval)
	}
	return t.fillIn(ctx, patience, in, *a.question)
}

// decide shows the whole of an approval and asks until there is a decision that is taken.
func (t *talk) decide(ctx, patience context.Context, in *lineReader, a protocol.Approval) error {
	if err := t.world.showWhole(ctx, t.conn, a); err != nil {
		return err
	}
	for {
		params, err := t.decision(patience, in, a)
		if err != nil {
			return err
		}
		err = t.conn.Call(ctx, protocol.MethodApprovalDecide, params, nil)
		if err == nil || ctx.Err() != nil {
			return err
		}
		fmt.Fprintf(t.world.err, "org-agent: not decided: %s\n", strings.TrimSuffix(err.Error(), "\n"))
	}
}

// decision reads a decision of the approval.
func (t *talk) decision(ctx context.Context, in *lineReader, a protocol.Approval) (protocol.ApprovalDecideParams, error) {
	params := protocol.ApprovalDecideParams{ID: a.ID}
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

// fillIn asks for the fields of a question until its answers are taken.
func (t *talk) fillIn(ctx, patience context.Context, in *lineReader, q protocol.Question) error {
	fmt.Fprintf(t.world.err, "%s (C-c leaves it waiting)\n", q.Form.Title)
	for {
		answers, err := t.world.fillIn(patience, in, q)
		if errors.Is(err, io.EOF) {
			return errLater
		}
		if err != nil {
			return err
		}
		err = t.conn.Call(ctx, protocol.MethodQuestionAnswer, protocol.QuestionAnswerParams{ID: q.ID, Answers: answers}, nil)
		if err == nil || ctx.Err() != nil {
			return err
		}
		fmt.Fprintf(t.world.err, "org-agent: not answered: %v\n", err)
	}
}
