package protocol

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

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

// InitializeResult describes the kernel to the client.
type InitializeResult struct {
	Protocol int        `json:"protocol"`
	Server   ServerInfo `json:"server"`
}

// ServerInfo describes the kernel. A client's header line shows it before the first turn. It is
// also the notification that config.org has changed it, then without what a kernel never changes.
type ServerInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	PID     int    `json:"pid"`
	Home    string `json:"home"`
	Model   string `json:"model,omitempty"`
	Notice  string `json:"notice,omitempty"` // names a model that was found, not configured
	// Consent is the host to which a person's words would go, while the person has not
	// agreed to it. The kernel refuses events until one carries the host as :consent.
	Consent string `json:"consent,omitempty"`
	// TranscriptionHost and VoiceHost are the hosts of the servers that config.org names for
	// speech/transcribe and speech/speak, or "".
	TranscriptionHost string `json:"hears,omitempty"`
	VoiceHost         string `json:"speaks,omitempty"`
	// Variables are the environment variables that decide which model answers and with which key,
	// as the kernel has them. A client whose own are others tells its person.
	Variables []Variable `json:"variables,omitempty"`
	// Unread is how many items of the inbox are unread.
	Unread int `json:"unread,omitempty"`
}

// Variable is an environment variable of the kernel. Digest is its [VariableDigest], or "" if it is
// not set.
type Variable struct {
	Name   string `json:"name"`
	Digest string `json:"digest,omitempty"`
}

// VariableDigest returns what stands for the value of an environment variable, or "" for a blank
// value. Only who knows the token and the value can compute it.
func VariableDigest(token, name, value string) string {
	if value = strings.TrimSpace(value); value == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(token + "\n" + name + "\n" + value))
	return hex.EncodeToString(sum[:8])
}

// EventResult acknowledges an event. The journal has the event by then. Event is
// the question's :ID:, Turn the turn that answers it.
type EventResult struct {
	Event string    `json:"event"`
	Turn  string    `json:"turn"`
	State TurnState `json:"state,omitempty"`
	Waits bool      `json:"waits,omitempty"` // for the heartbeat, because no skill is for it
}

// EventCheckResult is what an event that is for all skills would lead to. Nothing of it was done.
type EventCheckResult struct {
	Skills []EventSkill `json:"skills"`
	Waits  bool         `json:"waits,omitempty"` // for the heartbeat, because no skill is for it
}

// EventSkill is a skill whose trigger is true for an event.
type EventSkill struct {
	Name    string `json:"name"`
	Session string `json:"session"`           // the conversation in which it would answer
	Refused string `json:"refused,omitempty"` // why it would not, "" if it would
}

// TurnParams names a turn by its id or by its question's id. A request to stop
// may name the session instead; it means the turn that runs there.
type TurnParams struct {
	Turn    string `json:"turn,omitempty"`
	Event   string `json:"event,omitempty"`
	Session string `json:"session,omitempty"`
}

// TurnCancelResult reports whether a turn was stopped.
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
// the questions and answers that the client's buffer has. The kernel sends the
// others, so without IDs it sends the whole conversation.
type SessionLoadParams struct {
	Session string   `json:"session"`
	IDs     []string `json:"ids,omitempty"`
	View    View     `json:"view,omitempty"`
	// Watch attaches without replay, and the kernel stores nothing for this client.
	Watch bool `json:"watch,omitempty"`
	// Waiting are those of IDs that the buffer shows as waiting for a person. An [AskClosed]
	// follows for each of them that is closed.
	Waiting []string `json:"waiting,omitempty"`
}

// SessionLoadResult follows the [StoredTurn] notifications of the turns that the
// client lacked. If Keeper is true, this client keeps File from now on.
// NeverReceived has those of the client's ids that the kernel does not know: the
// client never sent them. Running is the turn that is being answered; turn/get
// returns its preview.
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
	// Usage is the usage of the session so far. It is missing if no server counted.
	Usage *Usage `json:"usage,omitempty"`
}

// SessionLeaveParams detaches the connection from a session.
type SessionLeaveParams struct {
	Session string `json:"session"`
}

// SessionPaceParams asks that the pieces of an answer in the session are at least this far apart if they
// come fast. A client asks for that which finds that showing them takes too much of its processor.
type SessionPaceParams struct {
	Session      string `json:"session"`
	Milliseconds int    `json:"milliseconds"`
}

// SessionKeeper notifies a client that it keeps the session's file from now on,
// or that it no longer does.
type SessionKeeper struct {
	Session string `json:"session"`
	File    string `json:"file"`
	Keeper  bool   `json:"keeper,omitempty"`
}

