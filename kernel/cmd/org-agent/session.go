package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"org-agent/kernel/protocol"
)

// sessionCommands is "org-agent session".
type sessionCommands struct {
	List   sessionListCommand   `cmd:"" help:"List the conversations, latest first."`
	Search sessionSearchCommand `cmd:"" help:"Search all conversations. \"Words in quotes\" must be adjacent; word* finds words that begin so."`
	Rename sessionRenameCommand `cmd:"" help:"Rename a conversation and its file."`
	Fork   sessionForkCommand   `cmd:"" help:"Copy a conversation into a new one, whole or up to a heading."`
}

// call calls a method of the kernel, and starts a kernel if none runs.
func (proc *process) call(ctx context.Context, method string, params, result any) error {
	conn, err := proc.connect(ctx, connection{start: true})
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Call(ctx, method, params, result)
}

type sessionListCommand struct {
	JSON bool `help:"Print JSON."`
}

func (c *sessionListCommand) Run(ctx context.Context, proc *process) error {
	var list protocol.SessionListResult
	if err := proc.call(ctx, protocol.MethodSessionList, protocol.Empty{}, &list); err != nil {
		return err
	}
	if c.JSON {
		return proc.printJSON(list)
	}
	for _, s := range list.Sessions {
		line := fmt.Sprintf("%-24s %5d  %s  %-7s  %s", s.Name, s.Turns, localTime(s.Updated), activity(s.State), s.Words)
		if s.Parent != "" {
			line += "  (forked from " + s.Parent + ")"
		}
		fmt.Fprintln(proc.stdout, strings.TrimRight(line, " "))
	}
	if list.Left > 0 {
		fmt.Fprintf(proc.stderr, "org-agent: %d older conversations are not listed; \"org-agent session search\" searches all\n", list.Left)
	}
	return nil
}

// activity describes a session by the state of its turn.
func activity(state protocol.TurnState) string {
	switch state {
	case protocol.TurnQueued, protocol.TurnRunning:
		return "running"
	case protocol.TurnWaiting:
		return "waiting" // for a person
	}
	return "idle"
}

// localTime converts a time of the wire to the local zone.
func localTime(rfc3339 string) string {
	t, err := time.Parse(time.RFC3339, rfc3339)
	if err != nil {
		return rfc3339
	}
	return t.Local().Format("2006-01-02 15:04")
}

type sessionSearchCommand struct {
	Session string   `help:"Only in this conversation." placeholder:"NAME"`
	Since   string   `help:"Only from this day on." placeholder:"YYYY-MM-DD"`
	Until   string   `help:"Only before this day." placeholder:"YYYY-MM-DD"`
	Limit   int      `help:"The maximum number of results." default:"20"`
	JSON    bool     `help:"Print JSON."`
	Query   []string `arg:"" help:"The words to search for."`
}

func (c *sessionSearchCommand) Run(ctx context.Context, proc *process) error {
	found, err := c.search(ctx, proc)
	if err != nil {
		return err
	}
	if c.JSON {
		return proc.printJSON(found)
	}
	for _, h := range found.Hits {
		fmt.Fprintf(proc.stdout, "%s  %s  %s  %s\n    %s\n", localTime(h.Time), h.Session, h.Role, h.ID, h.Snippet)
	}
	switch {
	case len(found.Hits) == 0 && found.Before > 0:
		return fmt.Errorf("no message since %s contains all of these words; --until searches older ones", localTime(found.Reached))
	case len(found.Hits) == 0:
		return fmt.Errorf("no message contains all of these words")
	case found.More:
		fmt.Fprintln(proc.stderr, "org-agent: there are more results; --limit shows them, another word narrows the search")
	case found.Before > 0:
		fmt.Fprintf(proc.stderr, "org-agent: messages older than %s were not searched; a larger --limit or an --until searches them\n", localTime(found.Reached))
	}
	return nil
}

// searchTimeout is how long a search may take in all. Only a search while an older journal is being
// indexed takes that long, because it also reads the messages that are not in the index yet.
const searchTimeout = 10 * time.Second

// search calls the kernel until there are enough results, everything was searched, or the time is up.
// Each call searches a part and takes a few hundredths of a second.
func (c *sessionSearchCommand) search(ctx context.Context, proc *process) (all protocol.SessionSearchResult, err error) {
	conn, err := proc.connect(ctx, connection{start: true})
	if err != nil {
		return all, err
	}
	defer conn.Close()
	limit := max(c.Limit, 1)
	params := protocol.SessionSearchParams{Query: strings.Join(c.Query, " "), Session: c.Session, Since: c.Since, Until: c.Until, Limit: limit}
	for start := time.Now(); ; {
		var found protocol.SessionSearchResult
		if err := conn.Call(ctx, protocol.MethodSessionSearch, params, &found); err != nil {
			return all, err
		}
		all.Hits = append(all.Hits, found.Hits...)
		all.More = found.More || len(all.Hits) > limit
		all.Before, all.Reached = found.Before, found.Reached
		if found.Before == 0 || len(all.Hits) >= limit || time.Since(start) > searchTimeout {
			all.Hits = all.Hits[:min(len(all.Hits), limit)]
			return all, nil
		}
		params.Before = found.Before
	}
}

type sessionRenameCommand struct {
	JSON    bool   `help:"Print JSON."`
	Session string `arg:"" help:"The conversation."`
	To      string `arg:"" help:"Its new name."`
}

func (c *sessionRenameCommand) Run(ctx context.Context, proc *process) error {
	var renamed protocol.SessionRenameResult
	params := protocol.SessionRenameParams{Session: c.Session, To: c.To}
	if err := proc.call(ctx, protocol.MethodSessionRename, params, &renamed); err != nil {
		return err
	}
	if c.JSON {
		return proc.printJSON(renamed)
	}
	_, err := fmt.Fprintln(proc.stdout, renamed.File)
	return err
}

type sessionForkCommand struct {
	At      string `help:"The :ID: of the last answer to copy, or of a question, which becomes the draft of the new one (default: copy all)." placeholder:"ID"`
	JSON    bool   `help:"Print JSON."`
	Session string `arg:"" help:"The conversation."`
	To      string `arg:"" optional:"" help:"The name of the new conversation (default: derived from the other's)."`
}

func (c *sessionForkCommand) Run(ctx context.Context, proc *process) error {
	var fork protocol.SessionForkResult
	params := protocol.SessionForkParams{Session: c.Session, ID: c.At, To: c.To}
	if err := proc.call(ctx, protocol.MethodSessionFork, params, &fork); err != nil {
		return err
	}
	if c.JSON {
		return proc.printJSON(fork)
	}
	_, err := fmt.Fprintf(proc.stdout, "%s\n%s\n", fork.Session, fork.File)
	return err
}
