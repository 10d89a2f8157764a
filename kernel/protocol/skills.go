package protocol

// SkillParams names a note: its text as it stands in a buffer, or, without a
// text, the file. File is also how diagnostics name it.
type SkillParams struct {
	File string  `json:"file"`
	Text *string `json:"text,omitempty"`
}

// SkillDiagnostic is a fault of a note at its place: lines and columns count
// from 1, columns in characters.
type SkillDiagnostic struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Warning bool   `json:"warning,omitempty"`
	Message string `json:"message"`
}

// SkillCheckResult is all that is wrong with a note. Hash is the SHA-256 of its
// blocks, in hex, "" if it does not load.
type SkillCheckResult struct {
	Hash        string            `json:"hash,omitempty"`
	Diagnostics []SkillDiagnostic `json:"diagnostics,omitempty"`
}

// SkillTestResult is what a note's tests prove; with Diagnostics it did not load
// and no test ran.
type SkillTestResult struct {
	Hash        string            `json:"hash,omitempty"`
	Proofs      []SkillProof      `json:"proofs,omitempty"`
	Diagnostics []SkillDiagnostic `json:"diagnostics,omitempty"`
}

// ProofResult is what is known of a criterion.
type ProofResult string

const (
	ProofPass ProofResult = "pass"
	ProofFail ProofResult = "fail"
	ProofNone ProofResult = "none" // no test names it
)

// PlistKeyword marks the type as an enum.
func (ProofResult) PlistKeyword() {}

// SkillProof is what became of a success criterion, a heading at Line, or, when
// Heading is not set, of a test that proves none.
type SkillProof struct {
	Criterion   string            `json:"criterion"`
	Result      ProofResult       `json:"result"`
	Line        int               `json:"line"`
	Heading     bool              `json:"heading,omitempty"`
	Diagnostics []SkillDiagnostic `json:"diagnostics,omitempty"`
}

// SkillEvaluateParams is code to be evaluated in the environment of a note,
// which is loaded anew for it. Line is where the code begins in the note.
type SkillEvaluateParams struct {
	File string  `json:"file"`
	Text *string `json:"text,omitempty"`
	Code string  `json:"code"`
	Line int     `json:"line,omitempty"`
}

// SkillEvaluateResult is what prin1 prints of the first value of each top-level
// form, and what the forms wrote; with Diagnostics the note did not load, or
// the form behind the last value failed.
type SkillEvaluateResult struct {
	Values      []string          `json:"values,omitempty"`
	Output      string            `json:"output,omitempty"`
	Diagnostics []SkillDiagnostic `json:"diagnostics,omitempty"`
}

// SkillSymbolsResult is everything that a note's Lisp has before the note
// defines anything.
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

// SkillListResult is every note, the home's first, then every directory with a
// SKILL.md, and what people can ask the live ones for by name. Diagnostics are of
// policy.org: while there are any, no note is granted anything.
// Of very many directories Left are not listed.
type SkillListResult struct {
	Skills      []SkillStatus     `json:"skills,omitempty"`
	Commands    []SkillCommand    `json:"commands,omitempty"`
	Diagnostics []SkillDiagnostic `json:"diagnostics,omitempty"`
	Left        int               `json:"left,omitempty"`
}

// SkillCommand is a command of a live skill: an event with the sensor :user-command and
// this :command is its. Wants says what of the client it is to be given: "buffer", "agenda".
type SkillCommand struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Skill       string   `json:"skill"`
	Wants       []string `json:"wants,omitempty"`
}

// SkillHook is a hook of a note: On is the event with the tools that it is about.
type SkillHook struct {
	Name string `json:"name"`
	On   string `json:"on"`
	Line int    `json:"line"`
}

// SkillStatus is what is known of a note, or, of the kind :prompt, of a directory
// with a SKILL.md. A note's State is :live, :failed, :shadowed or :duplicate, a
// directory's :effective, :failed, :shadowed, :disabled or :ineligible, with
// Reasons; the model is not told of one that is OnlyUser. LastGood says that the newest version failed and an earlier one
// is live. Skill is the name of its skill, several with a blank between. Of
// Tests tests all passed if the note is live.
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
	// Hooks are those of the note.
	Hooks []SkillHook `json:"hooks,omitempty"`
	// Capabilities are what it asks for, Granted what of it it has, since the day
	// Since; Withheld says why it has not.
	Capabilities []string          `json:"capabilities,omitempty"`
	Granted      []string          `json:"granted,omitempty"`
	Since        string            `json:"since,omitempty"`
	Withheld     string            `json:"withheld,omitempty"`
	Diagnostics  []SkillDiagnostic `json:"diagnostics,omitempty"`
}
