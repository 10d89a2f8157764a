package main

import (
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
	For    string `help:"How long the permission lasts: once, turn, session or always. With reading, the offered rules for reading in the project are added too." enum:"once,turn,session,always,reading" default:"once"`
	Yes    bool   `help:"Allow it without asking."`
	Action bool   `help:"Print the action exactly as it would be performed, and decide nothing."`
	JSON   bool   `help:"With list: print JSON."`
}

func (c *approveCommand) Run(ctx context.Context, proc *process) error {
	conn, err := proc.connect(ctx, connection{start: true})
	if err != nil {
		return err
	}
	defer conn.Close()
	var list protocol.AskListResult
	if err := conn.Call(ctx, protocol.MethodAskList, protocol.Empty{}, &list); err != nil {
		return err
	}
	if c.ID == "list" {
		return c.list(ctx, proc, conn, list.Of(protocol.AskApproval))
	}
	for _, a := range list.Of(protocol.AskApproval) {
		if a.ID != c.ID {
			continue
		}
		if c.Action {
			return printApproval(ctx, proc.stdout, conn, a, true)
		}
		return c.decide(ctx, proc, conn, a)
	}
	return fmt.Errorf("nothing with the id %s waits for a decision; \"org-agent approve list\" shows what does", c.ID)
}

func (c *approveCommand) list(ctx context.Context, proc *process, conn *rpc.Conn, approvals []protocol.Ask) error {
	if c.JSON {
		return proc.printJSON(approvals)
	}
	for _, a := range approvals {
		fmt.Fprintf(proc.stdout, "%s  %s  %s\n", a.ID, a.Session, approvalTitle(a))
		stale, err := staleOf(ctx, conn, a)
		if err != nil {
			return err
		}
		if stale != "" {
			fmt.Fprintf(proc.stdout, "  cannot be done now: %s\n", strings.TrimSuffix(stale, "\n"))
		}
		printReason(proc.stdout, a)
		fmt.Fprint(proc.stdout, indented(a.Text))
		if a.Cut > 0 {
			fmt.Fprintf(proc.stdout, "    … %d more bytes: org-agent approve %s shows all\n", a.Cut, a.ID)
		}
	}
	return nil
}

// staleOf returns why the action of an approval can no longer be carried out, "" if nothing is known.
func staleOf(ctx context.Context, conn *rpc.Conn, a protocol.Ask) (string, error) {
	var check protocol.AskCheckResult
	err := conn.Call(ctx, protocol.MethodAskCheck, protocol.AskCheckParams{ID: a.ID}, &check)
	if protocol.ErrorCode(err) == protocol.CodeNotFound {
		return "", nil // it was decided meanwhile
	}
	return check.Stale, err
}

// approvalTitle describes the action of an approval in one line.
func approvalTitle(a protocol.Ask) string {
	if a.Summary == "" {
		return a.Action
	}
	return a.Summary
}

// printReason prints why the approval is needed and what the action will do.
func printReason(out io.Writer, a protocol.Ask) {
	fmt.Fprintf(out, "  asks because: %s\n", a.Reason)
	for _, effect := range a.Effects {
		fmt.Fprintf(out, "  will: %s\n", effect)
	}
}

// printReadingOffer prints the read-only set that is offered with the approval.
func printReadingOffer(out io.Writer, a protocol.Ask) {
	if a.Reading == nil {
		return
	}
	fmt.Fprint(out, "  reading in this project can be allowed with it, by these rules of policy.org:\n")
	for _, row := range a.Reading.Rows {
		fmt.Fprintf(out, "    %s | %s\n", row.Rule, row.Matches)
	}
}

func indented(text string) string {
	if text == "" {
		return ""
	}
	return "    " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n    ") + "\n"
}

// showApproval prints everything a person needs to decide an approval.
func (proc *process) showApproval(ctx context.Context, conn *rpc.Conn, a protocol.Ask) error {
	fmt.Fprintf(proc.stderr, "%s, for the session %s\n", approvalTitle(a), a.Session)
	printReason(proc.stderr, a)
	printReadingOffer(proc.stderr, a)
	fmt.Fprintln(proc.stderr)
	return printApproval(ctx, proc.stderr, conn, a, a.Text == "" && a.Cut == 0)
}

// printApproval prints the approval's whole action, or its whole text.
func printApproval(ctx context.Context, out io.Writer, conn *rpc.Conn, a protocol.Ask, action bool) error {
	for from := 0; ; {
		var part protocol.AskGetResult
		err := conn.Call(ctx, protocol.MethodAskGet, protocol.AskGetParams{ID: a.ID, Action: action, From: from}, &part)
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

// decide shows the whole action, asks the person, and sends the decision.
func (c *approveCommand) decide(ctx context.Context, proc *process, conn *rpc.Conn, a protocol.Ask) error {
	params := protocol.AskDecideParams{ID: a.ID, Decision: protocol.Decision("allow-" + c.For)}
	if c.Deny != "" {
		params.Decision, params.Reason = protocol.Deny, c.Deny
	}
	switch {
	case c.Deny != "" || c.For == "once":
	case a.Once:
		return errors.New("this can only be allowed once: omit --for")
	case a.Reading == nil && c.For == "reading":
		return errors.New("no rules for reading are offered with this: omit --for, or say turn or session")
	case !a.Always && c.For == "always":
		return errors.New("this cannot be allowed always, because an equal action does not come again: omit --for, or say turn or session")
	}
	if err := proc.showApproval(ctx, conn, a); err != nil {
		return err
	}
	if c.Deny == "" {
		stale, err := staleOf(ctx, conn, a)
		if err != nil {
			return err
		}
		if stale != "" {
			return fmt.Errorf("not decided; it keeps waiting, because it cannot be performed now: %s\nTo refuse it, so that the agent can propose it again: org-agent approve %s --deny REASON", strings.TrimSuffix(stale, "\n"), c.ID)
		}
	}
	if !c.Yes && c.Deny == "" {
		yes, err := proc.confirm(ctx, fmt.Sprintf("\nallow this (%s)?", c.For))
		if err != nil {
			return err
		}
		if !yes {
			return fmt.Errorf("not decided; it keeps waiting. To refuse it: org-agent approve %s --deny REASON", c.ID)
		}
	}
	var result protocol.AskDecideResult
	if err := conn.Call(ctx, protocol.MethodAskDecide, params, &result); err != nil {
		return err
	}
	_, err := fmt.Fprintf(proc.stdout, "%s %s\n", result.ID, result.Decision)
	if result.Note != "" {
		fmt.Fprintf(proc.stderr, "org-agent: %s\n", result.Note)
	}
	return err
}
