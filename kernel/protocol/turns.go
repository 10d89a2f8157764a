package protocol

// TurnRetryParams names a turn that is to be answered again, by its id or its
// question's. The new answer stands behind those it has. Model is as in
// [ModelInfo]; missing: what is set for the question. Above is as in [Event], with the
// question's own heading as the last one: what it sets now holds for the new answer.
type TurnRetryParams struct {
	Turn  string `json:"turn,omitempty"`
	Event string `json:"event,omitempty"`
	Model string `json:"model,omitempty"`
	Above string `json:"above,omitempty"`
}

// TurnPreferParams makes the answer with the :ID: the one of its question that
// later turns are shown, in the place of the last one. With Not it is so no more.
type TurnPreferParams struct {
	ID  string `json:"id"`
	Not bool   `json:"not,omitempty"`
}

// TurnPreferred says which answer to Event a person prefers: ID, or none.
type TurnPreferred struct {
	Session string `json:"session"`
	Turn    string `json:"turn"`
	Event   string `json:"event"`
	ID      string `json:"id,omitempty"`
}

// TurnSteerParams is what a person says to a turn while it runs: the one with
// this id, or the running one of the session. ID is the client's: the same again
// says nothing new.
type TurnSteerParams struct {
	Turn    string `json:"turn,omitempty"`
	Session string `json:"session,omitempty"`
	ID      string `json:"id"`
	Text    string `json:"text"`
}

// TurnSteerResult says which turn was told. The model is shown it with its next
// request; if the turn makes none, it becomes a message with this ID.
type TurnSteerResult struct {
	Turn  string `json:"turn"`
	Event string `json:"event"`
}

// TurnThought is a piece of what the model thinks before it answers. Chars is
// how much it has thought so far in this turn, in code points; Text is the end
// of that.
type TurnThought struct {
	Session string `json:"session"`
	Turn    string `json:"turn"`
	Event   string `json:"event"`
	Chars   int    `json:"chars"`
	Text    string `json:"text,omitempty"`
}
