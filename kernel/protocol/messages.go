package protocol

// InitializeParams is the first request of every connection. Token is the
// content of the file "token" in the state directory.
type InitializeParams struct {
	Protocol ProtocolRange `json:"protocol"`
	Client   ClientInfo    `json:"client"`
	Token    string        `json:"token,omitempty"`
}

// ProtocolRange names the versions a client can speak, both included.
type ProtocolRange struct {
	Min int `json:"min"`
	Max int `json:"max"`
}

// InitializeResult tells the client what it talks to.
type InitializeResult struct {
	Protocol int        `json:"protocol"`
	Server   ServerInfo `json:"server"`
}

// ServerInfo names the kernel and says what a client's header line shows
// before the first turn.
type ServerInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	PID     int    `json:"pid"`
	Home    string `json:"home"`
	Model   string `json:"model,omitempty"`
	Notice  string `json:"notice,omitempty"` // what was found rather than configured
	// Consent is the host that a person's words would go to and that the person
	// has not agreed to yet: an event is refused until one carries it as :consent.
	Consent string `json:"consent,omitempty"`
	// Hears and Speaks are the hosts of the servers that config.org names for
	// speech/transcribe and speech/speak; "" where it names none.
	Hears  string `json:"hears,omitempty"`
	Speaks string `json:"speaks,omitempty"`
}

// EventResult acknowledges an event, after the journal has it. Event is the
// question's :ID:, Turn the turn that answers it.
type EventResult struct {
	Event string    `json:"event"`
	Turn  string    `json:"turn"`
	State TurnState `json:"state,omitempty"`
}

// TurnParams names a turn: by its id, by its question's, or, to be stopped, as
// the running one of a session.
type TurnParams struct {
	Turn    string `json:"turn,omitempty"`
	Event   string `json:"event,omitempty"`
	Session string `json:"session,omitempty"`
}

// TurnCancelResult says whether something was stopped.
type TurnCancelResult struct {
	Cancelled bool   `json:"cancelled,omitempty"`
	Turn      string `json:"turn,omitempty"`
}

// TurnGetParams asks for a running turn's preview from a code point on.
type TurnGetParams struct {
	Turn string `json:"turn"`
	From int    `json:"from,omitempty"`
}

// TurnGetResult is the preview of the act ID from code point Offset on.
// A finished turn has no preview: its State says so.
type TurnGetResult struct {
	ID     string    `json:"id,omitempty"`
	Offset int       `json:"offset,omitempty"`
	Text   string    `json:"text,omitempty"`
	State  TurnState `json:"state,omitempty"`
}

// SessionLoadParams attaches the connection to a session. IDs are the :ID:s of
// the questions and answers the client's buffer holds; with none the whole
// conversation is sent.
type SessionLoadParams struct {
	Session string   `json:"session"`
	IDs     []string `json:"ids,omitempty"`
	View    View     `json:"view,omitempty"`
	// Watch attaches without replay: nothing is kept for this client.
	Watch bool `json:"watch,omitempty"`
	// Waiting are those of IDs that stand there as waiting for a person; what is closed
	// of them is told by [ApprovalClosed] or [QuestionClosed].
	Waiting []string `json:"waiting,omitempty"`
}

// SessionLoadResult follows the [TurnKept] notifications of what the client
// lacked. Keeper: this client now keeps File. NeverReceived: which of the
// client's ids the kernel has never seen, so that they were not sent. Running
// is the turn that is being answered, its preview to be had by turn/get.
type SessionLoadResult struct {
	Session       string   `json:"session"`
	File          string   `json:"file"`
	Keeper        bool     `json:"keeper,omitempty"`
	NeverReceived []string `json:"never-received,omitempty"`
	Running       string   `json:"running,omitempty"`
	RunningEvent  string   `json:"running-event,omitempty"`
	Queued        []string `json:"queued,omitempty"`
	// QueuedEvents are the questions of Queued, in the same order.
	QueuedEvents []string `json:"queued-events,omitempty"`
	Model        string   `json:"model,omitempty"`
	Preset       string   `json:"preset,omitempty"`
	// Usage is what the session took so far; missing when nobody counted.
	Usage *Usage `json:"usage,omitempty"`
}

// SessionLeaveParams detaches the connection from a session.
type SessionLeaveParams struct {
	Session string `json:"session"`
}

// SessionKeeper tells a client that it keeps the session's file from now on,
// or no longer.
type SessionKeeper struct {
	Session string `json:"session"`
	File    string `json:"file"`
	Keeper  bool   `json:"keeper,omitempty"`
}

