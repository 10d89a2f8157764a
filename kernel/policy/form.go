package policy

import (
	"fmt"
	"slices"
	"strings"

	"org-agent/kernel/plist"
)

// Form is a shape that a proposal may have, with <…> where something is to be put in.
type Form struct {
	// Target and Action are as in [Row]; Target is the type of what is no request.
	Target, Action string
	// Does says what it is for.
	Does string
	// Text is the property list.
	Text string
	// Instead are fields that may stand in place of the first of [Row.OneOf], with a value.
	Instead string

	row   *Row              // nil for what is no request
	fixed map[string]string // fields with the one value they have here, as Lisp
}

// String is the form as a line of a prompt.
func (f Form) String() string {
	line := f.Does + ": " + f.Text
	if f.Instead != "" {
		line += ", or with " + f.Instead
	}
	return line
}

// Forms are the shapes of all that may be proposed in a turn, the answer first. They are
// made of the table that proposals are checked against. Whether there is anything that
// performs them is not looked at.
func Forms(where Where) []Form {
	var answer, rest []Form
	table := Table()
	sent := slices.ContainsFunc(table, func(row Row) bool { return row.sendsTo(where) })
	for _, row := range table {
		own := row.Action == "insert-at-end"
		if sent {
			own = row.sendsTo(where)
		}
		switch {
		case row.Off:
		case own: // how the conversation is answered
			answer = append(answer, row.form(where, true))
		case row.Action != "insert-at-end": // on a channel the answer goes there
			rest = append(rest, row.form(where, false))
		}
	}
	rest = append(rest,
		Form{Target: "response", Does: "to answer, wherever the conversation is", Text: `(:type :RESPONSE :text "<answer>")`},
		Form{Target: "log", Does: "to leave a line in the log and say nothing", Text: `(:type :LOG :text "<line>")`})
	return append(answer, rest...)
}

// sendsTo reports whether the row sends messages on the channel of a turn.
func (row Row) sendsTo(where Where) bool {
	return strings.TrimSpace(where.ChatID) != "" && row.Target == string(where.Channel) && len(row.Fields) > 0 && chatField(row.Fields[0].Name)
}

// chatField reports whether a field names a conversation on a channel.
func chatField(name string) bool { return name == "chat-id" || name == "room-id" }

// form is the row with its examples; own says that it is how the conversation is answered: by a
// message on the channels that have a target of their own, by an insertion everywhere else.
func (row Row) form(where Where, own bool) Form {
	f := Form{Target: row.Target, Action: row.Action, Does: row.Does, row: &row, fixed: map[string]string{}}
	var b strings.Builder
	b.WriteString("(:type :REQUEST :target :" + row.Target)
	if row.Action != "" {
		b.WriteString(" :action :" + row.Action)
	}
	for _, field := range row.Fields {
		value := field.Example
		switch {
		case own && chatField(field.Name):
			value = plist.Print(plist.String(where.ChatID))
			f.fixed[field.Name] = value
		case own && field.Name == "text" && row.Action == "":
			f.Does, value = "to answer", `"<answer>"`
		case row.instead(field.Name):
			f.Instead = fmt.Sprintf(":%s %s in place of :%s", field.Name, value, row.OneOf[0])
			continue
		}
		if field.Fixed {
			f.fixed[field.Name] = value
		}
		if value != "" {
			fmt.Fprintf(&b, " :%s %s", field.Name, value)
		}
	}
	f.Text = b.String() + ")"
	return f
}

// instead reports whether a field may stand in place of the one that is shown.
func (row Row) instead(name string) bool {
	return slices.Index(row.OneOf, name) > 0
}
