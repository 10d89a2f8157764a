package daemon

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"org-agent/kernel/act"
	"org-agent/kernel/clients"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
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
		Acts: d.journal.Acts, Posts: conversations, Known: d.journal.Turns, Asked: d.journal.Search, Channels: d.channels.Find, Send: d.channels.Send,
		Default: func() string { return d.settings.Last().Route }, Inbox: d.inbox(),
	}
}

// openTasks returns the sensor of the person's tasks.
func (d *daemon) openTasks(conversations *lateSessions) *tasks.Sensor {
	return tasks.New(tasks.Config{
		File: tasks.File{
			Path:   d.paths.Tasks,
			Editor: taskEditor{clients.Emacs{Clients: &d.clients, Timeout: d.config.EmacsTimeout, NewID: newID, Change: act.Edit}},
			Changed: func(path string) {
				d.clients.NotifyAll(protocol.MethodFileChanged, protocol.FileChanged{Files: []string{path}})
			},
		},
		Leases: d.journal.Leases, Turns: d.journal.Turns, Now: d.config.Now, Report: d.faults.Report, Deliver: d.outcomes(conversations).Deliver, Tell: d.outcomes(conversations).Tell, Logger: d.log,
		Others: func() []string { return d.home.TaskFiles(d.settings.Last()) },
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

// taskEditor is the person's Emacs for the file of tasks.
type taskEditor struct{ emacs clients.Emacs }

// Unsaved implements [tasks.Editor]. Where no Emacs is connected, nothing is unsaved.
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

// Edit implements [tasks.Editor].
func (e taskEditor) Edit(ctx context.Context, path, old, new string) error {
	_, err := e.emacs.Edit(ctx, tool.Conversation{Session: protocol.MainSession}, path, old, new)
	return err
}
