package protocol

// Reach is one thing that a call of a tool would touch: what the rules of policy.org match.
type Reach struct {
	Kind ReachKind `json:"kind"`
	// Path is absolute and has no links: what is read or written, or the directory in which a
	// command runs.
	Path string `json:"path,omitempty"`
	// URL is what is fetched; "*" is any address, as a command with the network may ask it.
	URL string `json:"url,omitempty"`
	// Command is the whole text that a shell is given.
	Command string `json:"command,omitempty"`
}

// ReachKind says what is done to what is touched.
type ReachKind string

const (
	ReachReads   ReachKind = "reads"   // Path, a file or a directory with all that is in it
	ReachWrites  ReachKind = "writes"  // Path
	ReachRuns    ReachKind = "runs"    // Command, in Path
	ReachFetches ReachKind = "fetches" // URL
)

func (ReachKind) PlistKeyword() {}