// Act is a verified action for the client to perform once per ID. For an
// insertion into the conversation Payload is (:action :insert-at-end :text T)
// with T in the client's view, to stand at the end of the subtree of the
// heading whose :ID: is Event; if that heading is gone, under a new heading
// "* Re: WORDS" before the draft. The answer is a [Receipt] or an error.
type Act struct {
	ID      string  `json:"id"`
	Session string  `json:"session"`
	Turn    string  `json:"turn"`
	Event   string  `json:"event"`
	Words   string  `json:"words,omitempty"` // the question's first words
	Type    Type    `json:"type"`
	Target  Keyword `json:"target"`
	Payload Object  `json:"payload,omitempty"`
	// Asks: what is inserted waits for a person, and is no answer: it is no step of undo.
	Asks bool `json:"asks,omitempty"`
	// Settle: the act, an :edit or :set-properties, was sent before and the connection was lost before its
	// receipt. It is not performed; the answer is its receipt, as it is remembered or as
	// the text shows, an error with [CodeForbidden] when it did not happen, and any other
	// when that cannot be told.
	Settle bool `json:"settle,omitempty"`
	// Check: the act is not performed. The answer is a [Receipt] of nothing when it could be
	// made as things are now, and an error with [CodeForbidden] that says what is in the way.
	Check bool `json:"check,omitempty"`
	// Veiled: the act is a model's. What is kept from every model, as Org text that is tagged
	// :noagent:, is not there for it: neither found, changed nor told of.
	Veiled bool `json:"veiled,omitempty"`
}

// Receipt says what an act did. Start and End are the buffer's positions,
// Chars its length in code points, SHA256 the hash in hex of the inserted
// text's UTF-8. Saved: the text is in the session's file. For an action that
// changes no text only Done is set.
type Receipt struct {
	Buffer string `json:"buffer,omitempty"`
	Start  int    `json:"start,omitempty"`
	End    int    `json:"end,omitempty"`
	Chars  int    `json:"chars,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	Saved  bool   `json:"saved,omitempty"`
	Done   bool   `json:"done,omitempty"`
	// What [MethodTurnChanges] needs to tell how a change of text is taken back: the file, some of
	// the text that stood before and behind the place then, and what the properties were.
	File   string           `json:"file,omitempty"`
	Before string           `json:"before,omitempty"`
	After  string           `json:"after,omitempty"`
	Former []FormerProperty `json:"former,omitempty"`
	// Files is what tools changed in files, in the order in which they did.
	Files []FileChange `json:"files,omitempty"`
}

// FileChange is what a tool changed in a file: New stands in the place of Old, between Before
// and After, which are some of what is around it. Opaque: it is no text, or too long to be kept
// here, and only the file is told. Created: the file was not there before.
type FileChange struct {
	File    string `json:"file"`
	Old     string `json:"old,omitempty"`
	New     string `json:"new,omitempty"`
	Before  string `json:"before,omitempty"`
	After   string `json:"after,omitempty"`
	Created bool   `json:"created,omitempty"`
	Opaque  bool   `json:"opaque,omitempty"`
}

// FormerProperty is a property as it was before a change: its whole line, "" when the entry
// did not have it.
type FormerProperty struct {
	Name string `json:"name"`
	Line string `json:"line,omitempty"`
}

// TurnStarted opens a turn. Question is the question as an Org subtree, for
// clients whose buffer lacks the heading with the :ID: Event.
type TurnStarted struct {
	Session  string `json:"session"`
	Turn     string `json:"turn"`
	Event    string `json:"event"`
	Question string `json:"question,omitempty"`
	Parent   string `json:"parent,omitempty"` // the heading that the question stands below
	Skill    string `json:"skill,omitempty"`
	Model    string `json:"model,omitempty"`
}

// TurnDelta previews the act ID: Text stands at code point Offset of its text.
// A delta with Offset 0 begins the preview anew. Deltas of one turn come in
// order; some may be merged, none is dropped.
type TurnDelta struct {
	Session string `json:"session"`
	Turn    string `json:"turn"`
	Event   string `json:"event"`
	ID      string `json:"id"`
	Offset  int    `json:"offset"`
	Text    string `json:"text"`
}

// TurnFinished closes a turn, after its acts. A preview whose act never came
// is to be removed. Notice is one line for a person.
type TurnFinished struct {
	Session string    `json:"session"`
	Turn    string    `json:"turn"`
	Event   string    `json:"event"`
	State   TurnState `json:"state"`
	Notice  string    `json:"notice,omitempty"`
	Model   string    `json:"model,omitempty"`
	Input   int       `json:"input,omitempty"`  // tokens
	Output  int       `json:"output,omitempty"` // tokens
	Cost    *float64  `json:"cost,omitempty"`   // US dollars, when anybody knows
	Seconds float64   `json:"seconds,omitempty"`
	// Shown is how many tokens the last request of the turn had, of the model's Window.
	Shown  int `json:"shown,omitempty"`
	Window int `json:"window,omitempty"`
	// Total is what the session took so far; missing when nobody counted.
	Total *Usage `json:"total,omitempty"`
}

// TurnKept is one turn of a conversation as the journal has it: the question's
// subtree and, when there is one, the answer's. Further answers of the same turn
// follow in notifications of their own, without the question.
type TurnKept struct {
	Session  string    `json:"session"`
	Turn     string    `json:"turn"`
	Event    string    `json:"event"`
	Question string    `json:"question,omitempty"`
	Parent   string    `json:"parent,omitempty"` // the heading that the question stands below
	ID       string    `json:"id,omitempty"`
	Answer   string    `json:"answer,omitempty"`
	State    TurnState `json:"state"`
	Words    string    `json:"words,omitempty"` // as in [Act]
}

// Notice is a line for a person that belongs to no turn.
type Notice struct {
	Level Level  `json:"level"`
	Text  string `json:"text"`
}

// CancelRequestParams names the request to stop by its JSON-RPC id.
type CancelRequestParams struct {
	ID any `json:"id"`
}
