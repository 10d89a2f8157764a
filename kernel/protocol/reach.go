package protocol

// Reach is one thing that a call of a tool would touch. The rules of policy.org match it.
type Reach struct {
	Kind ReachKind `json:"kind"`
	// Path is the file that is read or written, or the directory in which a command runs. It is
	// absolute and has no links.
	Path string `json:"path,omitempty"`
	// URL is the address that is fetched. It is "*" for a command with the network, which may
	// fetch any address.
	URL string `json:"url,omitempty"`
	// Chat is the conversation to which something is sent: a channel and the id of a chat, such as
	// "telegram 4711", or emacs and the name of a session.
	Chat string `json:"chat,omitempty"`
	// Command is the whole text for the shell.
	Command string `json:"command,omitempty"`
}

// ReachKind is what a call does with the thing that it touches.
type ReachKind string

const (
	ReachReads   ReachKind = "reads"   // Path, a file or a directory with all that is in it
	ReachWrites  ReachKind = "writes"  // Path
	ReachRuns    ReachKind = "runs"    // Command, in Path
	ReachFetches ReachKind = "fetches" // URL
	ReachSends   ReachKind = "sends"   // to Chat, which is not the conversation of the turn
	ReachSets    ReachKind = "sets"    // variables in Path, which Emacs obeys when it visits the file
	ReachShows   ReachKind = "shows"   // Path, of which nothing is shown to models otherwise
)

func (ReachKind) PlistKeyword() {}
