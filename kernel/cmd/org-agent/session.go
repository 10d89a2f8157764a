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
	List   sessionListCommand   `cmd:"" help:"List the conversations, the latest first."`
	Search sessionSearchCommand `cmd:"" help:"Look for words in all that was said; \"words in quotes\" stand together, word* is a beginning."`
	Rename sessionRenameCommand `cmd:"" help:"Give a conversation, and its file, another name."`
	Fork   sessionForkCommand   `cmd:"" help:"Make a new conversation of another, whole or up to a heading."`
}

// call asks the kernel, which is started if none runs.
func (w *world) call(ctx context.Context, method string, params, result any) error {
	conn, err := w.connect(ctx, connection{start: true})
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Call(ctx, method, params, result)
}

type sessionListCommand struct {
	JSON bool `help:"Print JSON."`
}

func (c *sessionListCommand) Run(ctx context.Context, w *world) error {
	var list protocol.SessionListResult
	if err := w.call(ctx, protocol.MethodSessionList, protocol.Empty{}, &list); err != nil {
		return err
	}
	if c.JSON {
		return w.printJSON(list)
	}
	for _, s := range list.Sessions {
		line := fmt.Sprintf("%-24s %5d  %s  %-7s  %s", s.Name, s.Turns, localTime(s.Updated), activity(s.State), s.Words)
		if s.Parent != "" {
			line += "  (forked from " + s.Parent + ")"
		}
		fmt.Fprintln(w.out, strings.TrimRight(line, " "))
	}
	if list.Left > 0 {
		fmt.Fprintf(w.err, "org-agent: %d older conversations are not listed; \"org-agent session search\" finds what was said in them\n", list.Left)
	}
	return nil
}

// activity says what a session in which the turn is so is doing.
func activity(state protocol.TurnState) string {
	switch state {
	case protocol.TurnQueued, protocol.TurnRunning:
		return "running"
	case protocol.TurnWaiting:
		return "waiting" // for a person
	}
	return "idle"
}

// localTime is a time of the wire as a person here reads it.
func localTime(rfc3339 string) string {
	t, err := time.Parse(time.RFC3339, rfc3339)
	if err != nil {
		return rfc3339
	}
	return t.Local().Format("2006-01-02 15:04")
}

type sessionSearchCommand struct {
	Session string   `help:"Only in this conversation." placeholder:"NAME"`
	Since   string   `help:"Only what was said on this day or later." placeholder:"YYYY-MM-DD"`
	Until   string   `help:"Only what was said before this day." placeholder:"YYYY-MM-DD"`
	Limit   int      `help:"How many results at most." default:"20"`
	JSON    bool     `help:"Print JSON."`
	Query   []string `arg:"" help:"What to look for."`
}

func (c *sessionSearchCommand) Run(ctx context.Context, w *world) error {
	found, err := c.search(ctx, w)
	if err != nil {
		return err
	}
	if c.JSON {
		return w.printJSON(found)
	}
	for _, h := range found.Hits {
		fmt.Fprintf(w.out, "%s  %s  %s  %s\n    %s\n", localTime(h.Time), h.Session, h.Role, h.ID, h.Snippet)
	}
	switch {
	case len(found.Hits) == 0 && found.Before > 0:
		return fmt.Errorf("nothing that was said since %s has all of these words; --until goes to what is older", localTime(found.Reached))
	case len(found.Hits) == 0:
		return fmt.Errorf("nothing that was said has all of these words")
	case found.More:
		fmt.Fprintln(w.err, "org-agent: there is more; --limit shows it, another word narrows it")
	case found.Before > 0:
		fmt.Fprintf(w.err, "org-agent: what is older than %s was not looked at; --limit or --until goes there\n", localTime(found.Reached))
	}
	return nil
}

// searchPatience is how long a search goes on. It needs that only while the kernel makes its
// index of an older journal, and reads what is not in it yet.
const searchPatience = 10 * time.Second

// search asks the kernel until there are enough results or all was looked at: each of its
// answers takes a few hundredths of a second.
func (c *sessionSearchCommand) search(ctx context.Context, w *world) (all protocol.SessionSearchResult, err error) {
	conn, err := w.connect(ctx, connection{start: true})
	if err != nil {
		return all, err
	}
	defer conn.Close()
	limit := max(c.Limit, 1)
	params := protocol.SessionSearchParams{Query: strings.Join(c.Query, " "), Session: c.Session, Since: c.Since, Until: c.Until, Limit: limit}
	for began := time.Now(); ; {
		var found protocol.SessionSearchResult
		if err := conn.Call(ctx, protocol.MethodSessionSearch, params, &found); err != nil {
			return all, err
		}
		all.Hits = append(all.Hits, found.Hits...)
		all.More = found.More || len(all.Hits) > limit
		all.Before, all.Reached = found.Before, found.Reached
		if found.Before == 0 || len(all.Hits) >= limit || time.Since(began) > searchPatience {
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

func (c *sessionRenameCommand) Run(ctx context.Context, w *world) error {
	var renamed protocol.SessionRenameResult
	params := protocol.SessionRenameParams{Session: c.Session, To: c.To}
	if err := w.call(ctx, protocol.MethodSessionRename, params, &renamed); err != nil {
		return err
	}
	if c.JSON {
		return w.printJSON(renamed)
	}
	_, err := fmt.Fprintln(w.out, renamed.File)
	return err
}

type sessionForkCommand struct {
	At      string `help:"The :ID: of the last answer it shall have, or of a question, which becomes its draft; without it, all." placeholder:"ID"`
	JSON    bool   `help:"Print JSON."`
	Session string `arg:"" help:"The conversation."`
	To      string `arg:"" optional:"" help:"The name of the new one (default: made of the other)."`
}

func (c *sessionForkCommand) Run(ctx context.Context, w *world) error {
	var fork protocol.SessionForkResult
	params := protocol.SessionForkParams{Session: c.Session, ID: c.At, To: c.To}
	if err := w.call(ctx, protocol.MethodSessionFork, params, &fork); err != nil {
		return err
	}
	if c.JSON {
		return w.printJSON(fork)
	}
	_, err := fmt.Fprintf(w.out, "%s\n%s\n", fork.Session, fork.File)
	return err
}
