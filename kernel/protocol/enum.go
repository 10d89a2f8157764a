package protocol

import "strings"

// Enums are keywords in plists and strings in JSON. The method PlistKeyword
// marks a type as an enum for the plist codec.

// Keyword is an enum value of an open field, as in an action's payload: its
// name in lower case, without the colon.
type Keyword string

// PlistKeyword marks the type as an enum.
func (Keyword) PlistKeyword() {}

// Sensor says what made an event.
type Sensor string

const (
	SensorChatMessage Sensor = "chat-message"
	SensorUserCommand Sensor = "user-command"
	SensorHeartbeat   Sensor = "heartbeat" // the agent looks whether there is anything to do
	SensorProbe       Sensor = "probe"     // made once when a skill is loaded
	SensorToolCall    Sensor = "tool-call" // another program calls a tool
	SensorPost        Sensor = "post"      // text that a turn puts into another conversation
	SensorSubagent    Sensor = "subagent"  // the task of a subagent
	SensorTask        Sensor = "task"      // a task of the person's is due
	SensorReport      Sensor = "report"    // the results of subagents of the conversation
	SensorInterrupt   Sensor = "interrupt" // the running turn of the conversation is to stop
)

// PlistKeyword marks the type as an enum.
func (Sensor) PlistKeyword() {}

// OfOrg reports whether the event tells what happened in the person's Org files, such as :org-save. The
// list of these sensors is in Emacs, which reports them; here their names begin alike.
func (s Sensor) OfOrg() bool { return strings.HasPrefix(string(s), "org-") }

// Channel says where a message came from, and so where its answer goes.
type Channel string

const (
	ChannelEmacs Channel = "emacs"
	ChannelCLI   Channel = "cli"
)

// PlistKeyword marks the type as an enum.
func (Channel) PlistKeyword() {}

// View is the form in which a client gets a conversation's text.
type View string

const (
	// ViewSubtree is an Org subtree: heading, drawer and body. The default.
	ViewSubtree View = "subtree"
	// ViewPlain is the body alone, without a made-up heading: the command line.
	ViewPlain View = "plain"
)

// PlistKeyword marks the type as an enum.
func (View) PlistKeyword() {}

// TurnState says where a turn is. The last four are final.
type TurnState string

const (
	TurnQueued      TurnState = "queued"
	TurnRunning     TurnState = "running"
	TurnWaiting     TurnState = "waiting"     // for a person's decision
	TurnAnswered    TurnState = "answered"    // its text is in the conversation
	TurnFailed      TurnState = "failed"      // an error was shown
	TurnCancelled   TurnState = "cancelled"   // a person stopped it
	TurnInterrupted TurnState = "interrupted" // the kernel ended while it ran
)

// PlistKeyword marks the type as an enum.
func (TurnState) PlistKeyword() {}

// Final reports whether a turn in this state will not change any more.
func (s TurnState) Final() bool {
	switch s {
	case TurnAnswered, TurnFailed, TurnCancelled, TurnInterrupted:
		return true
	}
	return false
}

// Decision is what a person decided about an [Ask].
type Decision string

const (
	AllowOnce    Decision = "allow-once"
	AllowTurn    Decision = "allow-turn"
	AllowSession Decision = "allow-session"
	AllowAlways  Decision = "allow-always"
	AllowReading Decision = "allow-reading" // once, and the read-only set that was offered with it from now on
	Deny         Decision = "deny"
	Answered     Decision = "answered" // the form of a question
	Declined     Decision = "declined" // to answer a question
)

// PlistKeyword marks the type as an enum.
func (Decision) PlistKeyword() {}

// Level is how urgent a notice or a line of the log is.
type Level string

const (
	LevelDebug Level = "debug"
	LevelInfo  Level = "info"
	LevelWarn  Level = "warn"
	LevelError Level = "error"
)

// PlistKeyword marks the type as an enum.
func (Level) PlistKeyword() {}

// Type is an action's :type.
type Type string

const (
	TypeRequest  Type = "request"
	TypeResponse Type = "response"
	TypeLog      Type = "log"
	TypeEvent    Type = "event" // only sensors make these
)

// PlistKeyword marks the type as an enum.
func (Type) PlistKeyword() {}

// ToolEffect says whether a call of a tool needs an approval. With the zero value it does.
type ToolEffect string

const (
	ToolReads ToolEffect = "reads" // no: it changes nothing; the policy judges what it reads and fetches
	ToolAsks  ToolEffect = "asks"  // no: it asks the person, whose answer is its result
	ToolKeeps ToolEffect = "keeps" // no: it changes the memory; the person sees the change and can undo it
	// ToolSpawns starts subagents, which spend: yes. One approval may be for several calls.
	ToolSpawns ToolEffect = "spawns"
)

// PlistKeyword marks the type as an enum.
func (ToolEffect) PlistKeyword() {}
