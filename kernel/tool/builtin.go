package tool

import (
	"context"

	"org-agent/kernel/fetch"
	"org-agent/kernel/process"
	"org-agent/kernel/skillmd"
	"org-agent/kernel/websearch"
)

// Deps are the dependencies of the built-in tools. A field is required unless its comment says
// otherwise.
type Deps struct {
	// Skills returns the live prompt skills.
	Skills func() *skillmd.Set
	Memory Memory
	Past   Past
	// Commands runs commands. nil: no tool that runs one is offered.
	Commands *process.Table
	Files    Files
	Notes    Notes
	Schedule Schedule
	Messages Messages
	// Pages fetches pages of the web. nil: no tool that does is offered.
	Pages *fetch.Fetcher
	// Search returns the person's search server of this moment, or nil if there is none. nil: there is
	// never one.
	Search func() *websearch.Server
	// Subagents reports whether a turn may start subagents now. nil: none may.
	Subagents func() bool
	// Results returns a result that is stored outside of the journal, by its id. found is false for
	// an unknown id. nil: there are none.
	Results func(ctx context.Context, in Conversation, id string) (text string, found bool, err error)
}

// BuiltIn returns the tools that come with the program. This is the only list of them.
func BuiltIn(d Deps) (*Registry, error) {
	return NewRegistry(
		agendaTool(d.Notes),
		askUser(),
		earlierResult(d.Results),
		editFile(d.Files, d.Notes.Emacs),
		emacsBuffers(d.Notes),
		emacsRead(d.Notes),
		execCommand(d.Commands),
		getContacts(d.Messages),
		globFiles(d.Files),
		grepFiles(d.Files),
		listConversations(d.Past),
		listSkills(d.Skills),
		listSubagents(d.Subagents),
		memoryForget(d.Memory),
		memorySave(d.Memory),
		memorySearch(d.Memory),
		memoryUpdate(d.Memory),
		orgEdit(d.Notes),
		orgQuery(d.Notes),
		processTool(d.Commands),
		react(d.Messages),
		readFile(d.Files),
		scheduleCreate(d.Schedule),
		scheduleDelete(d.Schedule),
		scheduleList(d.Schedule),
		scheduleUpdate(d.Schedule),
		searchMessages(d.Past),
		send(d.Messages),
		speak(d.Messages),
		startSubagent(d.Subagents),
		useSkill(d.Skills),
		webFetch(d.Pages),
		webSearch(d.Search),
		writeFile(d.Files),
	)
}
