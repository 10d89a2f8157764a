package protocol

// SkillGrantParams asks what a note may reach outside of its Lisp. Without
// Blocks the answer says what the note in the file asks for. With it the person
// grants that: Blocks and Capabilities are those that were shown, and a note that
// has others by now is refused. Revoke takes back what was granted.
type SkillGrantParams struct {
	File         string   `json:"file"`
	Blocks       string   `json:"blocks,omitempty"`
	Capabilities []string `json:"capabilities,omitempty"`
	Revoke       bool     `json:"revoke,omitempty"`
}

// SkillGrantResult is what a note asks for: Note is its path without links as
// policy.org has it, to be shown, and Blocks the SHA-256 of its blocks. Withheld
// says why it is not granted, Since is the day of the grant, also of one that was
// lost.
type SkillGrantResult struct {
	Note         string            `json:"note"`
	Blocks       string            `json:"blocks"`
	Capabilities []SkillCapability `json:"capabilities,omitempty"`
	Granted      bool              `json:"granted,omitempty"`
	Since        string            `json:"since,omitempty"`
	Withheld     string            `json:"withheld,omitempty"`
}

// SkillCapability is one thing a note asks for: Asked is its word, Name what is
// granted, Meaning that in plain words; Refused says why it never is.
type SkillCapability struct {
	Asked   string `json:"asked"`
	Name    string `json:"name,omitempty"`
	Meaning string `json:"meaning,omitempty"`
	Refused string `json:"refused,omitempty"`
}
