package journal_test

import (
	"encoding/json"
	"testing"

	"org-agent/kernel/journal"
)

// TestRuleUses counts verdicts by the rules that they name, and no other row.
func TestRuleUses(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	for _, row := range []struct {
		kind journal.Kind
		data any
	}{
		{journal.KindVerdict, map[string]any{"verdict": "allow", "rules": []string{"runs make **", "action " + `a"b`}}},
		{journal.KindVerdict, map[string]any{"verdict": "allow", "rules": []string{"runs make **"}}},
		{journal.KindVerdict, map[string]any{"verdict": "allow", "reason": "the tool only reads"}},
		{journal.KindVerdict, map[string]any{"verdict": "ask", "reason": `says "rules": [1]`}},
		{journal.KindProposal, map[string]any{"rules": []string{"runs make **"}}},
	} {
		data, err := json.Marshal(row.data)
		must(t, err)
		_, err = j.Records.Append(ctx, journal.Entry{Kind: row.kind, Data: data})
		must(t, err)
	}
	uses, err := j.Rules.Uses(ctx)
	must(t, err)
	if len(uses) != 2 || uses["runs make **"].Count != 2 || uses[`action a"b`].Count != 1 || uses["runs make **"].Last.IsZero() {
		t.Errorf("%+v", uses)
	}
}
