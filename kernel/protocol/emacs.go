package protocol

// The kernel's requests to a connected Emacs. Each takes little time, so that a person who types
// does not notice it. An Emacs in which somebody types answers Busy, and the kernel asks again
// later. No request changes, shows or runs anything.
const (
	MethodEmacsNotes    = "emacs/notes"
	MethodEmacsAgenda   = "emacs/agenda"
	MethodEmacsBuffers  = "emacs/buffers"
	MethodEmacsRead     = "emacs/read"
	MethodEmacsContacts = "emacs/contacts"
)

// EmacsNotesParams asks what the Emacs knows about Org files. With Entry it asks for the file of
// the entry with that :ID:. With File it asks only for the unsaved text of that file.
type EmacsNotesParams struct {
	Entry string `json:"entry,omitempty"`
	File  string `json:"file,omitempty"`
}

// EmacsNotes is what an Emacs knows about Org files.
type EmacsNotes struct {
	Busy bool `json:"busy,omitempty"`
	// Agenda are the agenda files, absolute.
	Agenda []string `json:"agenda,omitempty"`
	// Sequences are the TODO keywords of a file that sets none, as values of #+TODO: lines.
	Sequences []string `json:"sequences,omitempty"`
	// Warning is how many days before a deadline the agenda begins to show it.
	Warning int `json:"warning,omitempty"`
	// Unsaved are the texts of buffers with unsaved changes.
	Unsaved []EmacsText `json:"unsaved,omitempty"`
	// TooLarge are the files of buffers with unsaved changes whose text is too large to send.
	TooLarge []string `json:"too-large,omitempty"`
	// Entry is the file of the entry, "" if Emacs does not know it.
	Entry string `json:"entry,omitempty"`
}

// EmacsText is the text of a buffer that visits a file. The name of the file is absolute and has
// no links.
type EmacsText struct {
	File string `json:"file"`
	Text string `json:"text"`
}

// EmacsAgendaParams asks for the lines of Org's agenda that come from one file, from a day on.
type EmacsAgendaParams struct {
	File string `json:"file"`
	From string `json:"from"` // YYYY-MM-DD
	Days int    `json:"days"`
}

// EmacsAgenda is a part of the agenda. Next is the day with which to go on, "" if that was all.
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
	Tags     []string `json:"tags,omitempty"` // with the inherited ones
	Line     int      `json:"line"`
	ID       string   `json:"id,omitempty"`
}

// EmacsBuffersParams asks for the buffers whose name or file contains Match.
type EmacsBuffersParams struct {
	Match string `json:"match,omitempty"`
	Limit int    `json:"limit"`
}

// EmacsBuffers are buffers, the most recently used first. More is how many were left out.
type EmacsBuffers struct {
	Busy    bool          `json:"busy,omitempty"`
	Buffers []EmacsBuffer `json:"buffers,omitempty"`
	More    int           `json:"more,omitempty"`
}

// EmacsBuffer is a buffer that is not private.
type EmacsBuffer struct {
	Name     string `json:"name"`
	File     string `json:"file,omitempty"` // that it visits; on this machine, without links
	Remote   string `json:"remote,omitempty"`
	Mode     string `json:"mode"`
	Size     int    `json:"size"` // characters
	Modified bool   `json:"modified,omitempty"`
	Visible  bool   `json:"visible,omitempty"`
	ReadOnly bool   `json:"read-only,omitempty"`
	Selected bool   `json:"selected,omitempty"` // the selected window shows it
	Region   bool   `json:"region,omitempty"`   // its region is active
}

// EmacsContactsParams asks for the entries of the person's address books in Emacs in which Query occurs.
type EmacsContactsParams struct {
	Query string `json:"query"`
	Limit int    `json:"limit"`
}

// EmacsContacts are entries of address books.
type EmacsContacts struct {
	Busy     bool           `json:"busy,omitempty"`
	Contacts []EmacsContact `json:"contacts,omitempty"`
}

// EmacsContact is an entry of an address book. Source says of which: org-contacts, bbdb or eudc.
type EmacsContact struct {
	Name    string   `json:"name"`
	Aliases []string `json:"aliases,omitempty"`
	Emails  []string `json:"emails,omitempty"`
	Phones  []string `json:"phones,omitempty"`
	Source  string   `json:"source"`
}

// EmacsReadParams asks for some lines of the buffer with the name, or of the buffer that visits
// the file. With both, the buffer must have the name and visit the file; with Unvisiting, it must
// have the name and visit no file. Region asks for the active region. About asks for the
// description of the buffer without its text.
type EmacsReadParams struct {
	Buffer     string `json:"buffer,omitempty"`
	File       string `json:"file,omitempty"`
	Unvisiting bool   `json:"unvisiting,omitempty"`
	From       int    `json:"from,omitempty"`
	Limit      int    `json:"limit,omitempty"`
	Region     bool   `json:"region,omitempty"`
	About      bool   `json:"about,omitempty"`
}

// LineSpan is a range of lines of a text, counted from 1. Last is included.
type LineSpan struct {
	First int `json:"first"`
	Last  int `json:"last"`
}

// EmacsRead are lines of a buffer. Next is the line with which to go on, 0 if there is none.
type EmacsRead struct {
	Busy  bool        `json:"busy,omitempty"`
	Of    EmacsBuffer `json:"of"`
	From  int         `json:"from,omitempty"`
	Total int         `json:"total,omitempty"` // lines
	Text  string      `json:"text,omitempty"`
	Next  int         `json:"next,omitempty"`
	// Withheld are the lines that no model may see, in order. Text does not contain them.
	Withheld []LineSpan `json:"withheld,omitempty"`
	Narrow   bool       `json:"narrow,omitempty"` // the buffer is narrowed
}
