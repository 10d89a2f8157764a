package protocol

// PromptResult is the request that the kernel would send to a model for an event. Nothing is sent
// or journalled for it. Without Parts no model would be asked, and Note gives the reason.
type PromptResult struct {
	Session string `json:"session"`
	Skill   string `json:"skill,omitempty"`
	Model   string `json:"model,omitempty"`
	// Settings are those of this message, with their origins.
	Settings TurnSettings `json:"settings,omitempty"`
	// Parts are the messages of the request, in order.
	Parts []PromptPart `json:"parts,omitempty"`
	// Sections are those of the system prompt, in its order. One that was left out has the reason.
	Sections []PromptSection `json:"sections,omitempty"`
	Over     int             `json:"over,omitempty"` // tokens of the system prompt beyond its budget
	Bytes    int             `json:"bytes,omitempty"`
	Tokens   int             `json:"tokens,omitempty"` // an estimate
	Note     string          `json:"note,omitempty"`
	// History is the share of the earlier turns; missing if the request has none.
	History *History `json:"history,omitempty"`
}

// History is the part of the earlier turns of a conversation that a model receives.
type History struct {
	Turns  int `json:"turns"`            // that it sees
	Tokens int `json:"tokens,omitempty"` // of them and of the summary, as the model counts
	Window int `json:"window,omitempty"` // of the model, for a request and its reply
	// Source names the origin of Window; "" if it is an assumption.
	Source string `json:"source,omitempty"`
	// Shortened and Omitted count the results of calls that it sees in part, and those that it
	// does not see.
	Shortened int `json:"shortened,omitempty"`
	Omitted   int `json:"omitted,omitempty"`
	// Summarised is how many of the first turns a summary replaces, and Digest is the journal's
	// row of that summary. Left is how many turns after these are left out.
	Summarised int   `json:"summarised,omitempty"`
	Compaction int64 `json:"digest,omitempty"`
	Left       int   `json:"left,omitempty"`
}

// PromptPart is one message of a prompt: the system prompt, an earlier message, the
// question, or a step of this turn before the model is asked.
type PromptPart struct {
	Name   Keyword `json:"name"` // :system, :history, :question or :exchange
	Role   string  `json:"role"`
	Text   string  `json:"text"`
	Bytes  int     `json:"bytes"`  // of the text and the images
	Tokens int     `json:"tokens"` // an estimate
	// Context describes the items that go along; their texts are in Text. Images describes the
	// images.
	Context []string `json:"context,omitempty"`
	Images  []string `json:"images,omitempty"`
}

// PromptSection is one section of a system prompt.
type PromptSection struct {
	Name  string  `json:"name"`
	Title string  `json:"title"`
	Trust Keyword `json:"trust"` // who wrote it: :kernel, :user, :skill or :data
	Tier  Keyword `json:"tier"`  // its importance: :required, :preferred or :optional
	// Bytes, Lines and Tokens, an estimate, are its size. Whole is its size in bytes before it
	// was cut, 0 if it was not.
	Bytes  int    `json:"bytes,omitempty"`
	Lines  int    `json:"lines,omitempty"`
	Tokens int    `json:"tokens,omitempty"`
	Whole  int    `json:"whole,omitempty"`
	Why    string `json:"why,omitempty"` // the reason for which it was left out
	// Sources are the files that it was made from: the person's note with its template, and
	// files of the home. Without any it came with the program.
	Sources []string `json:"sources,omitempty"`
	Hash    string   `json:"hash,omitempty"` // the beginning of the SHA-256 of its text
}

// The parameters of prompt/get that choose the prompt, beside those of the event.
const (
	PromptMode = "prompt-mode"
	PromptKind = "prompt-kind"
)