// Act is a verified action, which the client performs once for each ID. For an
// insertion into the conversation Payload is (:action :insert-at-end :text T)
// with T in the client's view. The client inserts T at the end of the subtree
// whose heading has the :ID: Event. If that heading is gone, it inserts T under a
// new heading "* Re: WORDS" before the draft. The answer is a [Receipt] or an
// error.
type Act struct {
	ID      string  `json:"id"`
	Session string  `json:"session"`
	Turn    string  `json:"turn"`
	Event   string  `json:"event"`
	Words   string  `json:"words,omitempty"` // the question's first words
	Type    Type    `json:"type"`
	Target  Keyword `json:"target"`
	Payload Object  `json:"payload,omitempty"`
	// Asks marks a text that asks a person. It is no answer, and inserting it is no step of undo.
	Asks bool `json:"asks,omitempty"`
	// Reconcile asks for the outcome of a change of a text that was sent before, when the connection
	// was lost before its receipt. The client does not perform it. It answers
	// with the receipt that it remembers or that the text shows, with a [CodeForbidden] error
	// if the act did not happen, and with any other error if it does not know.
	Reconcile bool `json:"settle,omitempty"`
	// Check asks whether the act could be performed now. The client does not perform it. It
	// answers with an empty [Receipt], or with a [CodeForbidden] error that names the obstacle.
	Check bool `json:"check,omitempty"`
	// Veiled marks an act of a model. Text that is withheld from models, as an Org subtree
	// tagged :noagent:, is invisible to it: the act neither finds, changes nor mentions it.
	Veiled bool `json:"veiled,omitempty"`
}

// Receipt is the outcome of an act. Start and End are positions in the buffer,
// Chars is the length of the inserted text in code points, and SHA256 the hash of
// its UTF-8 in hex. If Saved is true, the text is in the session's file. For an
// action that changes no text only Done is set.
type Receipt struct {
	Buffer string `json:"buffer,omitempty"`
	Start  int    `json:"start,omitempty"`
	End    int    `json:"end,omitempty"`
	Chars  int    `json:"chars,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	Saved  bool   `json:"saved,omitempty"`
	Done   bool   `json:"done,omitempty"`
	// [MethodTurnChanges] needs these to describe how a change of text is undone: the file, some of
	// the text before and behind the place at that time, and the former properties.
	File   string           `json:"file,omitempty"`
	Before string           `json:"before,omitempty"`
	After  string           `json:"after,omitempty"`
	Former []FormerProperty `json:"former,omitempty"`
	// Files are the changes that tools made in files, in their order.
	Files []FileChange `json:"files,omitempty"`
}

// FileChange is a change that a tool made in a file: New replaces Old between Before and After,
// which are parts of the text around it. An Opaque change has only the file, because it is no text
// or too long for the journal. If Created is true, the tool made the file.
type FileChange struct {
	File    string `json:"file"`
	Old     string `json:"old,omitempty"`
	New     string `json:"new,omitempty"`
	Before  string `json:"before,omitempty"`
	After   string `json:"after,omitempty"`
	Created bool   `json:"created,omitempty"`
	Opaque  bool   `json:"opaque,omitempty"`
}

// FormerProperty is a property before a change: its whole line, "" if the entry did not have
// it.
type FormerProperty struct {
	Name string `json:"name"`
	Line string `json:"line,omitempty"`
}

// TurnStarted notifies clients that a turn has begun. Question is the question as
// an Org subtree, for clients whose buffer lacks the heading with the :ID: Event.
type TurnStarted struct {
	Session  string `json:"session"`
	Turn     string `json:"turn"`
	Event    string `json:"event"`
	Question string `json:"question,omitempty"`
	Parent   string `json:"parent,omitempty"` // the heading above the question
	Skill    string `json:"skill,omitempty"`
	Model    string `json:"model,omitempty"`
}

// TurnDelta previews the act ID: Text is the part of its text that begins at code
// point Offset. A delta with Offset 0 begins the preview anew. Deltas of one turn
// come in order. Several may be merged into one; none is dropped.
type TurnDelta struct {
	Session string `json:"session"`
	Turn    string `json:"turn"`
	Event   string `json:"event"`
	ID      string `json:"id"`
	Offset  int    `json:"offset"`
	Text    string `json:"text"`
}

// TurnFinished notifies clients that a turn has ended. It comes after the acts of
// the turn. The client removes a preview whose act never came. Notice is one line
// for a person.
type TurnFinished struct {
	Session string    `json:"session"`
	Turn    string    `json:"turn"`
	Event   string    `json:"event"`
	State   TurnState `json:"state"`
	Notice  string    `json:"notice,omitempty"`
	Model   string    `json:"model,omitempty"`
	Input   int       `json:"input,omitempty"`  // tokens
	Output  int       `json:"output,omitempty"` // tokens
	Cost    *float64  `json:"cost,omitempty"`   // US dollars; missing if unknown
	Seconds float64   `json:"seconds,omitempty"`
	// Shown is how many tokens of the model's Window the last request of the turn took.
	Shown  int `json:"shown,omitempty"`
	Window int `json:"window,omitempty"`
	// Total is the usage of the session so far. It is missing if no server counted.
	Total *Usage `json:"total,omitempty"`
}

// StoredTurn is one turn of a conversation from the journal: the subtree of the
// question and, if there is one, of the answer. Each further answer of the turn
// follows in its own notification, without the question.
type StoredTurn struct {
	Session  string    `json:"session"`
	Turn     string    `json:"turn"`
	Event    string    `json:"event"`
	Question string    `json:"question,omitempty"`
	Parent   string    `json:"parent,omitempty"` // the heading above the question
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
