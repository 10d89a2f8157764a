package protocol

// TraceGetParams asks for the story of a turn. ID is the id of the turn, its question, one of
// its answers or acts, or an approval. The beginning of an id is enough if no other turn has
// an id that begins so.
type TraceGetParams struct {
	ID string `json:"id"`
}

// TraceGetResult is that story, as an inert Org outline. Kind is what ID names: a turn,
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
