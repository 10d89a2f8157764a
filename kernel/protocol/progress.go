package protocol

// MethodTurnProgress notifies the clients of a conversation how much of its budget the running turn
// has used. It is sent when the kernel asks the model, when the model has replied, and when the turn begins
// or ends to wait for a server.
const MethodTurnProgress = "turn/progress"

// TurnProgress is the usage of a turn so far, with the limits of its budget in the Of fields. An Of
// field without a limit is missing. Round is the number of the current request, from 1.
type TurnProgress struct {
	Session   string   `json:"session"`
	Turn      string   `json:"turn"`
	Event     string   `json:"event"`
	Round     int      `json:"round"`
	OfRounds  int      `json:"of-rounds,omitempty"`
	Tokens    int      `json:"tokens,omitempty"`
	OfTokens  int      `json:"of-tokens,omitempty"`
	Seconds   float64  `json:"seconds,omitempty"` // without the time that people take
	OfSeconds float64  `json:"of-seconds,omitempty"`
	Cost      *float64 `json:"cost,omitempty"` // US dollars; missing if unknown
	OfCost    float64  `json:"of-cost,omitempty"`
	// Last reports that a part of the budget is used up, so that the model is asked only for its
	// answer.
	Last bool `json:"last,omitempty"`
	// Wait is why the model's server does not reply, missing if it does.
	Wait *ModelWait `json:"wait,omitempty"`
}
