package protocol

// ModelListParams asks for the models that there are to choose from. Session: for
// which one the answer says what is chosen.
type ModelListParams struct {
	Session string `json:"session,omitempty"`
}

// ModelListResult is every model that can be asked for by its name. Silent are
// the servers that did not say which models they have.
type ModelListResult struct {
	Models []ModelInfo `json:"models,omitempty"`
	Silent []string    `json:"silent,omitempty"`
}

// ModelInfo is a model. Provider is the heading in config.org, or what else the
// server is known by. Default: it answers where nothing is chosen; Chosen: it is
// the session's.
type ModelInfo struct {
	Name     string `json:"name"`
	Provider string `json:"provider,omitempty"`
	Default  bool   `json:"default,omitempty"`
	Chosen   bool   `json:"chosen,omitempty"`
}

// SessionModelParams chooses the model that answers in a session; none: the
// configured one. As an answer and as a notification it says what was chosen.
type SessionModelParams struct {
	Session string `json:"session"`
	Model   string `json:"model,omitempty"`
}
