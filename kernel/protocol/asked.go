package protocol

// SessionAskedParams asks for what a person has asked before, to be asked again. Query:
// only questions with these words, as in [SessionSearchParams]. Except leaves a session
// out, the one whose questions the client has. Limit is at most 200, 100 if missing.
type SessionAskedParams struct {
	Query  string `json:"query,omitempty"`
	Except string `json:"except,omitempty"`
	Limit  int    `json:"limit,omitempty"`
}

// SessionAskedResult is what was asked, the latest first (with a query the best), each
// text once. Questions of more than 64 KiB are left out.
type SessionAskedResult struct {
	Questions []Asked `json:"questions,omitempty"`
}

// Asked is a question as a person would write it again: of a command only that, without
// what it was given on.
type Asked struct {
	Session string `json:"session"`
	ID      string `json:"id"`
	Time    string `json:"time"` // RFC 3339
	Text    string `json:"text"`
}
