package protocol

// PolicyListResult is what a person has allowed and forbidden: the rules of policy.org in their order.
// Faults are the errors of the file; while there are any, everything that a rule could decide is
// refused. Former is what was always allowed before such decisions were rules. It allows nothing until
// it is kept.
type PolicyListResult struct {
	File   string           `json:"file"`
	Rules  []PolicyRule     `json:"rules,omitempty"`
	Faults []string         `json:"faults,omitempty"`
	Former []FormerApproval `json:"former,omitempty"`
}

// PolicyRule is a row of policy.org. Since is as the row has it. Uses is how often the rule has allowed
// something, and Last when it did so last, RFC 3339.
type PolicyRule struct {
	Line    int     `json:"line"`
	Rule    string  `json:"rule"`
	Matches string  `json:"matches,omitempty"`
	Verdict Keyword `json:"verdict"`
	Why     string  `json:"why,omitempty"`
	Since   string  `json:"since,omitempty"`
	Uses    int     `json:"uses,omitempty"`
	Last    string  `json:"last,omitempty"`
}

// FormerApproval is an action that was always allowed, since an RFC 3339 time.
type FormerApproval struct {
	Hash    string `json:"hash"`
	Summary string `json:"summary"`
	Since   string `json:"since"`
}

// PolicyRevokeParams removes a row from policy.org. Rule and Matches are those of the row as it was
// listed: if another row is in the line by now, nothing is removed.
type PolicyRevokeParams struct {
	Line    int    `json:"line"`
	Rule    string `json:"rule"`
	Matches string `json:"matches,omitempty"`
}

// PolicyKeepParams decides about a [FormerApproval]: Keep makes it a rule of policy.org. Otherwise it is
// dropped.
type PolicyKeepParams struct {
	Hash string `json:"hash"`
	Keep bool   `json:"keep,omitempty"`
}
