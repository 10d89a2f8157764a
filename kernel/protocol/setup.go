package protocol

// SetupFindResult has the model servers that answer on this machine, the model that answers now, and
// the file in which models are written.
type SetupFindResult struct {
	Servers []SetupServer `json:"servers,omitempty"`
	Model   string        `json:"model,omitempty"`
	File    string        `json:"file"`
}

// SetupServer is a model server and its models.
type SetupServer struct {
	Name    string   `json:"name"`
	BaseURL string   `json:"base-url"`
	Models  []string `json:"models,omitempty"`
}

// SetupModelsParams asks a server for its models. Key is where its key is, as config.org has it, or
// "".
type SetupModelsParams struct {
	BaseURL string `json:"base-url"`
	Key     string `json:"api-key,omitempty"`
}

// SetupModelsResult has the models of a server. A server that lists none has none.
type SetupModelsResult struct {
	Models []string `json:"models,omitempty"`
}

// SetupAddParams is a model to try and, if it answers, to write into config.org. Name is the heading
// that it gets there.
type SetupAddParams struct {
	Name    string `json:"name"`
	BaseURL string `json:"base-url"`
	Model   string `json:"model,omitempty"`
	Key     string `json:"api-key,omitempty"`
}

// SetupAddResult says that the model has answered, after how many seconds, and at which line of the
// file it is. Answers is the model that answers from now on. It is another one if something else than
// the file decides, and Decides says what.
type SetupAddResult struct {
	Seconds float64 `json:"seconds"`
	File    string  `json:"file"`
	Line    int     `json:"line"`
	Name    string  `json:"name"`
	Answers string  `json:"answers"`
	Decides string  `json:"decides,omitempty"`
}
