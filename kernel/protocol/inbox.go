package protocol

// The methods for the inbox. [MethodInboxChanged] is a notification of the kernel.
const (
	MethodInboxList    = "inbox/list"
	MethodInboxMark    = "inbox/mark"
	MethodInboxChanged = "inbox/changed"
)

// InboxKind says what an item of the inbox is.
type InboxKind string

// The kinds of items.
const (
	InboxResult   InboxKind = "result"   // of a task, which could be told nowhere else, or of a reaction
	InboxFailure  InboxKind = "failure"  // of a task, of a reaction or of the heartbeat
	InboxStranger InboxKind = "stranger" // somebody wrote on a channel who may not
	InboxAlert    InboxKind = "alert"    // of the heartbeat or about a task, which could be told nowhere else
)

// InboxItem is one thing that is kept for the owner. That of a stranger has the channel and the id by which [MethodChannelAllow]
// lets them in.
type InboxItem struct {
	ID      string    `json:"id"`
	Kind    InboxKind `json:"kind"`
	Session string    `json:"session,omitempty"` // the conversation that it is about, "" for none
	Title   string    `json:"title"`
	Text    string    `json:"text,omitempty"` // Org
	Time    string    `json:"time"`           // RFC 3339
	Read    bool      `json:"read,omitempty"`
	Channel Channel   `json:"channel,omitempty"`
	Sender  string    `json:"sender,omitempty"`
}

// InboxListParams asks for items. Unread leaves out those that were read. Limit 0 means all.
type InboxListParams struct {
	Unread bool `json:"unread,omitempty"`
	Limit  int  `json:"limit,omitempty"`
}

// InboxListResult are the items, the unread first, and then the latest first. Left is how many are not listed.
type InboxListResult struct {
	Items  []InboxItem `json:"items"`
	Unread int         `json:"unread"`
	Left   int         `json:"left,omitempty"`
}

// InboxMarkParams marks items as read, or as unread. All marks every item, and IDs those with these ids.
type InboxMarkParams struct {
	IDs    []string `json:"ids,omitempty"`
	All    bool     `json:"all,omitempty"`
	Unread bool     `json:"unread,omitempty"`
}

// InboxChanged is how many items are unread. The kernel notifies clients when that changes.
type InboxChanged struct {
	Unread int `json:"unread"`
}
