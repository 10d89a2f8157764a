package policy

// The action table: every target, its actions and their fields. The policy
// checks proposals against it, and what a prompt says of the format comes from
// it, so that the two cannot disagree.

// FieldKind is what a field's value must be.
type FieldKind int

const (
	Text       FieldKind = iota // a string, not blank
	AnyText                     // a string, possibly empty
	Name                        // a string or a keyword
	Integer                     // an integer, 1 or more
	Plist                       // a plist, possibly empty
	Properties                  // a plist, or a list of lists of two strings
	CallList                    // a list of plists
)

func (k FieldKind) String() string {
	return [...]string{"a string that is not blank", "a string", "a string", "a positive integer", "a plist", "a plist", "a list of plists"}[k]
}

// Field is one field of an action's payload.
type Field struct {
	Name     string
	Kind     FieldKind
	Required bool
	Limit    int // characters of a string; 0: none
}

// Row is one thing that can be requested. Action is "" for targets that have
// no :action.
type Row struct {
	Target string
	Action string
	Fields []Field
	// OneOf: of these fields at least one must stand.
	OneOf []string
	// Off: it is known, so that it is refused with a reason, and not offered.
	Off bool
}

// messageLimit is what Emacs's echo area is given at most, in characters.
const messageLimit = 200

// Table returns the rows in the order in which they are documented.
func Table() []Row {
	chat := []Field{
		{Name: "chat-id", Kind: Name, Required: true}, {Name: "text", Kind: Text, Required: true},
		{Name: "reply-to", Kind: Name}, {Name: "attachments", Kind: CallList},
	}
	room := append([]Field{{Name: "room-id", Kind: Name, Required: true}}, chat[1:]...)
	return []Row{
		{Target: "emacs", Action: "insert-at-end", Fields: []Field{{Name: "text", Kind: Text, Required: true}, {Name: "buffer", Kind: Text}}},
		{Target: "emacs", Action: "message", Fields: []Field{{Name: "text", Kind: Text, Required: true, Limit: messageLimit}}},
		{Target: "emacs", Action: "set-properties", Fields: []Field{{Name: "id", Kind: Text, Required: true}, {Name: "properties", Kind: Properties, Required: true}}},
		{Target: "emacs", Action: "edit", OneOf: []string{"id", "file"}, Fields: []Field{
			{Name: "id", Kind: Text}, {Name: "file", Kind: Text},
			{Name: "old", Kind: AnyText, Required: true}, {Name: "new", Kind: AnyText, Required: true}}},
		{Target: "emacs", Action: "open", Fields: []Field{{Name: "file", Kind: Text, Required: true}, {Name: "line", Kind: Integer}}},
		{Target: "emacs", Action: "eval", Off: true},
		{Target: "tool", Action: "call", Fields: []Field{{Name: "tool", Kind: Name, Required: true}, {Name: "args", Kind: Plist}}},
		{Target: "tool", Action: "batch", Fields: []Field{{Name: "calls", Kind: CallList, Required: true}}},
		{Target: "shell", Fields: []Field{{Name: "cmd", Kind: Text, Required: true}, {Name: "cwd", Kind: Text}, {Name: "timeout", Kind: Integer}}},
		{Target: "telegram", Fields: chat},
		{Target: "signal", Fields: chat},
		{Target: "matrix", Fields: room},
		{Target: "peer", Fields: []Field{{Name: "act", Kind: Name, Required: true}, {Name: "text", Kind: AnyText}}},
		{Target: "agent", Action: "spawn", Fields: []Field{{Name: "task", Kind: Text, Required: true}}},
	}
}
