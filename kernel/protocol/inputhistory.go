package protocol

// InputHistoryParams asks for a person's earlier questions, for a client's input history. With
// Query the result has only questions with these words, as in [SessionSearchParams]. Except is a
// session to leave out, because the client has its questions already. Limit is at most 200, and 100
// if it is missing.
type InputHistoryParams struct {
	Query  string `json:"query,omitempty"`
	Except string `json:"except,omitempty"`
	Limit  int    `json:"limit,omitempty"`
}

// InputHistoryResult has the questions, each text once, the latest first. With a query the best
// come first. Questions of more than 64 KiB are left out.
type InputHistoryResult struct {
	Questions []PastQuestion `json:"questions,omitempty"`
}

// PastQuestion is a question as a person would write it again. Of a command it has only the name
// and the arguments.
type PastQuestion struct {
	Session string `json:"session"`
	ID      string `json:"id"`
	Time    string `json:"time"` // RFC 3339
	Text    string `json:"text"`
}
