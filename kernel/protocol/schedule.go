package protocol

// ScheduleListParams asks for the tasks, each with so many of its next times, and of one task alone if it is named.
type ScheduleListParams struct {
	Task  string `json:"task,omitempty"` // a title, an :ID: or a hash
	Times int    `json:"times,omitempty"`
	Text  bool   `json:"text,omitempty"` // with what is to be done
}

// ScheduleListResult are the tasks of the person's, and what is wrong with their files.
type ScheduleListResult struct {
	Tasks  []ScheduledTask `json:"tasks"`
	Faults []string        `json:"faults,omitempty"` // FILE:LINE:COLUMN: SEVERITY: MESSAGE
}

// ScheduledTask is one task.
type ScheduledTask struct {
	Title string `json:"title"`
	ID    string `json:"id,omitempty"` // its :ID:
	File  string `json:"file"`
	Line  int    `json:"line"`
	When  string `json:"when"`           // the timestamp or the rule, as it is written
	Next  string `json:"next,omitempty"` // the next time, RFC 3339; "" if there is none
	// Times are the next times in words, in the zone of the task.
	Times []string `json:"times,omitempty"`
	// State is one of planned, off, over, and of running and retry while the task is at work. A task outside of tasks.org
	// can be "not armed", and "changed" if the person armed what it was before.
	State   string `json:"state"`
	Hash    string `json:"hash"`              // of what is done, and where
	Other   bool   `json:"other,omitempty"`   // it is outside of tasks.org
	Text    string `json:"text,omitempty"`    // what is to be done, whole
	Session string `json:"session,omitempty"` // in which it is at work
	Note    string `json:"note,omitempty"`    // why it is tried again; of the heartbeat, what became of the last one
	Runs    int    `json:"runs,omitempty"`
	MaxRuns int    `json:"max-runs,omitempty"`
}

// ScheduleRunParams names a task that is to be done now.
type ScheduleRunParams struct {
	Task string `json:"task"`
}

// ScheduleRunResult is where the task is done.
type ScheduleRunResult struct {
	Event   string `json:"event"`
	Session string `json:"session"`
}

// ScheduleArmParams arms a task that is outside of tasks.org, or disarms it. The hash is that of the task as the person saw
// it: the error has the code CodeNotFound if it is another one by now.
type ScheduleArmParams struct {
	Hash   string `json:"hash"`
	Disarm bool   `json:"disarm,omitempty"`
}

// ScheduleWatchParams says which files an Emacs wants to be looked at for tasks. It replaces what was said before.
type ScheduleWatchParams struct {
	Files []string `json:"files,omitempty"` // absolute
	Tag   string   `json:"tag,omitempty"`   // of the headings that are tasks, without colons; "": agenttask
	// Sequences are the TODO keywords of a file that sets none, as values of #+TODO: lines.
	Sequences []string `json:"sequences,omitempty"`
}
