package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// policyListCommand is "org-agent policy list".
type policyListCommand struct {
	JSON bool `help:"Print JSON."`
}

func (c *policyListCommand) Run(ctx context.Context, proc *process) error {
	conn, list, err := proc.listRules(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if c.JSON {
		return proc.printJSON(list)
	}
	if len(list.Faults)+len(list.Rules)+len(list.Former) == 0 {
		_, err = fmt.Fprintln(proc.stderr, "org-agent: policy.org has no rules yet; the answer \"always\" to an approval adds one")
		return err
	}
	return proc.printRules(list)
}

// listRules connects to the kernel and returns its rules. The caller has to close the connection.
func (proc *process) listRules(ctx context.Context) (conn *rpc.Conn, list protocol.PolicyListResult, err error) {
	if conn, err = proc.connect(ctx, connection{start: true}); err != nil {
		return nil, list, err
	}
	if err = conn.Call(ctx, protocol.MethodPolicyList, protocol.Empty{}, &list); err != nil {
		conn.Close()
		return nil, list, err
	}
	return conn, list, nil
}

// printRules prints the faults of policy.org, the rules with their lines, and the former decisions that
// are no rules.
func (proc *process) printRules(list protocol.PolicyListResult) (err error) {
	line := func(format string, arguments ...any) {
		_, printErr := fmt.Fprintf(proc.stdout, format, arguments...)
		err = errors.Join(err, printErr)
	}
	for _, fault := range list.Faults {
		line("error   %s\n", printable(fault))
	}
	for _, rule := range list.Rules {
		about := strings.TrimSpace(rule.Rule + " " + rule.Matches)
		if rule.Why != "" {
			about += "  (" + rule.Why + ")"
		}
		line("%4d  %-6s  used %d  %s\n", rule.Line, rule.Verdict, rule.Uses, printable(about))
	}
	for _, former := range list.Former {
		line("before  %s  always allowed before there were rules, asked about until M-x org-agent-policy keeps it: %s\n", former.Hash, printable(former.Summary))
	}
	return err
}

// policyRevokeCommand is "org-agent policy revoke".
type policyRevokeCommand struct {
	Line int `arg:"" help:"The line of the rule in policy.org, as \"policy list\" prints it."`
}

func (c *policyRevokeCommand) Run(ctx context.Context, proc *process) error {
	conn, list, err := proc.listRules(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, rule := range list.Rules {
		if rule.Line != c.Line {
			continue
		}
		params := protocol.PolicyRevokeParams{Line: rule.Line, Rule: rule.Rule, Matches: rule.Matches}
		if err := conn.Call(ctx, protocol.MethodPolicyRevoke, params, &list); err != nil {
			return err
		}
		_, err := fmt.Fprintf(proc.stdout, "revoked %s\n", printable(strings.TrimSpace(rule.Rule+" "+rule.Matches)))
		return err
	}
	return fmt.Errorf("there is no rule in line %d of %s; \"org-agent policy list\" shows them", c.Line, list.File)
}
