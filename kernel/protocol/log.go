package protocol

// LogTailParams asks for the last records of the kernel's log that match every field that
// is set. With Follow, [LogLines] bring later ones. Each request replaces the one that this
// connection followed before; one without Follow only ends that.
type LogTailParams struct {
	Lines   int    `json:"lines,omitempty"` // 500 if 0, 5,000 at most
	Level   Level  `json:"level,omitempty"` // the least; info if missing
	Session string `json:"session,omitempty"`
	Turn    string `json:"turn,omitempty"` // or the beginning of its id
	Text    string `json:"text,omitempty"` // occurs in the line, in any case
	Follow  bool   `json:"follow,omitempty"`
	// Mark comes back in each [LogLines]. It tells the lines of this request, which may come
	// before its result, from late ones of the request before.
	Mark int `json:"mark,omitempty"`
}

// LogTailResult has the records, the latest last. If Left is true, there may be older ones.
type LogTailResult struct {
	File    string      `json:"file"`
	Records []LogRecord `json:"records,omitempty"`
	Left    bool        `json:"left,omitempty"`
}

// LogLines are new records. Dropped counts records that came too fast to be sent.
type LogLines struct {
	Records []LogRecord `json:"records,omitempty"`
	Dropped int         `json:"dropped,omitempty"`
	Mark    int         `json:"mark,omitempty"`
}

// LogRecord is one line of the log. Long texts are cut, with a mark. Fields has the other
// attributes of the record, written for people.
type LogRecord struct {
	Time    string `json:"time,omitempty"` // RFC 3339; missing for a line that is no record
	Level   Level  `json:"level,omitempty"`
	Message string `json:"message"`
	Session string `json:"session,omitempty"`
	Turn    string `json:"turn,omitempty"`
	Fields  string `json:"fields,omitempty"`
}
