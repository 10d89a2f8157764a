package protocol

// SkillParams names a note: Text is its text in a buffer. Without it the kernel
// reads the file. Diagnostics name the note by File.
type SkillParams struct {
	File string  `json:"file"`
	Text *string `json:"text,omitempty"`
}

// SkillDiagnostic is a fault of a note with its place. Lines and columns count
// from 1, columns in characters.
type SkillDiagnostic struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Warning bool   `json:"warning,omitempty"`
	Message string `json:"message"`
}

// SkillCheckResult has all faults of a note. Hash is the SHA-256 of its blocks in
// hex, "" if the note does not load.
type SkillCheckResult struct {
	Hash        string            `json:"hash,omitempty"`
	Diagnostics []SkillDiagnostic `json:"diagnostics,omitempty"`
}

// SkillTestResult has the results of a note's tests. With Diagnostics the note did
// not load, and no test ran.
type SkillTestResult struct {
	Hash        string            `json:"hash,omitempty"`
	Proofs      []SkillProof      `json:"proofs,omitempty"`
	Diagnostics []SkillDiagnostic `json:"diagnostics,omitempty"`
}

// ProofResult is the result of the tests of a criterion.
type ProofResult string

const (
	ProofPass ProofResult = "pass"
	ProofFail ProofResult = "fail"
	ProofNone ProofResult = "none" // no test names it
)

// PlistKeyword marks the type as an enum.
func (ProofResult) PlistKeyword() {}

// SkillProof is the result for a success criterion, which is a heading at Line. If
// Heading is false, it is the result of a test that names no criterion.
type SkillProof struct {
	Criterion   string            `json:"criterion"`
	Result      ProofResult       `json:"result"`
	Line        int               `json:"line"`
	Heading     bool              `json:"heading,omitempty"`
	Diagnostics []SkillDiagnostic `json:"diagnostics,omitempty"`
}

// SkillEvaluateParams asks to evaluate code in the environment of a note, which the
// kernel loads anew. Line is the first line of the code in the note.
type SkillEvaluateParams struct {
	File string  `json:"file"`
	Text *string `json:"text,omitempty"`
	Code string  `json:"code"`
	Line int     `json:"line,omitempty"`
}

// SkillEvaluateResult has the first value of each top-level form as prin1 prints
// it, and the output of the forms. With Diagnostics the note did not load, or the
// form after the last value failed.
type SkillEvaluateResult struct {
	Values      []string          `json:"values,omitempty"`
	Output      string            `json:"output,omitempty"`
	Diagnostics []SkillDiagnostic `json:"diagnostics,omitempty"`
}

// SkillSymbolsResult has all symbols that are defined before a note is loaded.
type SkillSymbolsResult struct {
	Symbols []SkillSymbol `json:"symbols,omitempty"`
}

// SkillSymbol describes a name. List is the lambda list as printed, "" for
// variables; Doc is one line.
type SkillSymbol struct {
	Name string  `json:"name"`
	Kind Keyword `json:"kind"`
	List string  `json:"list,omitempty"`
	Doc  string  `json:"doc,omitempty"`
}

// SkillListResult has every note, those of the home first, then every directory with
// a SKILL.md, and the commands of the live skills. Diagnostics are faults of
// policy.org; while there are any, no note is granted anything. Left is how many
// directories are not listed.
type SkillListResult struct {
	Skills      []SkillStatus     `json:"skills,omitempty"`
	Commands    []SkillCommand    `json:"commands,omitempty"`
	Diagnostics []SkillDiagnostic `json:"diagnostics,omitempty"`
	Left        int               `json:"left,omitempty"`
}

// SkillCommand is a command of a live skill. The skill answers events with the sensor
// :user-command and this :command. Wants names what the client sends along: "buffer", "agenda".
type SkillCommand struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Skill       string   `json:"skill"`
	Wants       []string `json:"wants,omitempty"`
}

// SkillAction is a kind of action that a note defines. Key is its target and name, Does its
// purpose, and Form the form of a proposal.
type SkillAction struct {
	Key  string `json:"key"`
	Does string `json:"does"`
	Form string `json:"form"`
}

// SkillTool is a tool that a note defines.
type SkillTool struct {
	Name string `json:"name"`
	Does string `json:"does"`
}

// SkillHook is a hook of a note. On is its event, with the tools for which it runs.
type SkillHook struct {
	Name string `json:"name"`
	On   string `json:"on"`
	Line int    `json:"line"`
}

// SkillStatus is the status of a note or, with the kind :prompt, of a directory
// with a SKILL.md. The State of a note is :live, :failed, :shadowed or :duplicate,
// that of a directory :effective, :failed, :shadowed, :disabled or :ineligible.
// Reasons explain the state of a directory. Models do not see one that is OnlyUser.
// LastGood reports that the newest version failed and an earlier one is live. Skill
// has the names of its skills, separated by blanks. If the note is live, all of its
// Tests passed.
type SkillStatus struct {
	File        string   `json:"file"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Skill       string   `json:"skill,omitempty"`
	State       Keyword  `json:"state"`
	Kind        Keyword  `json:"kind,omitempty"`
	Reasons     []string `json:"reasons,omitempty"`
	OnlyUser    bool     `json:"only-user,omitempty"`
	Shipped     bool     `json:"shipped,omitempty"`
	LastGood    bool     `json:"last-good,omitempty"`
	Hash        string   `json:"hash,omitempty"`
	Version     string   `json:"version,omitempty"`
	Priority    int      `json:"priority,omitempty"`
	Tests       int      `json:"tests,omitempty"`
	// Actions are the kinds of actions that the note defines.
	Actions []SkillAction `json:"actions,omitempty"`
	// Tools are the tools that the note defines.
	Tools []SkillTool `json:"tools,omitempty"`
	// Hooks are those of the note.
	Hooks []SkillHook `json:"hooks,omitempty"`
	// Capabilities are those that the note asks for, and Granted those that it has
	// since the day Since. Withheld is the reason for which it has not all.
	Capabilities []string          `json:"capabilities,omitempty"`
	Granted      []string          `json:"granted,omitempty"`
	Since        string            `json:"since,omitempty"`
	Withheld     string            `json:"withheld,omitempty"`
	Diagnostics  []SkillDiagnostic `json:"diagnostics,omitempty"`
}
