package protocol

// PromptResult is what a model would be sent for an event, without anything being sent or
// kept. Without Parts no model would be asked, and Note says so.
type PromptResult struct {
	Session string `json:"session"`
	Skill   string `json:"skill,omitempty"`
	Model   string `json:"model,omitempty"`
	// Parts are the messages as they would be sent, in order.
	Parts  []PromptPart `json:"parts,omitempty"`
	Bytes  int          `json:"bytes,omitempty"`
	Tokens int          `json:"tokens,omitempty"` // an estimate
	Note   string       `json:"note,omitempty"`
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
