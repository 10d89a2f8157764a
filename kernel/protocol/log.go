package protocol

// LogTailParams asks for the last records of the kernel's log that match every field that
// is set, and with Follow for those that come, in [LogLines]. It replaces what this
// connection followed before; without Follow nothing is followed any more.
type LogTailParams struct {
	Lines   int    `json:"lines,omitempty"` // 500 if 0, 5,000 at most
	Level   Level  `json:"level,omitempty"` // the least; info if missing
	Session string `json:"session,omitempty"`
	Turn    string `json:"turn,omitempty"` // or the beginning of its id
	Text    string `json:"text,omitempty"` // occurs in the line, in any case
	Follow  bool   `json:"follow,omitempty"`
	// Mark comes back in each [LogLines]: some may come before the result, and some of
	// what was followed before after the request.
	Mark int `json:"mark,omitempty"`
}

// LogTailResult has the records, the latest last. Left: there may be older ones.
type LogTailResult struct {
	File    string      `json:"file"`
	Records []LogRecord `json:"records,omitempty"`
	Left    bool        `json:"left,omitempty"`
}

// LogLines is what has come since; Dropped counts records that came too fast to be sent.
type LogLines struct {
	Records []LogRecord `json:"records,omitempty"`
	Dropped int         `json:"dropped,omitempty"`
	Mark    int         `json:"mark,omitempty"`
}

// LogRecord is one line of the log. Long texts are cut and say so. Fields is all that
// stands behind the message, as people read it.
type LogRecord struct {
	Time    string `json:"time,omitempty"` // RFC 3339; missing for a line that is no record
	Level   Level  `json:"level,omitempty"`
	Message string `json:"message"`
	Session string `json:"session,omitempty"`
	Turn    string `json:"turn,omitempty"`
	Fields  string `json:"fields,omitempty"`
}
