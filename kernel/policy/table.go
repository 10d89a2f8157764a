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

// String names what is wanted, in words for a model.
func (k FieldKind) String() string {
	return [...]string{"a string that is not blank", "a string", "a string", "a positive integer", "a plist", "a plist", "a list of plists"}[k]
}

// Field is one field of an action's payload.
type Field struct {
	Name     string
	Kind     FieldKind
	Required bool
	Limit    int // characters of a string; 0: none
	// Example is what a prompt shows for the value, as Lisp that is read; fields without one
	// are not shown.
	Example string
	Fixed   bool // the example is the value
}

// Row is one thing that can be requested. Action is "" for targets that have
// no :action.
type Row struct {
	Target string
	Action string
	// Does says in a prompt what it is for.
	Does   string
	Fields []Field
	// OneOf: of these fields at least one must stand. The first is shown in a prompt.
	OneOf []string
	// Off: it is known, so that it is refused with a reason, and not offered.
	Off bool
}

// messageLimit is what Emacs's echo area is given at most, in characters.
const messageLimit = 200

// Table returns the rows in the order in which they are documented. They must not be changed.
func Table() []Row { return table }

var table = func() []Row {
	const sends = "to send a message elsewhere"
	chat := []Field{
		{Name: "chat-id", Kind: Name, Required: true, Example: `"<chat>"`}, {Name: "text", Kind: Text, Required: true, Example: `"<message>"`},
		{Name: "reply-to", Kind: Name}, {Name: "attachments", Kind: CallList},
	}
	room := append([]Field{{Name: "room-id", Kind: Name, Required: true, Example: `"<room>"`}}, chat[1:]...)
	return []Row{
		{Target: "emacs", Action: "insert-at-end", Does: "to answer", Fields: []Field{
			{Name: "buffer", Kind: Text, Example: `"*org-agent-chat*"`, Fixed: true}, {Name: "text", Kind: Text, Required: true, Example: `"* <heading>\n<answer>"`}}},
		{Target: "emacs", Action: "edit", Does: "to change a text where it stands, :old being there exactly once", OneOf: []string{"file", "id"}, Fields: []Field{
			{Name: "file", Kind: Text, Example: `"<path>"`}, {Name: "id", Kind: Text, Example: `"<the :ID: of an entry>"`},
			{Name: "old", Kind: AnyText, Required: true, Example: `"<the text there>"`}, {Name: "new", Kind: AnyText, Required: true, Example: `"<what takes its place>"`}}},
		{Target: "emacs", Action: "set-properties", Does: "to set properties of an Org entry", Fields: []Field{
			{Name: "id", Kind: Text, Required: true, Example: `"<its :ID:>"`}, {Name: "properties", Kind: Properties, Required: true, Example: `(:<name> "<value>")`}}},
		{Target: "emacs", Action: "open", Does: "to show a file of the home", Fields: []Field{
			{Name: "file", Kind: Text, Required: true, Example: `"<path>"`}, {Name: "line", Kind: Integer, Example: `1`}}},
		{Target: "emacs", Action: "message", Does: "to show a line that is not kept", Fields: []Field{
			{Name: "text", Kind: Text, Required: true, Limit: messageLimit, Example: `"<line>"`}}},
		{Target: "emacs", Action: "eval", Off: true},
		{Target: "tool", Action: "call", Does: "to use a tool", Fields: []Field{
			{Name: "tool", Kind: Name, Required: true, Example: `"<name>"`}, {Name: "args", Kind: Plist, Example: `(:<argument> "<value>")`}}},
		{Target: "tool", Action: "batch", Does: "to use tools that only read together", Fields: []Field{
			{Name: "calls", Kind: CallList, Required: true, Example: `((:tool "<name>" :args (:<argument> "<value>")) (:tool "<name>" :args (:<argument> "<value>")))`}}},
		{Target: "shell", Does: "to run a command", Fields: []Field{
			{Name: "cmd", Kind: Text, Required: true, Example: `"<command>"`}, {Name: "cwd", Kind: Text}, {Name: "timeout", Kind: Integer}}},
		{Target: "telegram", Does: sends, Fields: chat},
		{Target: "signal", Does: sends, Fields: chat},
		{Target: "matrix", Does: sends, Fields: room},
		{Target: "peer", Off: true, Fields: []Field{{Name: "act", Kind: Name, Required: true}, {Name: "text", Kind: AnyText}}},
		{Target: "agent", Action: "spawn", Does: "to hand on a part of the work", Fields: []Field{{Name: "task", Kind: Text, Required: true, Example: `"<task>"`}}},
	}
}()
