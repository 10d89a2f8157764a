package protocol

// TraceGetParams asks for the story of the turn that ID belongs to: a turn, its question,
// one of its answers or acts, or an approval; the beginning of an id is enough where no
// other turn's begins so.
type TraceGetParams struct {
	ID string `json:"id"`
}

// TraceGetResult is that story, as an Org outline that runs nothing. Kind is what ID
// stands for: turn, question, answer, notice, action or approval.
type TraceGetResult struct {
	ID      string    `json:"id"`
	Kind    string    `json:"kind"`
	Turn    string    `json:"turn"`
	Event   string    `json:"event"`
	Session string    `json:"session"`
	State   TurnState `json:"state"`
	Outline string    `json:"outline"`
}
