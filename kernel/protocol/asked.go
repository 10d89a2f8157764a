package protocol

// SessionAskedParams asks for a person's earlier questions, for a client's input history.
// With Query the result has only questions with these words, as in [SessionSearchParams].
// Except is a session that is left out, because the client has its questions. Limit is at
// most 200, 100 if missing.
type SessionAskedParams struct {
	Query  string `json:"query,omitempty"`
	Except string `json:"except,omitempty"`
	Limit  int    `json:"limit,omitempty"`
}

// SessionAskedResult has the questions, the latest first or with a query the best first,
// each text once. Questions of more than 64 KiB are left out.
type SessionAskedResult struct {
	Questions []Asked `json:"questions,omitempty"`
}

// Asked is a question as a person would write it again. A command is without the text that
// it was given.
type Asked struct {
	Session string `json:"session"`
	ID      string `json:"id"`
	Time    string `json:"time"` // RFC 3339
	Text    string `json:"text"`
}
