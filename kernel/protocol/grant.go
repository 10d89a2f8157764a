package protocol

// SkillGrantParams asks for the capabilities of a note. Without Blocks the answer
// has those that the note in the file asks for. With Blocks the person grants
// them: Blocks and Capabilities are those of the answer that the person saw. The
// request fails if the note has others by now. Revoke takes the grant back.
type SkillGrantParams struct {
	File         string   `json:"file"`
	Blocks       string   `json:"blocks,omitempty"`
	Capabilities []string `json:"capabilities,omitempty"`
	Revoke       bool     `json:"revoke,omitempty"`
}

// SkillGrantResult has the capabilities that a note asks for. Note is its path in
// policy.org, without links, for people. Blocks is the SHA-256 of its blocks.
// Withheld is the reason for which they are not granted. Since is the day of the
// grant, even if it is no longer valid.
type SkillGrantResult struct {
	Note         string            `json:"note"`
	Blocks       string            `json:"blocks"`
	Capabilities []SkillCapability `json:"capabilities,omitempty"`
	Granted      bool              `json:"granted,omitempty"`
	Since        string            `json:"since,omitempty"`
	Withheld     string            `json:"withheld,omitempty"`
}

// SkillCapability is one capability that a note asks for. Asked is the note's word
// for it, Name the capability, and Meaning a description. Refused is the reason for
// which nobody can grant it.
type SkillCapability struct {
	Requested string `json:"asked"`
	Name      string `json:"name,omitempty"`
	Meaning   string `json:"meaning,omitempty"`
	Refused   string `json:"refused,omitempty"`
}
