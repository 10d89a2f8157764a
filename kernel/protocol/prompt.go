package protocol

// PromptResult is what a model would be sent for an event, without anything being sent or
// kept. Without Parts no model would be asked, and Note says so.
type PromptResult struct {
	Session string `json:"session"`
	Skill   string `json:"skill,omitempty"`
	Model   string `json:"model,omitempty"`
	// Settings are what holds for this message, and who set it.
	Settings TurnSettings `json:"settings,omitempty"`
	// Parts are the messages as they would be sent, in order.
	Parts []PromptPart `json:"parts,omitempty"`
	// Sections are what the system prompt is made of, in its order; those that are not in it
	// say why.
	Sections []PromptSection `json:"sections,omitempty"`
	Over     int             `json:"over,omitempty"` // tokens of the system prompt beyond its budget
	Bytes    int             `json:"bytes,omitempty"`
	Tokens   int             `json:"tokens,omitempty"` // an estimate
	Note     string          `json:"note,omitempty"`
	// History says what of it is the conversation so far; missing where none was asked for.
	History *History `json:"history,omitempty"`
}

// History is what a model is shown of the earlier turns of a conversation.
type History struct {
	Turns  int `json:"turns"`            // shown
	Tokens int `json:"tokens,omitempty"` // of them and what stands for others, as the model counts
	Window int `json:"window,omitempty"` // of the model, for all of a request and its reply
	// Source says who knows the window; "" when it is only taken to be so.
	Source string `json:"source,omitempty"`
	// Of the results of calls so many are shown in part, and so many not at all.
	Shortened int `json:"shortened,omitempty"`
	Omitted   int `json:"omitted,omitempty"`
	// For so many turns at the beginning there are notes, which the row Digest of the journal
	// has; Left of those behind them are left out.
	Summarised int   `json:"summarised,omitempty"`
	Digest     int64 `json:"digest,omitempty"`
	Left       int   `json:"left,omitempty"`
}

// PromptPart is one message of a prompt: the system prompt, an earlier message, the
// question, or what this turn has come to before the model is asked.
type PromptPart struct {
	Name   Keyword `json:"name"` // :system, :history, :question or :exchange
	Role   string  `json:"role"`
	Text   string  `json:"text"`
	Bytes  int     `json:"bytes"`  // of the text and the images
	Tokens int     `json:"tokens"` // an estimate
	// Context tells of what goes along, whose texts are in Text; Images of the images.
	Context []string `json:"context,omitempty"`
	Images  []string `json:"images,omitempty"`
}

// PromptSection is one section of a system prompt.
type PromptSection struct {
	Name  string  `json:"name"`
	Title string  `json:"title"`
	Trust Keyword `json:"trust"` // whose words it has: :kernel, :user, :skill or :data
	Tier  Keyword `json:"tier"`  // how dear it is: :required, :preferred or :optional
	// Bytes, Lines and Tokens, an estimate, are its size; Whole is how many bytes it would
	// be if it had not been cut.
	Bytes  int    `json:"bytes,omitempty"`
	Lines  int    `json:"lines,omitempty"`
	Tokens int    `json:"tokens,omitempty"`
	Whole  int    `json:"whole,omitempty"`
	Why    string `json:"why,omitempty"` // it is not there
	// Sources are the files it was made of: the person's note that is its template, and
	// files of the home. Without any it came with the program.
	Sources []string `json:"sources,omitempty"`
	Hash    string   `json:"hash,omitempty"` // the beginning of the SHA-256 of its text
}

// The parameters of prompt/get that say which prompt is shown, beside those of the event.
const (
	PromptMode = "prompt-mode"
	PromptKind = "prompt-kind"
)
