package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// approveCommand is "org-agent approve".
type approveCommand struct {
	ID     string `arg:"" help:"The approval's id, or \"list\"."`
	Deny   string `help:"Refuse it, with a reason for the model." placeholder:"REASON"`
	For    string `help:"How long it is allowed: once, turn, session or always." enum:"once,turn,session,always" default:"once"`
	Yes    bool   `help:"Do not ask."`
	Action bool   `help:"Print the action as it is performed, and decide nothing."`
	JSON   bool   `help:"With list: print JSON."`
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
		if a.ID != c.ID {
			continue
		}
		if c.Action {
			return printApproval(ctx, w.out, conn, a, true)
		}
		return c.decide(ctx, w, conn, a)
	}
	return fmt.Errorf("nothing with the id %s waits for a decision; \"org-agent approve list\" shows what does", c.ID)
}

func (c *approveCommand) list(w *world, approvals []protocol.Approval) error {
	if c.JSON {
		return w.printJSON(approvals)
	}
	for _, a := range approvals {
		fmt.Fprintf(w.out, "%s  %s  %s\n", a.ID, a.Session, orAction(a))
		printReason(w.out, a)
		fmt.Fprint(w.out, indented(a.Text))
		if a.Cut > 0 {
			fmt.Fprintf(w.out, "    … %d more bytes: org-agent approve %s shows all\n", a.Cut, a.ID)
		}
	}
	return nil
}

// orAction is what the approval is about, in a line.
func orAction(a protocol.Approval) string {
	if a.Summary == "" {
		return a.Action
	}
	return a.Summary
}

// printReason prints why it asks and what is foreseen.
func printReason(out io.Writer, a protocol.Approval) {
	fmt.Fprintf(out, "  asks because: %s\n", a.Reason)
	for _, effect := range a.Effects {
		fmt.Fprintf(out, "  will: %s\n", effect)
	}
}

func indented(text string) string {
	if text == "" {
		return ""
	}
	return "    " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n    ") + "\n"
}

// showWhole prints all that a person needs to know of an approval to decide it.
func (w *world) showWhole(ctx context.Context, conn *rpc.Conn, a protocol.Approval) error {
	fmt.Fprintf(w.err, "%s, for the session %s\n", orAction(a), a.Session)
	printReason(w.err, a)
	fmt.Fprintln(w.err)
	return printApproval(ctx, w.err, conn, a, a.Text == "" && a.Cut == 0)
}

// printApproval prints all of the approval's action, or of its text.
func printApproval(ctx context.Context, out io.Writer, conn *rpc.Conn, a protocol.Approval, action bool) error {
	for from := 0; ; {
		var part protocol.ApprovalGetResult
		err := conn.Call(ctx, protocol.MethodApprovalGet, protocol.ApprovalGetParams{ID: a.ID, Action: action, From: from}, &part)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(out, part.Text); err != nil {
			return err
		}
		if from = part.Next; from == 0 {
			if strings.HasSuffix(part.Text, "\n") {
				return nil
			}
			_, err := fmt.Fprintln(out)
			return err
		}
	}
}

// decide shows the whole action, asks, and sends the decision.
func (c *approveCommand) decide(ctx context.Context, w *world, conn *rpc.Conn, a protocol.Approval) error {
	params := protocol.ApprovalDecideParams{ID: a.ID, Decision: protocol.Decision("allow-" + c.For)}
	if c.Deny != "" {
		params.Decision, params.Reason = protocol.Deny, c.Deny
	}
	if a.Once && c.Deny == "" && c.For != "once" {
		return errors.New("this can be allowed once only: leave out --for")
	}
	if err := w.showWhole(ctx, conn, a); err != nil {
		return err
	}
	if c.Deny == "" {
		var check protocol.ApprovalCheckResult
		if err := conn.Call(ctx, protocol.MethodApprovalCheck, protocol.ApprovalCheckParams{ID: a.ID}, &check); err != nil {
			return err
		}
		if check.Stale != "" {
			return fmt.Errorf("not decided; it waits on, as it cannot be done as things are: %s\nTo refuse it, so that the agent can propose it anew: org-agent approve %s --deny REASON", strings.TrimSuffix(check.Stale, "\n"), c.ID)
		}
	}
	if !c.Yes && c.Deny == "" {
		fmt.Fprintf(w.err, "\nallow this (%s)? [y/N] ", c.For)
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
