package daemon

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/clients"
	"org-agent/kernel/config"
	"org-agent/kernel/journal"
	"org-agent/kernel/memory"
	"org-agent/kernel/protocol"
	"org-agent/kernel/sensor/heartbeat"
	"org-agent/kernel/sensor/tasks"
	"org-agent/kernel/service"
	"org-agent/kernel/tool"
)

// inbox returns what keeps things for the owner.
func (d *daemon) inbox() service.Inbox {
	return service.Inbox{Store: d.journal.Inbox, Now: d.config.Now, Notify: d.clients.NotifyAll, Logger: d.log}
}

// outcomes returns what tells the owner what came of tasks.
func (d *daemon) outcomes(conversations *lateSessions) service.Outcomes {
	return service.Outcomes{
		Acts: d.journal.Acts, Posts: conversations, Known: d.journal.Turns, Asked: d.journal.Search, Channels: d.channels.known, Send: d.channels.post.Tell,
		Default: func() string { return d.settings.Last().Route }, Inbox: d.inbox(),
	}
}

// turnEnded returns what is called at the end of each turn. Turns also end while the kernel stops, when its context has
// ended.
func (d *daemon) turnEnded(conversations *lateSessions) func(journal.Turn) {
	outcomes := d.outcomes(conversations)
	return func(turn journal.Turn) {
		d.subagents.TurnEnded(context.Background(), turn)
		d.tasks.TurnEnded(turn)
		d.channels.typing.End(turn.Event)
		d.heartbeat.TurnEnded(turn)
		if turn.Question.Route.Kind != protocol.RouteReaction {
			return
		}
		if err := outcomes.Reacted(context.Background(), turn); err != nil {
			d.log.Error("what came of a reaction is not in the inbox", "session", turn.Session, "turn", turn.ID, "err", err)
		}
	}
}

// openTasks returns the sensor of the person's tasks.
func (d *daemon) openTasks(conversations *lateSessions) *tasks.Sensor {
	return tasks.New(tasks.Config{
		File: tasks.File{
			Path:   d.paths.Tasks,
			Editor: taskEditor{d.emacs()},
			Changed: func(path string) {
				d.clients.NotifyAll(protocol.MethodFileChanged, protocol.FileChanged{Files: []string{path}})
			},
		},
		Leases: d.journal.Leases, Turns: d.journal.Turns, Now: d.config.Now, Report: d.faults.Report, Deliver: d.outcomes(conversations).Deliver, Tell: d.outcomes(conversations).Tell, Logger: d.log,
		Others: func() ([]string, string) {
			settings := d.settings.Last()
			return d.home.TaskFiles(settings), settings.TaskTag
		},
		Hold: d.tags.Add,
		Excluded: func(path string) bool {
			return slices.ContainsFunc([]string{d.paths.Sessions, d.paths.State}, func(directory string) bool { return below(path, directory) })
		},
		Retry: func(ctx context.Context, turn journal.Turn) error {
			_, err := conversations.Retry(ctx, protocol.TurnRetryParams{Turn: turn.ID}, turn.Settings)
			return err
		},
	})
}

// below reports whether a path without links is below a directory.
func below(path, directory string) bool {
	if real, err := filepath.EvalSymlinks(directory); err == nil {
		directory = real
	}
	return strings.HasPrefix(path, directory+string(filepath.Separator))
}

// openHeartbeat returns the heartbeat.
func (d *daemon) openHeartbeat(conversations *lateSessions, home *memory.Home) *heartbeat.Sensor {
	outcomes := d.outcomes(conversations)
	return heartbeat.New(heartbeat.Config{
		Settings: func() config.Heartbeat { return d.settings.Last().Beats() },
		Checklist: func() (path, text string) {
			if file := home.File("HEARTBEAT"); file.Text != "" { // a new home has one with a comment
				return file.Path, file.Text
			}
			return "", ""
		},
		HasModel:  func() bool { return d.models.IsModel() && d.models.ConsentNeeded() == "" },
		HasChecks: func() bool { return d.skills.Notes.Current().HasChecks() },
		Checks: func(ctx context.Context, event sexp.List) (reasons []string) {
			for _, c := range d.skills.Notes.Current().Checks(ctx, event) {
				if c.Err != nil {
					d.log.Warn("a check at a heartbeat failed", "err", c.Err)
				} else if c.Reason != "" {
					reasons = append(reasons, c.Reason)
				}
			}
			return reasons
		},
		Matches: func(ctx context.Context, event protocol.Event) bool { return len(d.agent.Matching(ctx, event)) > 0 },
		Leases:  d.journal.Leases, Queue: d.journal.Queue, Turns: d.journal.Turns, Answer: outcomes.Answer, Now: d.config.Now, Logger: d.log,
		Tell: func(ctx context.Context, n heartbeat.News) error {
			return outcomes.Alert(ctx, n.ID, n.Session, n.Text, n.Failed)
		},
	})
}

// taskEditor is the person's Emacs for the file of tasks and that of contacts.
type taskEditor struct{ emacs clients.Emacs }

// Unsaved implements [openfile.Editor]. Where no Emacs is connected, nothing is unsaved.
func (e taskEditor) Unsaved(ctx context.Context, path string) (text string, ok bool, err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	has, err := e.emacs.Notes(ctx, tool.Conversation{}, protocol.EmacsNotesParams{File: path})
	switch {
	case errors.Is(err, tool.ErrNoEmacs):
		return "", false, nil
	case err != nil:
		return "", false, err
	case slices.Contains(has.TooLarge, path):
		return "", false, fmt.Errorf("%s has unsaved changes in Emacs and is too large to be changed there: save it", path)
	}
	for _, unsaved := range has.Unsaved {
		if unsaved.File == path {
			return unsaved.Text, true, nil
		}
	}
	return "", false, nil
}

// Edit implements [openfile.Editor].
func (e taskEditor) Edit(ctx context.Context, path, old, new string) error {
	_, err := e.emacs.Edit(ctx, tool.Conversation{Session: protocol.MainSession}, path, old, new)
	return err
}
