package protocol

// ScheduleListParams asks for the tasks, each with so many of its next times, and of one task alone if it is named.
type ScheduleListParams struct {
	Task  string `json:"task,omitempty"` // a title or an :ID:
	Times int    `json:"times,omitempty"`
}

// ScheduleListResult are the tasks of the person's, and what is wrong with their file.
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
	// State is one of planned, off, over, and of running and retry while the task is at work.
	State   string `json:"state"`
	Session string `json:"session,omitempty"` // in which it is at work
	Note    string `json:"note,omitempty"`    // why it is tried again
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
