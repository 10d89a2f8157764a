package protocol

// MethodTurnProgress tells the clients of a conversation how far the turn that runs has come in
// what it may take: when the model is asked, and when it has replied.
const MethodTurnProgress = "turn/progress"

// TurnProgress is what a turn took so far, of how much; what has no limit has no Of. Round is
// the one that the model is asked in, from 1.
type TurnProgress struct {
	Session   string   `json:"session"`
	Turn      string   `json:"turn"`
	Event     string   `json:"event"`
	Round     int      `json:"round"`
	OfRounds  int      `json:"of-rounds,omitempty"`
	Tokens    int      `json:"tokens,omitempty"`
	OfTokens  int      `json:"of-tokens,omitempty"`
	Seconds   float64  `json:"seconds,omitempty"` // without what people take
	OfSeconds float64  `json:"of-seconds,omitempty"`
	Cost      *float64 `json:"cost,omitempty"` // US dollars, when anybody knows
	OfCost    float64  `json:"of-cost,omitempty"`
	// Last: a budget is used up, and the model is asked for an answer and nothing else.
	Last bool `json:"last,omitempty"`
}
