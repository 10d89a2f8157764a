package protocol

// ModelListParams asks for the models. With Session the result marks the model that
// is chosen there.
type ModelListParams struct {
	Session string `json:"session,omitempty"`
}

// ModelListResult has every model with a known name. Silent are the servers that did
// not list their models.
type ModelListResult struct {
	Models []ModelInfo `json:"models,omitempty"`
	Silent []string    `json:"silent,omitempty"`
}

// ModelInfo is a model. Provider is the server's heading in config.org, or another
// name of the server. The Default model answers if none is chosen. The Chosen one is
// the session's. Dialect is in which it calls tools, and Why a reason for people. Price is in dollars for a
// million tokens in and out, and Window in tokens, as far as they are known without asking the server.
type ModelInfo struct {
	Name     string `json:"name"`
	Provider string `json:"provider,omitempty"`
	Default  bool   `json:"default,omitempty"`
	Chosen   bool   `json:"chosen,omitempty"`
	Dialect  string `json:"dialect,omitempty"`
	Why      string `json:"why,omitempty"`
	Price    string `json:"price,omitempty"`
	Window   int    `json:"window,omitempty"`
}

// SessionModelParams chooses the model of a session, or with "" the configured one.
// It is also the answer and the notification, and then has the chosen model.
type SessionModelParams struct {
	Session string `json:"session"`
	Model   string `json:"model,omitempty"`
}
