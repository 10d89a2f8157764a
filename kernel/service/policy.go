package service

import (
	"context"
	"errors"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// Rules lists and revokes the rules of policy.org. It also lists the actions that a person always allowed
// before such decisions became rules, and keeps them as rules or drops them.
type Rules struct {
	File *policy.RuleFile
	Uses RuleUses
	// Changed is called after policy.org was changed.
	Changed func()
	Now     func() time.Time
}

// RuleUses returns how often rules were used, and the former decisions that are no rules.
// [journal.RuleStore] implements it.
type RuleUses interface {
	Uses(ctx context.Context) (map[string]journal.RuleUse, error)
	FormerAlways(ctx context.Context) ([]protocol.Ask, error)
	ForgetFormer(ctx context.Context, hash string) error
}

// Methods returns the methods of this service.
func (r Rules) Methods() []Method {
	return []Method{
		{protocol.MethodPolicyList, For(r.list)},
		{protocol.MethodPolicyRevoke, For(r.revoke)},
		{protocol.MethodPolicyKeep, For(r.keep)},
	}
}

func (r Rules) list(ctx context.Context, _ protocol.Empty) (protocol.PolicyListResult, error) {
	rules := r.File.Rules()
	result := protocol.PolicyListResult{File: r.File.Path}
	uses, err := r.Uses.Uses(ctx)
	if err != nil {
		return result, err
	}
	for _, row := range rules.Rows() {
		use := uses[row.Name()]
		shown := protocol.PolicyRule{
			Line: row.Line, Rule: row.Rule, Matches: row.Matches, Verdict: protocol.Keyword(row.Verdict.String()), Why: row.Why, Since: row.Since, Uses: use.Count,
		}
		if use.Count > 0 {
			shown.Last = use.Last.UTC().Format(time.RFC3339)
		}
		result.Rules = append(result.Rules, shown)
	}
	for _, fault := range rules.Faults() {
		result.Faults = append(result.Faults, fault.Error())
	}
	former, err := r.Uses.FormerAlways(ctx)
	for _, ask := range former {
		result.Former = append(result.Former, protocol.FormerApproval{Hash: ask.Hash, Summary: ask.Summary, Since: ask.Closed})
	}
	return result, err
}

func (r Rules) revoke(ctx context.Context, p protocol.PolicyRevokeParams) (protocol.PolicyListResult, error) {
	err := r.File.Remove(p.Line, policy.Row{Rule: p.Rule, Matches: p.Matches}.Name())
	if errors.Is(err, policy.ErrRowChanged) {
		return protocol.PolicyListResult{}, protocol.Errorf(protocol.CodeStale, "nothing was revoked: %v", err)
	}
	if err != nil {
		return protocol.PolicyListResult{}, protocol.Errorf(protocol.CodeStorage, "nothing was revoked: %v", err)
	}
	r.Changed()
	return r.list(ctx, protocol.Empty{})
}

// keep makes a former decision a rule, or drops it. It writes the rule before it forgets the decision. If
// the kernel ends in between, the decision is still listed, and keeping it again changes nothing.
func (r Rules) keep(ctx context.Context, p protocol.PolicyKeepParams) (protocol.PolicyListResult, error) {
	if p.Keep {
		if err := r.keepFormer(ctx, p.Hash); err != nil {
			return protocol.PolicyListResult{}, err
		}
	}
	if err := r.Uses.ForgetFormer(ctx, p.Hash); err != nil {
		return protocol.PolicyListResult{}, err
	}
	return r.list(ctx, protocol.Empty{})
}

func (r Rules) keepFormer(ctx context.Context, hash string) error {
	former, err := r.Uses.FormerAlways(ctx)
	if err != nil {
		return err
	}
	for _, ask := range former {
		if ask.Hash != hash {
			continue
		}
		if err := r.File.Allow(hash, ask.Summary, r.Now()); err != nil {
			return protocol.Errorf(protocol.CodeStorage, "no rule was written: %v", err)
		}
		r.Changed()
		return nil
	}
	return protocol.Errorf(protocol.CodeNotFound, "there is no former decision about the action %q", hash)
}
