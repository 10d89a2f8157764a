package protocol

// What the kernel asks of an Emacs that is connected. Each request is a little work, so that
// whoever types there does not notice: an Emacs that is being typed into answers Busy, and is
// asked again. None of them changes, shows or runs anything.
const (
	MethodEmacsNotes   = "emacs/notes"
	MethodEmacsAgenda  = "emacs/agenda"
	MethodEmacsBuffers = "emacs/buffers"
	MethodEmacsRead    = "emacs/read"
)

// EmacsNotesParams asks what the Emacs has of Org files. Entry: the file in which it knows the
// entry with that :ID: to be. File: only the text of this one.
type EmacsNotesParams struct {
	Entry string `json:"entry,omitempty"`
	File  string `json:"file,omitempty"`
}

// EmacsNotes is what an Emacs has of Org files.
type EmacsNotes struct {
	Busy bool `json:"busy,omitempty"`
	// Agenda are the agenda files, absolute.
	Agenda []string `json:"agenda,omitempty"`
	// Sequences are the TODO keywords where a file names none, as the values of lines #+TODO:.
	Sequences []string `json:"sequences,omitempty"`
	// Warning is how many days before a deadline is warned of it.
	Warning int `json:"warning,omitempty"`
	// Unsaved are the texts of buffers with changes that are not in their files.
	Unsaved []EmacsText `json:"unsaved,omitempty"`
	// TooLarge are the files of such buffers that have too much text to be sent.
	TooLarge []string `json:"too-large,omitempty"`
	// Entry is the file that has the entry, "" if Emacs knows of none.
	Entry string `json:"entry,omitempty"`
}

// EmacsText is the text of a buffer that visits a file, absolute and without links.
type EmacsText struct {
	File string `json:"file"`
	Text string `json:"text"`
}

// EmacsAgendaParams asks for what Org's agenda has of one file, from a day on.
type EmacsAgendaParams struct {
	File string `json:"file"`
	From string `json:"from"` // YYYY-MM-DD
	Days int    `json:"days"`
}

// EmacsAgenda is what stands there. Next is the day to go on with, "" if that was all.
type EmacsAgenda struct {
	Busy  bool              `json:"busy,omitempty"`
	Items []EmacsAgendaItem `json:"items,omitempty"`
	Next  string            `json:"next,omitempty"`
}

// EmacsAgendaItem is one line of an agenda, in Org's own words.
type EmacsAgendaItem struct {
	Day      string   `json:"day"`
	Kind     string   `json:"kind"`
	Time     string   `json:"time,omitempty"` // HH:MM
	End      string   `json:"end,omitempty"`
	Leader   string   `json:"leader,omitempty"` // as "In 3 d.:"
	Todo     string   `json:"todo,omitempty"`
	Priority string   `json:"priority,omitempty"`
	Title    string   `json:"title"`
	Tags     []string `json:"tags,omitempty"` // also those it inherits
	Line     int      `json:"line"`
	ID       string   `json:"id,omitempty"`
}

// EmacsBuffersParams asks for the buffers whose names or files have Match in them.
type EmacsBuffersParams struct {
	Match string `json:"match,omitempty"`
	Limit int    `json:"limit"`
}

// EmacsBuffers are buffers, the one used last first; More is how many there are beyond.
type EmacsBuffers struct {
	Busy    bool          `json:"busy,omitempty"`
	Buffers []EmacsBuffer `json:"buffers,omitempty"`
	More    int           `json:"more,omitempty"`
}

// EmacsBuffer is a buffer that is not private.
type EmacsBuffer struct {
	Name     string `json:"name"`
	File     string `json:"file,omitempty"` // that it visits, of this machine, without links
	Remote   string `json:"remote,omitempty"`
	Mode     string `json:"mode"`
	Size     int    `json:"size"` // characters
	Modified bool   `json:"modified,omitempty"`
	Visible  bool   `json:"visible,omitempty"`
	ReadOnly bool   `json:"read-only,omitempty"`
	Selected bool   `json:"selected,omitempty"` // its window is
	Region   bool   `json:"region,omitempty"`   // something in it is marked
}

// EmacsReadParams asks for some lines of a buffer: of the name, or that visits the file; with
// both, of the name if it visits the file, and with Unvisiting of the name if it visits none.
// Region: what is marked. About: what it is, without its text.
type EmacsReadParams struct {
	Buffer     string `json:"buffer,omitempty"`
	File       string `json:"file,omitempty"`
	Unvisiting bool   `json:"unvisiting,omitempty"`
	From       int    `json:"from,omitempty"`
	Limit      int    `json:"limit,omitempty"`
	Region     bool   `json:"region,omitempty"`
	About      bool   `json:"about,omitempty"`
}

// LineSpan is some lines of a text, counted from 1, the last one among them.
type LineSpan struct {
	First int `json:"first"`
	Last  int `json:"last"`
}

// EmacsRead are lines of a buffer. Next is the line to go on with, 0 if there is none. Text has
// nothing of the lines in Withheld, which are in order: they are kept from every model.
type EmacsRead struct {
	Busy  bool        `json:"busy,omitempty"`
	Of    EmacsBuffer `json:"of"`
	From  int         `json:"from,omitempty"`
	Total int         `json:"total,omitempty"` // lines
	Text  string      `json:"text,omitempty"`
	Next  int         `json:"next,omitempty"`
	// Withheld are what is left out of those lines.
	Withheld []LineSpan `json:"withheld,omitempty"`
	Narrow   bool       `json:"narrow,omitempty"` // the person sees a part of it only
}
