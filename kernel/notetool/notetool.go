// Package notetool makes tools of those that notes define with def-cognitive-tool. A person is asked
// about a call, unless a row of policy.org about the tool says otherwise, or its note was granted
// nothing, so that a call can only compute. The note's guard narrows that, and its Lisp performs the
// call, within what the note was granted.
package notetool

import (
	"context"
	"fmt"
	"strings"

	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
	"org-agent/kernel/tool"
)

// Live returns a function that returns the tools of the live notes, followed by those of other
// programs. A program's tool with the name of a note's is left out.
func Live(notes func() *skill.Set, others func() []tool.Tool) func() []tool.Tool {
	return func() []tool.Tool {
		all := Tools(notes().Tools())
		taken := map[string]bool{}
		for _, t := range all {
			taken[tool.Spelled(t.Name())] = true
		}
		if others == nil {
			return all
		}
		for _, t := range others() {
			if !taken[tool.Spelled(t.Name())] {
				all = append(all, t)
			}
		}
		return all
	}
}

// Names returns the names of the tools of the live notes.
func Names(notes *skill.Set) (names []string) {
	for _, t := range notes.Tools() {
		names = append(names, t.Name)
	}
	return names
}

// Tools returns the tools of notes as tools of the kernel. They hold the versions of the notes that
// define them.
func Tools(defined []*skill.Tool) (tools []tool.Tool) {
	for _, t := range defined {
		tools = append(tools, toolOf(t))
	}
	return tools
}

// toolOf returns the tool of a note as one of the kernel.
func toolOf(t *skill.Tool) tool.Tool {
	file, granted := skill.ShownFile(t.File), t.Granted()
	of := tool.Foreign{
		Name: t.Name, Does: t.Does, Form: form(t.Parameters), Schema: jsonSchema(t.Parameters), Digest: t.Digest,
		Ours: len(granted) == 0,
		Preview: func(_ context.Context, _ *tool.Caller, arguments protocol.Object) (tool.Preview, error) {
			given, err := read(t.Parameters, arguments)
			return tool.Preview{
				Summary: fmt.Sprintf("Use the tool %s of %s", t.Name, file), Text: plist.Print(given),
				Effects: []string{"a function of " + file + " does it, " + rights(granted), "it says of the tool: " + t.Does, "what it does cannot be taken back"},
			}, err
		},
		Guard: func(ctx context.Context, by *tool.Caller, arguments protocol.Object) (string, error) {
			given, err := read(t.Parameters, arguments)
			if err != nil {
				return "", protocol.ToolErrorf(protocol.ToolArguments, "%w; it is called as %s %s", err, t.Name, form(t.Parameters))
			}
			ask, err := t.Consult(ctx, given, by.Conversation.Session)
			if err != nil {
				return "", fmt.Errorf("the tool %s of %s: %w", t.Name, file, err)
			}
			return ask, nil
		},
		Perform: func(ctx context.Context, by *tool.Caller, arguments protocol.Object) (string, error) {
			given, err := read(t.Parameters, arguments)
			if err != nil {
				return "", protocol.ToolErrorf(protocol.ToolArguments, "%w", err)
			}
			return t.Perform(ctx, given, by.Conversation.Session)
		},
	}
	switch {
	case len(granted) > 0:
		of.Asks = fmt.Sprintf("the tool %s is of %s, which was granted %s", t.Name, file, strings.Join(granted, " "))
	case t.Injects():
		of.Trusted = fmt.Sprintf("the tool %s is of %s, which was granted nothing: it computes, and wakes other notes", t.Name, file)
	default:
		of.Trusted = fmt.Sprintf("the tool %s is of %s, which was granted nothing: it only computes", t.Name, file)
		of.Effect = protocol.ToolReads
	}
	return tool.NewForeign(of)
}

// rights says what a note was granted.
func rights(granted []string) string {
	if len(granted) == 0 {
		return "which can reach no files and no servers"
	}
	return "which was granted " + strings.Join(granted, " ")
}
