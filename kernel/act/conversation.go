package act

import (
	"context"
	"fmt"
	"unicode/utf8"

	"org-agent/kernel/action"
	"org-agent/kernel/describe"
	"org-agent/kernel/kind"
	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// leavesNothing is the Undo of an action that only shows or reads.
func leavesNothing(action.Action, protocol.Receipt) ([]protocol.Change, []string) { return nil, nil }

// anySubagent is the Subagent of an action that every subagent may perform.
func anySubagent(action.Action) (needs []string, refused string) { return nil, "" }

// noSubagent is the Subagent of an action that no subagent may perform.
func noSubagent(why string) func(action.Action) ([]string, string) {
	return func(action.Action) ([]string, string) { return nil, why }
}

// response answers in the conversation of the turn, on any channel.
func response(d Deps) kind.Kind {
	return kind.Kind{
		Spec: action.Spec{Target: string(protocol.TypeResponse), Type: protocol.TypeResponse, Does: "to answer, wherever the conversation is", Reply: true,
			Fields: []action.Field{{Name: "text", Kind: action.Text, Required: true, Example: plist.String("<answer>")}}},
		Judge: func(context.Context, *policy.Turn, action.Action) policy.Verdict {
			return policy.Verdict{Kind: policy.Allow, Reason: "text into its own conversation"}
		},
		Ends:     func(action.Action, policy.Where) bool { return true },
		Subagent: anySubagent,
		Perform: func(ctx context.Context, o kind.Order) (kind.Result, error) {
			a := o.Action.Action()
			return kind.Result{}, d.Conversations.Insert(ctx, o.Session, o.Turn, a.Canonical(), a.Text("text"))
		},
		Undo: leavesNothing,
	}
}

// log writes a text to the log and nowhere else.
func log(d Deps) kind.Kind {
	return kind.Kind{
		Spec: action.Spec{Target: string(protocol.TypeLog), Type: protocol.TypeLog, Does: "to leave a line in the log and say nothing",
			Fields: []action.Field{{Name: "text", Kind: action.Text, Required: true, Example: plist.String("<line>")}}},
		Judge: func(context.Context, *policy.Turn, action.Action) policy.Verdict {
			return policy.Verdict{Kind: policy.Allow, Reason: "text into the log"}
		},
		Silent:   true,
		Subagent: anySubagent,
		Perform: func(ctx context.Context, o kind.Order) (kind.Result, error) {
			d.Logger.InfoContext(ctx, "skill log", "session", o.Session, "turn", o.Turn, "text", o.Action.Action().Text("text"))
			return kind.Result{Text: "written to the log"}, nil
		},
		Undo: leavesNothing,
	}
}

// insertName is the name of [insertion].
const insertName = "insert-at-end"

// Insertion returns the act by which a client puts a text into a conversation that it shows.
func Insertion(text string) protocol.Act {
	return actOf(insertName, protocol.Field{Key: "text", Value: text})
}

// IsInsertion reports whether an act is one of [Insertion].
func IsInsertion(a protocol.Act) bool {
	return a.Target == emacs && a.Payload.Text("action") == insertName
}

// insertion puts text at the end of the turn's own conversation, or of the conversation whose
// buffer it names. Every client that shows the conversation performs it.
func insertion(d Deps) kind.Kind {
	return kind.Kind{
		ByClient: true,
		Spec: action.Spec{Target: emacs, Name: insertName, Does: "to answer", Reply: true, Answers: true, Fields: []action.Field{
			{Name: "buffer", Kind: action.Text, Example: plist.String(protocol.SessionBuffer(protocol.MainSession)), Fixed: true},
			{Name: "text", Kind: action.Text, Required: true, Example: plist.String("* <heading>\n<answer>")}}},
		Judge: func(_ context.Context, turn *policy.Turn, a action.Action) policy.Verdict {
			buffer := a.Text("buffer")
			if ownBuffer(buffer, turn.Session) {
				return policy.Verdict{Kind: policy.Allow, Reason: "text into its own conversation"}
			}
			if session, ok := protocol.BufferSession(buffer); ok {
				return policy.Verdict{Kind: policy.Ask, Reason: fmt.Sprintf("it writes into another conversation, %q", session)}
			}
			return policy.Refused("the buffer %q is not a chat buffer: text goes to \"*org-agent-chat*\"", buffer)
		},
		Ends: func(a action.Action, where policy.Where) bool { return ownBuffer(a.Text("buffer"), where.Session) },
		Describe: func(a action.Action, _ describe.Deps) describe.Description {
			written := a.Text("text")
			return describe.Description{
				Summary: "Write into " + a.Text("buffer"), Language: "text", Text: written,
				Effects: []string{
					fmt.Sprintf("%s go into that conversation and its file, where all who have it open see them", text.Count(utf8.RuneCountInString(written), "character")),
					"it reads nothing and sends nothing over the network",
				},
			}
		},
		Sends:    func(a action.Action) string { return a.Text("buffer") },
		Subagent: noSubagent("a subagent writes into no other conversation: its answer is its report"),
		Perform: func(ctx context.Context, o kind.Order) (kind.Result, error) {
			a := o.Action.Action()
			text, buffer := a.Text("text"), a.Text("buffer")
			if ownBuffer(buffer, o.Session) {
				return kind.Result{}, d.Conversations.Insert(ctx, o.Session, o.Turn, a.Canonical(), text)
			}
			session, ok := protocol.BufferSession(buffer)
			if !ok {
				return kind.Result{}, fmt.Errorf("%q: %w", buffer, kind.ErrNoPerformer)
			}
			if err := d.Conversations.Post(ctx, "post-"+o.ID, session, text); err != nil { // an event's id is no act's
				return kind.Result{}, err
			}
			return kind.Result{Text: "the text stands in the conversation " + session}, nil
		},
	}
}

// ownBuffer reports whether the buffer names the conversation of the turn: it is empty, the main
// buffer's name, or the session's own.
func ownBuffer(buffer, session string) bool {
	return buffer == "" || buffer == protocol.SessionBuffer(protocol.MainSession) || buffer == protocol.SessionBuffer(session)
}
