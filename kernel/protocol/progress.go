package protocol

// MethodTurnProgress notifies the clients of a conversation what the running turn took of its
// budget: when the kernel asks the model, and when the model has replied.
const MethodTurnProgress = "turn/progress"

// TurnProgress is what a turn took so far, and the limits of its budget in the Of fields. An Of
// field without a limit is missing. Round is the number of the present request, from 1.
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
	Cost      *float64 `json:"cost,omitempty"` // US dollars; missing if unknown
	OfCost    float64  `json:"of-cost,omitempty"`
	// Last reports that a part of the budget is used up, and the model is asked only for its answer.
	Last bool `json:"last,omitempty"`
}
