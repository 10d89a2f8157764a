package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// approveCommand is "org-agent approve".
type approveCommand struct {
	ID   string `arg:"" help:"The approval's id, or \"list\"."`
	Deny string `help:"Refuse it, with a reason for the model." placeholder:"REASON"`
	For  string `help:"How long it is allowed: once, turn, session or always." enum:"once,turn,session,always" default:"once"`
	Yes  bool   `help:"Do not ask."`
	JSON bool   `help:"With list: print JSON."`
}

func (c *approveCommand) Run(ctx context.Context, w *world) error {
	conn, err := w.connect(ctx, connection{start: true})
	if err != nil {
		return err
	}
	defer conn.Close()
	var list protocol.ApprovalListResult
	if err := conn.Call(ctx, protocol.MethodApprovalList, protocol.Empty{}, &list); err != nil {
		return err
	}
	if c.ID == "list" {
		return c.list(w, list.Approvals)
	}
	for _, a := range list.Approvals {
		if a.ID == c.ID {
			return c.decide(ctx, w, conn, a)
		}
	}
	return fmt.Errorf("nothing with the id %s waits for a decision; \"org-agent approve list\" shows what does", c.ID)
}

func (c *approveCommand) list(w *world, approvals []protocol.Approval) error {
	if c.JSON {
		return w.printJSON(approvals)
	}
	for _, a := range approvals {
		fmt.Fprintf(w.out, "%s  %s  %s\n  %s\n", a.ID, a.Session, a.Reason, a.Action)
	}
	return nil
}

// decide shows the whole action, asks, and sends the decision.
func (c *approveCommand) decide(ctx context.Context, w *world, conn *rpc.Conn, a protocol.Approval) error {
	params := protocol.ApprovalDecideParams{ID: a.ID, Decision: protocol.Decision("allow-" + c.For)}
	if c.Deny != "" {
		params.Decision, params.Reason = protocol.Deny, c.Deny
	}
	fmt.Fprintf(w.err, "%s\nbecause %s, for the session %s\n", a.Action, a.Reason, a.Session)
	if !c.Yes && c.Deny == "" {
		fmt.Fprintf(w.err, "allow this (%s)? [y/N] ", c.For)
		answer, _ := bufio.NewReader(w.in).ReadString('\n')
		if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
			return fmt.Errorf("not decided; it waits on. To refuse it: org-agent approve %s --deny REASON", c.ID)
		}
	}
	var result protocol.ApprovalDecideResult
	if err := conn.Call(ctx, protocol.MethodApprovalDecide, params, &result); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w.out, "%s %s\n", result.ID, result.Decision)
	return err
}
