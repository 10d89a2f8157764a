package journal

import (
	"context"
	"time"

	"org-agent/kernel/protocol"
)

// RuleStore holds what the journal knows of the rules of policy.org: how often each allowed something,
// and what was always allowed before such decisions were rules.
type RuleStore struct{ *database }

// RuleUse is how often a rule allowed something, and when it did so last.
type RuleUse struct {
	Count int
	Last  time.Time
}

const ruleUsesQuery = `SELECT r.value, count(*), max(j.time) FROM journal AS j INDEXED BY journal_rules, json_each(j.data, '$.rules') AS r
	WHERE j.kind = 'verdict' AND instr(j.data, '"rules":') > 0 GROUP BY r.value`

// Uses returns the use of each rule that ever allowed something, by the name of the rule.
func (s *RuleStore) Uses(ctx context.Context) (map[string]RuleUse, error) {
	type use struct {
		rule string
		RuleUse
	}
	all, err := collect(ctx, s.readers, func(row scanner) (u use, err error) {
		var last int64
		err = row.Scan(&u.rule, &u.Count, &last)
		u.Last = instant(last)
		return u, err
	}, ruleUsesQuery)
	uses := make(map[string]RuleUse, len(all))
	for _, u := range all {
		uses[u.rule] = u.RuleUse
	}
	return uses, s.failure(ctx, "count what rules allowed", err)
}

// FormerAlways returns the approvals that a person always allowed when that was no rule of policy.org
// yet, the latest decision for each action, oldest first. They allow nothing any more.
func (s *RuleStore) FormerAlways(ctx context.Context) ([]protocol.Ask, error) {
	asks, err := collect(ctx, s.readers, scanAsk, askQuery+"JOIN always_before AS f ON f.seq = p.seq ORDER BY p.seq")
	return asks, s.failure(ctx, "list what was always allowed before", err)
}

// ForgetFormer removes an action from [RuleStore.FormerAlways]. CodeNotFound if it is not there.
func (s *RuleStore) ForgetFormer(ctx context.Context, hash string) error {
	return s.transact(ctx, "forget what was always allowed before", func(ctx context.Context, tx *writer) error {
		result, err := tx.ExecContext(ctx, "DELETE FROM always_before WHERE hash = ?", hash)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		if err == nil && n == 0 {
			return protocol.Errorf(protocol.CodeNotFound, "there is no former decision about the action %q", hash)
		}
		return err
	})
}
