package protocol

// TurnRetryParams asks for another answer of a turn, named by its id or by its
// question's. The new answer follows the earlier ones. Model is a name as in
// [ModelInfo]; the default is the question's model. Above is as in [Event], with the
// question's own heading as the last one; its present settings apply to the new answer.
type TurnRetryParams struct {
	Turn  string `json:"turn,omitempty"`
	Event string `json:"event,omitempty"`
	Model string `json:"model,omitempty"`
	Above string `json:"above,omitempty"`
}

// TurnPreferParams prefers the answer with the :ID: among those of its question:
// later turns see it instead of the last one. Not takes that back.
type TurnPreferParams struct {
	ID  string `json:"id"`
	Not bool   `json:"not,omitempty"`
}

// TurnPreferred notifies clients that a person prefers the answer ID to Event, or with
// "" none.
type TurnPreferred struct {
	Session string `json:"session"`
	Turn    string `json:"turn"`
	Event   string `json:"event"`
	ID      string `json:"id,omitempty"`
}

// TurnSteerParams is a person's message to a turn while it runs: the turn with this
// id, or the one that runs in the session. The client chooses ID; a second request
// with the same ID does nothing.
type TurnSteerParams struct {
	Turn    string `json:"turn,omitempty"`
	Session string `json:"session,omitempty"`
	ID      string `json:"id"`
	Text    string `json:"text"`
}

// TurnSteerResult names the turn that took the message. The model gets the message
// with the next request. If the turn makes none, it becomes a question with this ID.
type TurnSteerResult struct {
	Turn  string `json:"turn"`
	Event string `json:"event"`
}

// TurnThought is a piece of the model's reasoning before its answer. Chars is the
// length of all reasoning of this turn so far, in code points; Text is its end.
type TurnThought struct {
	Session string `json:"session"`
	Turn    string `json:"turn"`
	Event   string `json:"event"`
	Chars   int    `json:"chars"`
	Text    string `json:"text,omitempty"`
}

// TurnCommentary is what the model said beside its calls: it is no part of the answer. Text is all of
// it, cut at 4 kB, and comes once for each reply with calls.
type TurnCommentary struct {
	Session string `json:"session"`
	Turn    string `json:"turn"`
	Event   string `json:"event"`
	Text    string `json:"text"`
}
