package protocol

// StatusResult is the only result that a client without the token gets. The fields from Seconds
// on are for clients with the token; the others have no secret, and no text or name of a
// conversation.
type StatusResult struct {
	Version  string `json:"version"`
	PID      int    `json:"pid"`
	Home     string `json:"home"`
	Socket   string `json:"socket"`
	Started  string `json:"started"` // RFC 3339
	Model    string `json:"model,omitempty"`
	Skills   int    `json:"skills"`
	Clients  int    `json:"clients"`
	Sessions int    `json:"sessions"`
	Running  int    `json:"running"`
	Queued   int    `json:"queued"`
	Waiting  int    `json:"waiting"` // approvals
	// WithoutSafety: the kernel was started with the argument that leaves the safety section out
	// of all prompts.
	WithoutSafety bool `json:"without-safety,omitempty"`

	Seconds       int                  `json:"seconds,omitempty"` // since it was started
	Memory        int64                `json:"memory,omitempty"`  // bytes
	Faulty        int                  `json:"faulty,omitempty"`  // notes whose newest version is not live
	Faults        []string             `json:"faults,omitempty"`  // faults that last, each a sentence for people
	Log           string               `json:"log,omitempty"`
	Journal       string               `json:"journal,omitempty"`
	JournalSize   int64                `json:"journal-size,omitempty"` // bytes
	ArchiveSize   int64                `json:"archive-size,omitempty"` // bytes, of the file with old requests to models
	Unindexed     int                  `json:"unindexed,omitempty"`    // percent of the journal that searches must still read
	Models        []ModelStatus        `json:"models,omitempty"`
	MCP           []MCPServer          `json:"mcp,omitempty"`     // of config.org, in its order
	Presets       []PresetStatus       `json:"presets,omitempty"` // of config.org, in its order; those at fault last
	Connected     []ClientStatus       `json:"connected,omitempty"`
	Conversations []ConversationStatus `json:"conversations,omitempty"` // in which something runs or waits
	Runtime       *RuntimeStatus       `json:"runtime,omitempty"`
}

// RuntimeStatus is what the kernel's process uses, and what waits in it.
type RuntimeStatus struct {
	Goroutines      int   `json:"goroutines"`
	Descriptors     int   `json:"descriptors,omitempty"`      // open files; missing where the system does not tell
	DescriptorLimit int   `json:"descriptor-limit,omitempty"` // how many may be open
	Heap            int64 `json:"heap"`                       // bytes of objects, also of those that nothing uses any more
	WaitingRows     int   `json:"waiting-rows"`               // of the journal, for the next change
	WaitingMessages int   `json:"waiting-messages"`           // to clients that have not read them
	WaitingBytes    int   `json:"waiting-bytes"`              // of these messages
	Flushes         int   `json:"flushes"`                    // of the journal to the disk, since the start
	// The times of the last flushes, in microseconds: half and 99 of 100 took at most so long.
	FlushMedian int64 `json:"flush-median,omitempty"`
	FlushP99    int64 `json:"flush-p99,omitempty"`
	FlushMax    int64 `json:"flush-max,omitempty"` // since the start
}

// ProfileParams name a profile of the kernel's process: cpu, trace, block or mutex, which take seconds, or
// heap, allocs, goroutine, threadcreate, or stacks, which is a text.
type ProfileParams struct {
	Kind    string `json:"kind"`
	Seconds int    `json:"seconds,omitempty"` // 10 by default, 60 at most
}

// ProfileResult is a profile for "go tool pprof", or for "go tool trace".
type ProfileResult struct {
	Data string `json:"data"` // base64
}

// ModelStatus is the state of a model after its last request: unasked, well, failing, or
// paused after repeated failures.
type ModelStatus struct {
	Name  string  `json:"name"`
	State Keyword `json:"state"`
	At    string  `json:"at,omitempty"` // RFC 3339
	Fault string  `json:"fault,omitempty"`
}

// PresetStatus is a preset of config.org, or what is wrong with one.
type PresetStatus struct {
	Name  string `json:"name"`
	Fault string `json:"fault,omitempty"` // with its line; of a preset that cannot be used
}

// ClientStatus is a client that is connected.
type ClientStatus struct {
	Name    string `json:"name"`
	ID      string `json:"id"`
	Version string `json:"version,omitempty"`
}

// ConversationStatus is a conversation in which a turn runs or waits.
type ConversationStatus struct {
	Name    string `json:"name"`
	Running string `json:"running,omitempty"` // the turn
	// Progress is the progress of that turn; missing before its first request.
	Progress *TurnProgress `json:"progress,omitempty"`
	Queued   int           `json:"queued,omitempty"`
	// Parent is the conversation that started a subagent, and Label is the subagent's label. Both
	// are "" for any other conversation.
	Parent string `json:"parent,omitempty"`
	Label  string `json:"label,omitempty"`
}
