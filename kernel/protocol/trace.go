package protocol

// TraceGetParams asks for the trace of a turn. ID is the id of the turn, of its question, of one of
// its answers or acts, or of an approval. The beginning of an id is enough if it is unique.
type TraceGetParams struct {
	ID string `json:"id"`
}

// TraceGetResult is the trace of a turn, as an inert Org outline. Kind is what ID names: a turn,
// question, answer, notice, action or approval.
type TraceGetResult struct {
	ID      string    `json:"id"`
	Kind    string    `json:"kind"`
	Turn    string    `json:"turn"`
	Event   string    `json:"event"`
	Session string    `json:"session"`
	State   TurnState `json:"state"`
	Outline string    `json:"outline"`
}
