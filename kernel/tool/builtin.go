package tool

import (
	"context"

	"org-agent/kernel/fetch"
	"org-agent/kernel/process"
	"org-agent/kernel/skillmd"
	"org-agent/kernel/websearch"
)

// World is what the built-in tools work with; all of it is required but where it says so.
type World struct {
	// Skills returns the prompt skills that count now.
	Skills func() *skillmd.Set
	Memory Memory
	Past   Past
	// Commands are those that run for conversations; nil offers no tool that runs one.
	Commands *process.Table
	Files    Files
	Notes    Notes
	// Pages fetches pages of the web; nil for no such tool.
	Pages *fetch.Fetcher
	// Search is the search server that the person named; nil for none.
	Search *websearch.Server
	// Subagents: work can be handed on.
	Subagents bool
	// Kept returns results of a conversation that are kept outside of the journal, by ids of
	// their own: found is false for any other. Nil: there are none.
	Kept func(ctx context.Context, in Conversation, id string) (text string, found bool, err error)
}

// BuiltIn returns the tools that come with the program: this is the list of them.
func BuiltIn(w World) (*Registry, error) {
	return NewRegistry(
		agendaTool(w.Notes),
		askUser(),
		earlierResult(w.Kept),
		editFile(w.Files),
		emacsBuffers(w.Notes),
		emacsRead(w.Notes),
		execCommand(w.Commands),
		globFiles(w.Files),
		grepFiles(w.Files),
		listConversations(w.Past),
		listSkills(w.Skills),
		listSubagents(w.Subagents),
		memoryForget(w.Memory),
		memorySave(w.Memory),
		memorySearch(w.Memory),
		memoryUpdate(w.Memory),
		orgEdit(w.Notes),
		orgQuery(w.Notes),
		processTool(w.Commands),
		readFile(w.Files),
		searchMessages(w.Past),
		sessionsSpawn(w.Subagents),
		useSkill(w.Skills),
		webFetch(w.Pages),
		webSearch(w.Search),
		writeFile(w.Files),
	)
}
